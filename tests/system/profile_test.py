"""train --profile under the real mpirun."""

import json
import unittest

from harness import SystemTest, read_metrics, run


class Profile(SystemTest):
    def load(self):
        return json.loads((self.folder / "trace.json").read_text(encoding="utf-8"))

    def test_a_trace_of_two_ranks_and_the_same_bits(self):
        self.train(2, "plain")
        result = self.train(2, "profiled", None, "--profile", self.folder / "trace.json", "--profile_steps", "3")
        hashes = [[record.get("weights_hash") for record in read_metrics(self.folder / name)]
                  for name in ("plain", "profiled")]
        self.assertEqual(*hashes)
        self.assertEqual(self.weights("plain"), self.weights("profiled"))

        trace = self.load()
        self.assertEqual(trace["lockstep"]["ranks"], 2)
        self.assertEqual(trace["lockstep"]["steps"], 3)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in spans}, {0, 1})
        for rank in (0, 1):
            steps = [event["name"] for event in spans if event["pid"] == rank and event["cat"] == "step"]
            self.assertEqual(steps, ["step 4", "step 5", "step 6"])
        starts = [event["ts"] for event in spans if event["cat"] == "step" and event["name"] == "step 4"]
        self.assertLess(abs(starts[0] - starts[1]), 5e6, "ranks of one host have one clock")
        for text in ("costliest operations", "conv2d", "GFLOP/s", "phases of a step", "ui.perfetto.dev"):
            self.assertIn(text, result.output)

    def test_a_short_run_says_so(self):
        result = self.train(2, "short", {"max_steps": 4}, "--profile", self.folder / "trace.json")
        self.assertIn("the run ended after 4 steps", result.output)
        self.assertEqual(self.load()["lockstep"]["steps"], 1)

    def test_a_missing_folder_is_found_before_the_run(self):
        self.train(2, "refused", None, "--profile", self.folder / "no" / "trace.json", status=64)

    def test_help_names_it(self):
        self.assertIn("--profile", run("train", 0, ["--help"]).output)


if __name__ == "__main__":
    unittest.main()
