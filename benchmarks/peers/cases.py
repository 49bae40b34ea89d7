"""What is compared: a model, its input and its optimizer, for both programs; and lockstep's configuration of it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    model: str       # a name of lockstep's; torch_models.py has the same one
    batch: int       # samples per rank and step
    input: tuple     # [channels, height, width] of an image, or [length] of tokens
    classes: int
    optimizer: str = "sgd"
    settings: dict = field(default_factory=dict)  # lockstep's fields beside those that follow from the rest
    scan_steps: int = 3  # enough to tell configurations apart
    peer: str = ""  # its name in torch_models.py, where that is another

    @property
    def is_image(self):
        return len(self.input) == 3

    @property
    def is_convolutional(self):
        return self.is_image and self.model != "mlp"

    @property
    def items(self):
        """What is counted, and how many of them a sample has."""
        return ("images", 1) if self.is_image else ("tokens", self.input[0])

    @property
    def text(self):
        size = " x ".join(map(str, self.input)) + ("" if self.is_image else " tokens")
        return f"{self.model}, {self.batch} x {size}"


CASES = [
    Case("resnet18", 32, (3, 224, 224), 1000),
    Case("resnet50", 16, (3, 224, 224), 1000),
    Case("resnet20", 128, (3, 32, 32), 10, scan_steps=10),
    Case("cnn", 64, (1, 28, 28), 10, scan_steps=50),
    Case("mlp", 256, (1, 28, 28), 10, settings={"model.hidden": "1024,1024", "model.batch_norm": "false"},
         scan_steps=50),
    Case("gpt2", 2, (256,), 50257, optimizer="adamw"),
]

LEARNING_RATES = {"sgd": 0.01, "adamw": 1e-4}


def slots(ranks):
    """The least power of two that is no less: a slot of the summation tree for each rank."""
    return 1 << (ranks - 1).bit_length()


def data_settings(case, ranks, steps):
    """One epoch has all the steps. Evaluation, which follows the last one, sees a sample."""
    if not case.is_image:
        return {"data.name": "tokens", "data.sequence_length": case.input[0], "data.test_limit": 1}
    channels, height, width = case.input
    return {
        "data.name": "synthetic",
        "data.classes": case.classes,
        "data.synthetic.train_samples": steps * ranks * case.batch,
        "data.synthetic.test_samples": 1,
        "data.synthetic.channels": channels,
        "data.synthetic.height": height,
        "data.synthetic.width": width,
    }


def lockstep_settings(case, precision, ranks, threads, steps):
    """The whole configuration: a micro-batch is what a rank takes at once, as in PyTorch."""
    return {
        "model.name": case.model,
        **case.settings,
        **data_settings(case, ranks, steps),
        "global_batch": ranks * case.batch,
        "micro_batch": case.batch,
        "virtual_ranks": slots(ranks),
        "threads": threads,
        "precision": precision.upper(),
        "optimizer.name": case.optimizer,
        "optimizer.lr": LEARNING_RATES[case.optimizer],
        "max_steps": steps,
        "metrics.every": 1,
        "metrics.tensorboard": "false",
        "metrics.curves": "false",
        "checkpoint.every_epochs": 0,
        "evaluation.every_epochs": 0,
    }
