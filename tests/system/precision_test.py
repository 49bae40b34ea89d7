"""Runs in bfloat16: the same bits on any number of ranks, FP32 weights, and FP32 where bf16 would not be faster."""

import json
import unittest

import harness
import models_test

WITHOUT_BF16 = {"ONEDNN_MAX_CPU_ISA": "AVX2"}


class Precision(harness.SystemTest):
    def configuration(self, name):
        return (self.folder / name / "config.textproto").read_text(encoding="utf-8")

    def computes_in_bf16(self, name):
        """Whether the run did; it says so in its configuration and in its log, or why not."""
        log = (self.folder / name / "train.log").read_text(encoding="utf-8")
        if "precision: BF16" in self.configuration(name):
            self.assertIn("precision: BF16 (weights", log)
            return True
        self.assertIn("precision: FP32", self.configuration(name))
        self.assertIn("precision: BF16 needs", log)
        self.assertIn("computing in FP32", log)
        return False

    def check_same_bits(self, model, settings):
        settings = {**settings, "model.name": model, "precision": "BF16"}
        self.train(0, f"{model}-alone", settings)
        expected = harness.without_times(harness.read_metrics(self.folder / f"{model}-alone"))
        for ranks in (1, 2, 4):
            name = f"{model}-{ranks}"
            self.train(ranks, name, settings)
            self.assertEqual(self.weights(name), self.weights(f"{model}-alone"), f"{ranks} ranks: other weights")
            self.assertEqual(harness.without_times(harness.read_metrics(self.folder / name)), expected)
        self.train(0, f"{model}-fp32", {**settings, "precision": "FP32"})
        differs = self.weights(f"{model}-fp32") != self.weights(f"{model}-alone")
        self.assertEqual(differs, self.computes_in_bf16(f"{model}-alone"))

    def test_the_same_bits_on_one_two_and_four_ranks(self):
        models_test.write_tokens(self.folder / "train.bin", 12 * 16 + 1)
        models_test.write_tokens(self.folder / "val.bin", 6 * 16 + 1)
        for model in ("cnn", "resnet20", "vit_small", "gpt2"):
            with self.subTest(model=model):
                settings = dict(models_test.MODELS[model])
                if model == "gpt2":
                    settings["data.path"] = self.folder
                self.check_same_bits(model, settings)

    def test_stopped_and_resumed_on_other_ranks(self):
        settings = {"precision": "BF16"}
        self.train(0, "unbroken", settings)
        self.train(2, "stops", settings, "--stop_at_step", "3", status=75)
        self.train(1, "stops", settings, "--resume", "latest")
        self.assertEqual(self.weights("stops"), self.weights("unbroken"))

    def test_saved_weights_are_fp32(self):
        self.train(0, "run", {"precision": "BF16", "max_steps": 1})
        data = self.weights("run")
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        types = {entry["dtype"] for name, entry in header.items() if name != "__metadata__"}
        self.assertLessEqual(types, {"F32", "I64"})

    def test_evaluation_gives_the_figures_of_the_run(self):
        self.train(0, "run", {"precision": "BF16"})
        last = [r for r in harness.read_metrics(self.folder / "run") if "eval_accuracy" in r][-1]
        result = harness.run("lockstep", 0, ["eval", self.folder / "run"])
        self.assertEqual(result.status, 0, str(result))
        evaluated = json.loads(result.output.splitlines()[-1])
        for figure in ("eval_loss", "eval_accuracy", "eval_count"):
            self.assertEqual(evaluated[figure], last[figure])

    def test_fp32_where_bf16_is_not_faster(self):
        for name, precision in (("asked", "BF16"), ("fp32", "FP32")):
            result = harness.run("train", 2, harness.train_arguments(self.folder / name, {"precision": precision}),
                                 environment=WITHOUT_BF16)
            self.assertEqual(result.status, 0, str(result))
        self.assertFalse(self.computes_in_bf16("asked"))
        self.assertEqual(self.weights("asked"), self.weights("fp32"))
        evaluated = harness.run("lockstep", 0, ["eval", self.folder / "asked", "--set", "precision=BF16"],
                                environment=WITHOUT_BF16)
        self.assertIn("computing in FP32", evaluated.output)

    def test_fp16_is_refused(self):
        result = self.train(0, "fp16", {"precision": "FP16"}, status=64)
        self.assertIn("precision", result.output)
        self.assertIn("FP16", result.output)


if __name__ == "__main__":
    unittest.main()
