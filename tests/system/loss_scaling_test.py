"""A gradient or weight that is not finite: all ranks skip the step together, or end together with a name."""

import json
import pathlib
import unittest

import harness
from harness import SystemTest

DYNAMIC = {"loss_scaling.mode": "DYNAMIC", "loss_scale": 65536}


def fault(kind, rank, step, parameter="", steps=1):
    return {"fault.kind": kind, "fault.rank": rank, "fault.step": step, "fault.parameter": parameter, "fault.steps": steps}


def tensors(path):
    """The raw values of a .safetensors file, by name."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    return {name: data[8 + length:][slice(*entry["data_offsets"])]
            for name, entry in header.items() if name != "__metadata__"}


class LossScaling(SystemTest):
    def records(self, name):
        return [record for record in harness.read_metrics(self.folder / name) if "loss" in record]

    def check_skipped(self, name, settings, words):
        result = self.train(4, name, {**DYNAMIC, "checkpoint.keep": 9, **settings})
        self.assertIn(words, result.output)
        records = self.records(name)
        self.assertEqual([record["loss_scale"] for record in records], [65536] * 5 + [32768] * 3)
        self.assertEqual([record["skipped_steps"] for record in records], [0] * 4 + [1] * 4)
        # check_replicas compares all ranks at every step; rank 0's own step 5 left no trace.
        self.assertEqual(records[4]["weights_hash"], records[3]["weights_hash"])
        self.assertNotEqual(records[5]["weights_hash"], records[4]["weights_hash"])
        checkpoints = self.folder / name / "checkpoints"
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(tensors(checkpoints / "step-00000005" / file), tensors(checkpoints / "step-00000004" / file))

    def test_one_ranks_gradient_makes_all_skip(self):
        self.check_skipped("inf", fault("INFINITE_GRADIENT", 3, 5, "fc1.bias"),
                           "step 5: non-finite gradient of fc1.bias on rank 3; step skipped, "
                           "loss scale 65536 -> 32768 (1 skip in a row)")
        self.check_skipped("nan", {**fault("NAN_GRADIENT", 3, 5, "conv1.weight"), "comm.bucket_bytes": 1024},
                           "step 5: non-finite gradient of conv1.weight on rank 3; step skipped")

    def test_the_same_bits_on_any_number_of_ranks_stopped_and_resumed(self):
        settings = {**DYNAMIC, **fault("NAN_GRADIENT", 0, 2, steps=2), "loss_scaling.growth_interval": 2}
        self.train(0, "alone", settings)
        expected = harness.without_times(harness.read_metrics(self.folder / "alone"))
        self.train(2, "stops", settings, "--stop_at_step", "2", status=75)
        self.train(3, "stops", settings, "--resume", "latest")
        self.assertEqual(self.weights("stops"), self.weights("alone"))
        self.assertEqual(harness.without_times(harness.read_metrics(self.folder / "stops")), expected)

    def test_skips_do_not_move_the_schedule(self):
        self.train(2, "run", {**DYNAMIC, **fault("INFINITE_GRADIENT", 1, 1, steps=3), "epochs": 0, "max_steps": 10,
                              "optimizer.lr": 1, "optimizer.momentum": 0, "optimizer.nesterov": "false",
                              "schedule.name": "constant", "schedule.warmup_epochs": 2.5})
        rates = [record["lr"] for record in self.records("run")]
        for step, rate in enumerate(rates, 1):
            self.assertAlmostEqual(rate, 0.1 * max(1, step - 3))
        self.assertEqual(self.records("run")[-1]["skipped_steps"], 3)

    def test_a_nan_in_a_weight_ends_the_run_and_spares_the_checkpoints(self):
        result = self.train(2, "run", {**DYNAMIC, **fault("NAN_WEIGHT", 0, 5, "fc1.weight"), "metrics.hash_every": 0, "epochs": 20,
                                       "drop_last": "true", "loss_scaling.floor": 0.5,
                                       "loss_scaling.max_skips_in_a_row": 17}, status=70)
        self.assertIn("at step 21 the loss is", result.output)
        self.assertIn("skips in a row: 17, scale 0.5, its floor 0.5", result.output)
        self.assertIn("the weights themselves are not finite: fc1.weight on rank 0", result.output)
        saved = sorted(path.name for path in (self.folder / "run" / "checkpoints").iterdir())
        self.assertEqual(saved, ["step-00000003", "step-00000004"])
        self.assertGreaterEqual(min(record["loss_scale"] for record in self.records("run")), 0.5)

    def test_without_scaling_a_nan_ends_the_run_with_the_name_and_the_rank(self):
        result = self.train(3, "run", fault("NAN_GRADIENT", 2, 3, "fc2.weight"), status=70)
        self.assertIn("at step 3 the loss is", result.output)
        self.assertIn("gradient is not finite: fc2.weight on rank 2", result.output)


if __name__ == "__main__":
    unittest.main()
