"""`lockstep bench allreduce` on two real ranks, and `train` with the table that it writes."""

import json
import unittest

import harness

FIELDS = {"ranks", "bytes", "count", "dtype", "algorithm", "codec", "iterations", "p50_us", "p99_us", "algbw_gb_s",
          "busbw_gb_s", "wrong"}
RECIPE = """
model { name: "mlp" hidden: [16] batch_norm: false }
data { name: "synthetic" synthetic { train_samples: 64 test_samples: 8 height: 6 width: 6 } }
global_batch: 16 micro_batch: 4 threads: 1 epochs: 0 max_steps: 6
metrics { hash_every: 1 }
"""


class BenchAllreduce(harness.SystemTest):
    def bench(self, ranks, *arguments):
        return harness.run("lockstep", ranks, ["bench", "allreduce", "--seconds", "0.01", "--rounds", 2, "--warmup", 1, *arguments])

    def test_measures_and_verifies_every_algorithm_and_type(self):
        output = self.folder / "allreduce"
        result = self.bench(2, "--min", "1K", "--max", "64K", "--factor", 8, "--dtypes", "f32,bf16", "--codecs", "none,fp16,bf16", "--fast",
                            "--output", output)
        self.assertEqual(result.status, 0, str(result))
        rows = [json.loads(line) for line in (output / "allreduce.jsonl").read_text().splitlines()]
        for row in rows:
            self.assertEqual(set(row), FIELDS)
            self.assertEqual(row["ranks"], 2)
            self.assertEqual(row["wrong"], 0)
            self.assertGreaterEqual(row["iterations"], 10)
            self.assertGreater(row["p50_us"], 0)
            self.assertGreaterEqual(row["p99_us"], row["p50_us"])
            self.assertAlmostEqual(row["algbw_gb_s"], row["bytes"] / row["p50_us"] / 1e3)
            self.assertAlmostEqual(row["busbw_gb_s"], row["algbw_gb_s"])
        self.assertEqual({row["bytes"] for row in rows}, {1024, 8192, 65536})
        self.assertEqual({row["codec"] for row in rows if row["dtype"] == "f32" and row["algorithm"] == "auto"},
                         {"none", "fp16", "bf16"})
        self.assertEqual({row["codec"] for row in rows if row["dtype"] == "bf16" or row["algorithm"][:3] == "mpi"},
                         {"none"})
        own = {"auto", "direct", "halving_doubling", "recursive_doubling", "ring", "torus", "hierarchical"}
        for nbytes in (1024, 8192, 65536):
            named = {dtype: {row["algorithm"] for row in rows if row["bytes"] == nbytes and row["dtype"] == dtype}
                     for dtype in ("f32", "bf16")}
            self.assertTrue(own <= named["f32"], named)
            self.assertTrue({"mpi/default", "mpi/ring", "mpi/recursive_doubling"} <= named["f32"], named)
            self.assertTrue(own <= named["bf16"], named)
            self.assertFalse(any(name.startswith("mpi/") for name in named["bf16"]), "MPI has no bf16")
        for name in ("allreduce.svg", "allreduce.png"):
            self.assertTrue((output / name).exists(), name)
        self.assertIn("busbw [GB/s]", result.output)

    def test_the_tuned_table_is_used_by_train_and_changes_no_bit(self):
        table = self.folder / "tuned.textproto"
        result = self.bench(2, "--min", "256", "--max", "64K", "--no-mpi", "--tune", table)
        self.assertEqual(result.status, 0, str(result))
        self.assertIn("ranks: 2", table.read_text())
        recipe = self.folder / "tiny.textproto"
        recipe.write_text(RECIPE)
        runs = {"tuned": ["--set", f"comm.tuning={table}"], "direct": ["--set", "comm.algorithm=direct"]}
        metrics = {}
        for name, settings in runs.items():
            result = harness.run("train", 2, [recipe, *settings, "--output", self.folder / name])
            self.assertEqual(result.status, 0, str(result))
            metrics[name] = [line["weights_hash"] for line in harness.read_metrics(self.folder / name)
                             if "weights_hash" in line]
        self.assertEqual(len(metrics["tuned"]), 6)
        self.assertEqual(metrics["tuned"], metrics["direct"])
        chosen = table.read_text().split('algorithm: "')[1].split('"')[0]
        self.assertIn(f'algorithm: "{chosen}"', (self.folder / "tuned" / "config.textproto").read_text())

    def test_without_mpirun_it_starts_it(self):
        result = self.bench(0, "--ranks", 3, "--min", "64", "--max", "64", "--no-mpi", "--algorithms", "auto")
        self.assertEqual(result.status, 0, str(result))
        self.assertIn("all-reduce of 3 ranks", result.output)

    def test_algorithms_that_are_not_reproducible_are_refused_by_name(self):
        result = self.bench(2, "--algorithms", "direct:0-8K;ring:8K-")
        self.assertEqual(result.status, 64, str(result))
        self.assertIn('"ring" sums in an order that depends on the number of ranks', result.output)


if __name__ == "__main__":
    unittest.main()
