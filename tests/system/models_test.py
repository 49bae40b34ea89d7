"""Every model of the table trains, the same bits on one and on two ranks, with inputs as small as it takes them."""

import random
import struct
import subprocess
import unittest

import harness

IMAGES = {
    "data.name": "synthetic", "data.classes": 4, "data.synthetic.train_samples": 12, "data.synthetic.test_samples": 6,
    "data.augment.flip": "true", "model.batch_norm": "true", "model.hidden": "", "model.dropout": 0,
    "global_batch": 8, "micro_batch": 4, "epochs": 1, "checkpoint.every_steps": 0,
}


def images(channels, size, **settings):
    return {**IMAGES, "data.augment.crop_padding": 1, "data.synthetic.channels": channels,
            "data.synthetic.height": size, "data.synthetic.width": size, **settings}


MODELS = {
    "linear": images(1, 8, **{"model.batch_norm": "false"}),
    "mlp": images(1, 8, **{"model.batch_norm": "false", "model.hidden": "16"}),
    "cnn": images(1, 8),
    "alexnet": images(3, 63, **{"model.dropout": 0.5, "optimizer.lr": 0.01}),
    "resnet20": images(3, 16, **{"model.zero_gamma": "true"}),
    "resnet56": images(3, 16),
    "resnet18": images(3, 32),
    "resnet34": images(3, 32),
    "resnet50": images(3, 32, **{"optimizer.name": "lars", "model.zero_gamma": "true"}),
    "resnet101": images(3, 32),
    "vit_small": images(3, 16, **{"model.layers": 2, "model.heads": 2, "model.width": 32, "model.patch": 8,
                                  "optimizer.name": "lion", "optimizer.lr": 0.001}),
    "gpt2": {**IMAGES, "data.name": "tokens", "data.classes": 40, "data.sequence_length": 16, "model.layers": 2,
             "model.heads": 2, "model.width": 32, "optimizer.name": "adamw", "optimizer.lr": 0.003,
             "data.augment.flip": "false", "data.augment.crop_padding": 0, "evaluation.metrics": "accuracy,top5_accuracy"},
}


def write_tokens(path, count):
    """In llm.c's layout: a header of 256 numbers, then 16-bit tokens."""
    draw = random.Random(count)
    tokens = [draw.randrange(40) for _ in range(count)]
    header = [20240520, 1, count] + [0] * 253
    path.write_bytes(struct.pack("<256i", *header) + struct.pack(f"<{count}H", *tokens))


class Models(harness.SystemTest):
    def test_the_table_is_covered(self):
        listed = subprocess.run([harness.BIN / "train", "--list"], text=True, check=True, capture_output=True).stdout
        names = next(line for line in listed.splitlines() if line.startswith("models:")).split()[1:]
        self.assertEqual(set(names), set(MODELS))

    def train_on(self, model, ranks, settings):
        name = f"{model}-{ranks}"
        self.train(ranks, name, {**settings, "model.name": model})
        return self.weights(name), harness.without_times(harness.read_metrics(self.folder / name))

    def test_each_trains_with_the_same_bits_on_two_ranks(self):
        write_tokens(self.folder / "train.bin", 12 * 16 + 1)
        write_tokens(self.folder / "val.bin", 6 * 16 + 1)
        for model, settings in MODELS.items():
            with self.subTest(model=model):
                if model == "gpt2":
                    settings = {**settings, "data.path": self.folder}
                weights, metrics = self.train_on(model, 1, settings)
                self.assertEqual(len([line for line in metrics if "loss" in line]), 2)
                other_weights, other_metrics = self.train_on(model, 2, settings)
                self.assertEqual(metrics, other_metrics)
                self.assertEqual(weights, other_weights)


if __name__ == "__main__":
    unittest.main()
