"""Weights go to PyTorch and come from there: files load with strict checking, and the logits are the same."""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import torch
    import torchvision
except ImportError as error:
    sys.exit(f"interop: {error}\nThis test reads and writes files with PyTorch, on Debian: apt-get install "
             "python3-torch python3-torchvision (scripts/setup interop); it ran " + sys.executable)

import safetensors

sys.path.append(str(pathlib.Path(__file__).parents[1] / "golden"))
import gpt2_model

BIN = pathlib.Path(os.environ["LOCKSTEP_BIN"])  # set by ctest: where the programs were built

# A model of ours and the same of theirs: `settings` configure ours, `make` makes theirs, and both see `input`.
Row = collections.namedtuple("Row", "name make input settings")


def images(size, count=2):
    return torch.randn(count, 3, size, size)


CLASSES = 10
ROWS = [
    Row("resnet18", lambda: torchvision.models.resnet18(num_classes=CLASSES), images(64), ["model.name=resnet18"]),
    Row("resnet50", lambda: torchvision.models.resnet50(num_classes=CLASSES), images(64), ["model.name=resnet50"]),
    Row("alexnet", lambda: torchvision.models.alexnet(num_classes=CLASSES), images(64, count=3),
        ["model.name=alexnet", "model.batch_norm=false"]),
    Row("vit_small", lambda: torchvision.models.VisionTransformer(
        image_size=64, patch_size=16, num_layers=12, num_heads=6, hidden_dim=384, mlp_dim=1536, num_classes=CLASSES),
        images(64), ["model.name=vit_small"]),
    Row("gpt2", lambda: gpt2_model.Gpt2(vocabulary=CLASSES, length=8, layers=2, heads=2, width=32),
        torch.randint(0, CLASSES, (2, 8)),
        ["model.name=gpt2", "model.layers=2", "model.heads=2", "model.width=32"]),
]


def interop_model(action, folder, row):
    """Runs our side, which leaves its logits in the folder."""
    safetensors.save(folder / "input.safetensors", {"input": row.input.numpy()})
    settings = [*row.settings, f"data.classes={CLASSES}"]
    done = subprocess.run([BIN / "interop_model", action, folder, *settings], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"interop_model {action} {row.name}: status {done.returncode}\n{done.stderr}")
    return safetensors.load(folder / "logits.safetensors")["logits"]


def logits_of(model, row):
    with torch.no_grad():
        return model.eval()(row.input).numpy()


class InteropTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        temporary = tempfile.TemporaryDirectory(prefix="lockstep-interop-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def expect_same(self, ours, theirs):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        self.assertGreater(numpy.abs(theirs - theirs.mean()).max(), 1e-3, "the logits tell nothing")

    def test_pytorch_loads_our_files(self):
        for row in ROWS:
            with self.subTest(row.name):
                ours = interop_model("write", self.folder, row)
                model = row.make()
                state = safetensors.load(self.folder / "model.safetensors")
                model.load_state_dict({name: torch.tensor(value) for name, value in state.items()}, strict=True)
                self.expect_same(ours, logits_of(model, row))

    def test_we_load_files_of_pytorch(self):
        for row in ROWS:
            with self.subTest(row.name):
                model = row.make()
                with torch.no_grad():
                    for parameter in model.parameters():
                        if parameter.ndim == 1 or not parameter.any():  # else all alike, or without effect
                            parameter += 0.1 * torch.randn_like(parameter)
                    model.train()(row.input)  # else running statistics are all alike
                state = {name: value.numpy() for name, value in model.state_dict().items()}
                safetensors.save(self.folder / "model.safetensors", state)
                self.expect_same(interop_model("read", self.folder, row), logits_of(model, row))

    def test_pytorch_loads_what_a_training_run_leaves(self):
        settings = ["model.name=resnet18", "model.dropout=0", f"data.classes={CLASSES}",
                    "data.name=synthetic", "data.synthetic.height=32", "data.synthetic.width=32",
                    "data.synthetic.channels=3", "data.synthetic.train_samples=16", "data.synthetic.test_samples=4",
                    "global_batch=8", "micro_batch=4", "max_steps=2"]
        run = self.folder / "run"
        words = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([BIN / "train", "--output", run, *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        state = {name: torch.tensor(value) for name, value in safetensors.load(run / "model.safetensors").items()}
        model = torchvision.models.resnet18(num_classes=CLASSES)
        model.load_state_dict(state, strict=True)
        self.assertEqual(model.bn1.num_batches_tracked.item(), 4)  # two steps of two micro-batches


if __name__ == "__main__":
    unittest.main(verbosity=2)
