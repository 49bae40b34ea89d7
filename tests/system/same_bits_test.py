"""The same bits on any number of ranks."""

import unittest

from harness import SystemTest, read_metrics, run, without_times


class SameBits(SystemTest):
    def check(self, settings, ranks):
        self.train(0, "alone", settings)
        expected = without_times(read_metrics(self.folder / "alone"))
        self.assertTrue(any("weights_hash" in record for record in expected))
        self.assertTrue(any("eval_accuracy" in record for record in expected))
        for count in ranks:
            name = f"np{count}"
            self.train(count, name, settings)
            self.assertEqual(self.weights(name), self.weights("alone"), f"{count} ranks: other weights")
            self.assertEqual(without_times(read_metrics(self.folder / name)), expected, f"{count} ranks")

    def test_one_two_three_four_and_eight_ranks(self):
        self.check({}, [1, 2, 3, 4, 8])

    def test_with_accumulation_within_a_slot(self):
        # 40 samples in micro-batches of 2 are 20 for 8 slots: two or three in each.
        self.check({"micro_batch": 2, "virtual_ranks": 8, "epochs": 1}, [1, 2, 3, 4, 8])

    def test_with_more_ranks_than_micro_batches(self):
        self.check({"micro_batch": 20, "epochs": 1}, [3, 4, 8])

    def test_whatever_the_loader_the_buckets_and_the_algorithm(self):
        self.train(2, "plain")
        variants = {
            "loader": {"data.loader_threads": 3, "data.prefetch": 7},
            "inline": {"data.loader_threads": 0},
            "buckets": {"comm.bucket_bytes": 2048},
            "direct": {"comm.algorithm": "direct"},
            "checked": {"comm.debug_checks": "true"},
            "thread": {"comm.progress": "THREAD"},
            "afterwards": {"comm.overlap": "false", "comm.bucket_bytes": 2048},
            "quiet": {"metrics.every": 100, "metrics.hash_every": 0},
        }
        for name, settings in variants.items():
            self.train(2, name, settings)
            self.assertEqual(self.weights(name), self.weights("plain"), name)

    def test_with_gradients_compressed(self):
        # Buckets of several blocks, and of parts of blocks.
        settings = {"model.hidden": "16,16,32", "comm.bucket_bytes": 20000}
        self.train(0, "none", settings)
        weights = [self.weights("none")]
        for codec in ("FP16", "BF16"):
            for ranks in (0, 2, 3, 4):
                name = f"{codec}-{ranks}"
                result = self.train(ranks, name, {**settings, "comm.codec": codec})
                self.assertIn(f"codec: {codec}", result.output)
                self.assertEqual(self.weights(name), self.weights(f"{codec}-0"), f"{codec}, {ranks} ranks")
            weights.append(self.weights(f"{codec}-0"))
        self.assertEqual(len(set(weights)), 3, "a codec changes the bits")

    def test_another_seed_gives_other_bits(self):
        self.train(0, "one")
        self.train(0, "two", {"seed": 2})
        self.assertNotEqual(self.weights("one"), self.weights("two"))

    def test_ring_runs_when_asked_for_speed_and_is_refused_otherwise(self):
        self.train(3, "fast", {"numerics": "FAST", "comm.algorithm": "ring"})
        result = self.train(3, "refused", {"comm.algorithm": "ring"}, status=64)
        self.assertIn("ring", result.output)
        self.assertIn("halving_doubling", result.output)


class Evaluation(SystemTest):
    def test_every_sample_counts_once_on_any_number_of_ranks(self):
        for samples in (3, 10, 21):
            results = set()
            for ranks in (1, 2, 3, 4):
                name = f"eval-{samples}-{ranks}"
                self.train(ranks, name, {"data.synthetic.test_samples": samples, "evaluation.batch": 3, "max_steps": 1})
                records = [r for r in read_metrics(self.folder / name) if "eval_count" in r]
                self.assertEqual(records[-1]["eval_count"], samples)
                results.add((records[-1]["eval_loss"], records[-1]["eval_accuracy"]))
            self.assertEqual(len(results), 1, results)


class Compare(SystemTest):
    def test_names_the_first_step_and_tensor(self):
        self.train(0, "one")
        self.train(2, "two")
        same = run("lockstep", 0, ["compare", self.folder / "one", self.folder / "two"])
        self.assertEqual(same.status, 0, str(same))
        self.train(0, "other", {"optimizer.rules": '{pattern: "fc2.bias" lr_factor: 2}'})
        differ = run("lockstep", 0, ["compare", self.folder / "one", self.folder / "other"])
        self.assertNotEqual(differ.status, 0)
        self.assertIn("fc2.bias", differ.output)
        self.assertIn("step 1", differ.output)


if __name__ == "__main__":
    unittest.main()
