"""`lockstep bench scaling`, with real runs."""

import json
import os
import signal
import unittest

import harness

PHASES = ("data_seconds", "forward_seconds", "backward_seconds", "communication_seconds", "optimizer_seconds",
          "other_seconds")
RECIPE = """
model { name: "mlp" hidden: [16] batch_norm: false }
data { name: "synthetic" synthetic { train_samples: 200 test_samples: 8 height: 6 width: 6 } }
global_batch: 16 micro_batch: 4 threads: 1
"""


class Scaling(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.recipe = self.folder / "tiny.textproto"
        self.recipe.write_text(RECIPE)
        self.output = self.folder / "scaling"
        self.arguments = ["bench", "scaling", self.recipe, "--output", self.output]

    def bench(self, *arguments):
        return harness.run("lockstep", 0, [*self.arguments, *arguments])

    def test_measures_every_case_in_turn(self):
        result = self.bench("--ranks", "1,2", "--steps", 30, "--warmup", 3, "--repeats", 2, "--markdown")
        self.assertEqual(result.status, 0, str(result))
        lines = [json.loads(line) for line in (self.output / "scaling.jsonl").read_text().splitlines()]
        # One rank's run is the same in weak and in strong scaling, and done once.
        cases = [(1, 16), (2, 16), (2, 32)]
        self.assertEqual([(line["ranks"], line["global_batch"]) for line in lines], cases + cases)
        self.assertEqual([line["repeat"] for line in lines], [1] * 3 + [2] * 3)
        for line in lines:
            self.assertGreater(line["samples_per_second"], 0)
            self.assertGreater(line["peak_memory_bytes"], 1 << 20)
            self.assertAlmostEqual(sum(line[phase] for phase in PHASES), line["step_seconds"], places=9)
            self.assertAlmostEqual(line["global_batch"] / line["step_seconds"] / line["samples_per_second"], 1, places=9)
        for words in ("Made by", "lockstep bench scaling", "Weak scaling", "Strong scaling", "efficiency", "100.0 %"):
            self.assertIn(words, result.output)
        for name in ("scaling.svg", "scaling.png", "scaling.gnuplot", "ranks2-batch32-repeat1/metrics.jsonl",
                     "ranks2-batch32-repeat1.log", "ranks2-batch32-repeat1.textproto"):
            self.assertTrue((self.output / name).exists(), name)
        self.assertFalse((self.output / "ranks2-batch32-repeat1" / "checkpoints").exists())
        steps = [line for line in harness.read_metrics(self.output / "ranks2-batch32-repeat1") if "loss" in line]
        self.assertEqual(len(steps), 33)

    def test_a_failing_run_is_heard(self):
        result = self.bench("--set", "data.name=idx", "--set", f"data.path={self.folder}/nothing", "--ranks", "2")
        self.assertEqual(result.status, 70, str(result))
        self.assertIn(f"{self.folder}/nothing", result.output)
        self.assertIn("training on 2 ranks failed, status 65", result.output)
        self.assertIn("ranks2-batch16-repeat1.log", result.output)

    def test_a_run_that_hangs_is_ended(self):
        result = self.bench("--set", "fault.kind=STOP", "--set", "fault.step=2", "--deadline", 5)
        self.assertEqual(result.status, 70, str(result))
        self.assertIn("did not end within 5000 ms", result.output)

    def test_interrupted_it_ends_its_runs(self):
        process = harness.start("lockstep", 0, [*self.arguments, "--steps", 100000000])
        metrics = self.output / "ranks1-batch16-repeat1" / "metrics.jsonl"
        self.wait_for(metrics.exists, "the first run")
        mpirun = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent_of(pid) == process.pid]
        self.assertEqual(len(mpirun), 1)
        ranks = harness.ranks_of(mpirun[0])
        self.assertEqual(len(ranks), 1)
        process.send_signal(signal.SIGINT)
        result = harness.finish(process, 30)
        self.assertEqual(result.status, 70, str(result))
        self.assertIn("stopped", result.output)
        self.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in mpirun + ranks), "the end of its run")

    def test_without_mpirun_it_says_so(self):
        result = harness.finish(harness.start("lockstep", 0, self.arguments, {"PATH": "/nonexistent"}), 30)
        self.assertEqual(result.status, 64, str(result))
        self.assertIn("mpirun was not found in PATH", result.output)

    def test_under_mpirun_it_refuses(self):
        result = harness.run("lockstep", 2, self.arguments)
        self.assertEqual(result.status, 64, str(result))
        self.assertIn("starts mpirun itself", result.output)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    unittest.main()
