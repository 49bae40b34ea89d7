"""What a user types, and what is answered when it is wrong."""

import gzip
import json
import signal
import struct
import time
import unittest

from harness import SystemTest, finish, read_metrics, run, start, train_arguments


class Answers(SystemTest):
    def test_help_shows_examples(self):
        for program in ("train", "lockstep"):
            result = run(program, 0, ["--help"])
            self.assertEqual(result.status, 0)
            self.assertIn("Examples", result.output)

    def test_list_names_everything(self):
        result = run("train", 0, ["--list"])
        self.assertEqual(result.status, 0)
        for name in ("fashion_mnist", "cnn", "mlp", "sgd", "cosine", "synthetic", "halving_doubling"):
            self.assertIn(name, result.output)

    def test_print_config_can_be_read_again(self):
        first = run("train", 0, ["fashion_mnist", "--set", "optimizer.lr=0.07", "--print_config"])
        self.assertEqual(first.status, 0, str(first))
        self.assertIn("lr: 0.07", first.output)
        file = self.folder / "printed.textproto"
        file.write_text(first.output)
        second = run("train", 0, [file, "--print_config"])
        self.assertEqual(second.output, first.output)

    def test_every_mistake_is_reported_at_once(self):
        for ranks in (0, 3):
            result = run("train", ranks, train_arguments(
                self.folder / "bad", {"global_batch": 0, "model.name": "resnet9000", "optimizer.momentum": 2}))
            self.assertEqual(result.status, 64, str(result))
            for word in ("global_batch", "resnet9000", "mlp", "optimizer.momentum"):
                self.assertIn(word, result.output)
            self.assertEqual(result.output.count("resnet9000"), 1, "one rank is enough to say it:\n" + str(result))
        self.assertFalse((self.folder / "bad").exists())

    def test_print_config_is_printed_once(self):
        result = run("train", 3, ["fashion_mnist", "--print_config"])
        self.assertEqual(result.status, 0, str(result))
        self.assertEqual(result.output.count("global_batch"), 1, str(result))

    def test_unknown_field_recipe_and_option(self):
        result = run("train", 0, ["--set", "optimizer.lrr=1"])
        self.assertEqual(result.status, 64)
        self.assertIn("optimizer.lr", result.output)
        result = run("train", 0, ["fashion_mist"])
        self.assertEqual(result.status, 64)
        self.assertIn("fashion_mnist", result.output)
        result = run("train", 0, ["--no_such_option"])
        self.assertEqual(result.status, 64)

    def test_more_ranks_than_slots(self):
        result = run("train", 3, train_arguments(self.folder / "x", {"virtual_ranks": 2}))
        self.assertEqual(result.status, 64, str(result))
        self.assertIn("virtual_ranks", result.output)

    def test_a_disagreeing_environment(self):
        result = run("train", 2, train_arguments(self.folder / "x"), environment={"RANK": "0", "WORLD_SIZE": "4"})
        self.assertEqual(result.status, 64, str(result))
        self.assertIn("WORLD_SIZE=4", result.output)

    def test_resume_without_a_checkpoint(self):
        result = run("train", 2, train_arguments(self.folder / "x") + ["--resume", self.folder / "nowhere"])
        self.assertNotEqual(result.status, 0)
        self.assertIn("nowhere", result.output)


class RunDirectory(SystemTest):
    def test_holds_what_the_readme_says(self):
        result = self.train(2, "run")
        folder = self.folder / "run"
        for name in ("config.textproto", "metrics.jsonl", "model.safetensors", "checkpoints", "train.log"):
            self.assertTrue((folder / name).exists(), name)
            if name != "config.textproto" and name != "train.log":
                self.assertIn(str(folder / name), result.output)
        first = read_metrics(folder)[0]
        for field in ("step", "epoch", "samples", "loss", "lr", "samples_per_second", "wall_time", "weights_hash"):
            self.assertIn(field, first)

    def test_the_weights_are_laid_out_as_safetensors(self):
        """Read by the format's definition: header length, JSON header, row-major little-endian data without gaps."""
        self.train(2, "run")
        content = self.weights("run")
        length = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__")
        data = content[8 + length :]
        self.assertEqual(sum(end - begin for begin, end in (t["data_offsets"] for t in header.values())), len(data))
        self.assertEqual(header["conv1.weight"]["shape"], [8, 1, 3, 3])
        self.assertEqual(header["fc2.bias"]["dtype"], "F32")
        self.assertEqual(header["bn1.num_batches_tracked"]["dtype"], "I64")
        begin, end = header["bn1.num_batches_tracked"]["data_offsets"]
        # Per epoch 3 steps of 5 micro-batches and one of 4: 38 in two epochs.
        self.assertEqual(struct.unpack("<q", data[begin:end])[0], 38)
        begin, end = header["bn1.running_var"]["data_offsets"]
        for value in struct.unpack("<8f", data[begin:end]):
            self.assertGreater(value, 0)

    def test_an_unwritable_directory(self):
        file = self.folder / "file"
        file.write_text("")
        result = run("train", 2, train_arguments(file / "below"))
        self.assertNotEqual(result.status, 0)
        self.assertIn(str(file), result.output)

    def test_two_runs_cannot_share_it(self):
        first = start("train", 2, train_arguments(self.folder / "run", {"epochs": 100000}))
        self.wait_for((self.folder / "run" / "metrics.jsonl").exists, "the first run")
        second = run("train", 2, train_arguments(self.folder / "run") + ["--resume", "latest"])
        self.assertEqual(second.status, 64, str(second))
        self.assertIn("in use by another run", second.output)
        first.send_signal(signal.SIGUSR2)
        self.assertEqual(finish(first, 30).status, 75)
        third = run("train", 2, ["--output", self.folder / "run", "--resume", "latest", "--set", "epochs=1"])
        self.assertEqual(third.status, 0, str(third))

    def test_the_log_tells_what_the_run_is(self):
        self.train(2, "run", {"optimizer.lr": 0.1, "schedule.scaling": "LINEAR", "schedule.base_batch": 20})
        log = (self.folder / "run" / "train.log").read_text()
        self.assertIn("2 ranks x 1 thread", log)
        self.assertIn("batch: 40 samples in all; per rank 16 to 24", log)
        self.assertIn("learning rate: 0.2 = base 0.1 x global_batch 40 / base_batch 20", log)

    def test_the_config_trains_again_to_the_same_bits(self):
        self.train(0, "first")
        result = run("train", 2, [self.folder / "first" / "config.textproto", "--output", self.folder / "second"])
        self.assertEqual(result.status, 0, str(result))
        self.assertEqual(self.weights("first"), self.weights("second"))


def idx(magic, extents, data):
    return struct.pack(">I", magic) + b"".join(struct.pack(">I", n) for n in extents) + bytes(data)


class BadData(SystemTest):
    def write_data(self, labels=None, cut=None):
        folder = self.folder / "data"
        folder.mkdir()
        labels = labels or [i % 10 for i in range(40)]
        for split in ("train", "t10k"):
            images = gzip.compress(idx(0x803, [40, 8, 8], [i % 251 for i in range(40 * 64)]))
            if split == "train" and cut:
                images = images[: len(images) // 2]
            (folder / f"{split}-images-idx3-ubyte.gz").write_bytes(images)
            (folder / f"{split}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(0x801, [40], labels)))
        return {"data.name": "idx", "data.path": folder, "max_steps": 3}

    def test_good_files_train(self):
        self.train(2, "good", self.write_data())

    def test_a_label_out_of_range_is_named_on_all_ranks(self):
        labels = [i % 10 for i in range(40)]
        labels[17] = 10
        result = self.train(3, "bad", self.write_data(labels), status=65)
        self.assertIn("17", result.output)
        self.assertIn("train-labels-idx1-ubyte.gz", result.output)

    def test_a_cut_file_is_named(self):
        result = self.train(3, "bad", self.write_data(cut=True), status=65)
        self.assertIn("train-images-idx3-ubyte.gz", result.output)

    def test_missing_data_says_where_it_was_sought(self):
        result = self.train(2, "bad", {"data.name": "idx", "data.path": self.folder / "nothing"}, status=65)
        self.assertIn(str(self.folder / "nothing"), result.output)


class StartUp(SystemTest):
    def test_the_first_step_of_the_default_recipe_comes_quickly(self):
        # The figure itself is benchmarks/startup's; here only that nothing takes seconds.
        begin = time.monotonic()
        self.train(0, "quick", {"max_steps": 1})
        self.assertLess(time.monotonic() - begin, 5)


class Loss(SystemTest):
    def test_a_loss_that_is_not_finite_ends_the_run_with_names(self):
        result = self.train(2, "diverged", {"optimizer.lr": 1e30, "schedule.name": "constant", "schedule.warmup_epochs": 0},
                            status=70)
        self.assertRegex(result.output, r"step \d+.*loss|loss.*step \d+")

    def test_the_log_shows_the_global_mean(self):
        self.train(3, "run", {"max_steps": 1})
        self.train(0, "alone", {"max_steps": 1})
        self.assertEqual(read_metrics(self.folder / "run")[0]["loss"], read_metrics(self.folder / "alone")[0]["loss"])


if __name__ == "__main__":
    unittest.main()
