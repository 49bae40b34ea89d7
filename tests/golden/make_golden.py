#!/usr/bin/env python3
"""Writes the golden values that tests compare with: what PyTorch (1.13, CPU) computes.

    /usr/bin/python3 tests/golden/make_golden.py tests/golden

sgd.safetensors     torch.optim.SGD in its variants over a changing learning rate
cnn.safetensors     the "cnn" model in small: first forward, gradients, five steps of SGD, evaluation
cnn_bn.safetensors  the same with batch normalisation
"""
import json
import struct
import sys

import torch
from torch import nn
from torch.nn import functional

DTYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}


def save(path, tensors):
    header, blob = {}, b""
    for name, tensor in tensors.items():
        data = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + blob)


def sgd_golden():
    steps, shape = 12, (7, 5)
    lrs = torch.rand(steps, dtype=torch.float64) * 0.3
    start, gradients = torch.randn(shape), torch.randn(steps, *shape)
    tensors = {"lrs": lrs, "start": start, "gradients": gradients}
    for momentum, nesterov, decay in [(0, 0, 0), (0, 0, 0.01), (0.9, 0, 0), (0.9, 0, 0.01), (0.9, 1, 0), (0.8, 1, 0.01)]:
        weight = nn.Parameter(start.clone())
        optimizer = torch.optim.SGD([weight], lr=1, momentum=momentum, nesterov=bool(nesterov), weight_decay=decay)
        trajectory = []
        for lr, gradient in zip(lrs, gradients):
            optimizer.param_groups[0]["lr"] = lr.item()
            weight.grad = gradient.clone()
            optimizer.step()
            trajectory.append(weight.detach().clone())
        name = f"momentum {momentum} nesterov {nesterov} decay {decay}"
        tensors[name] = torch.stack(trajectory)
        tensors[name + " options"] = torch.tensor([momentum, nesterov, decay], dtype=torch.float64)
    return tensors


class Cnn(nn.Module):
    """The "cnn" model with hidden sizes (4, 6, 16) on 12 x 12 images."""

    def __init__(self, batch_norm):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1, bias=not batch_norm)
        self.bn1 = nn.BatchNorm2d(4) if batch_norm else nn.Identity()
        self.conv2 = nn.Conv2d(4, 6, 3, padding=1, bias=not batch_norm)
        self.bn2 = nn.BatchNorm2d(6) if batch_norm else nn.Identity()
        self.fc1 = nn.Linear(6 * 3 * 3, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 2)
        x = functional.max_pool2d(functional.relu(self.bn2(self.conv2(x))), 2)
        return self.fc2(functional.relu(self.fc1(x.flatten(1))))


def cnn_golden(batch_norm, steps=5, batch=6):
    model = Cnn(batch_norm)
    images, labels = torch.randn(steps, batch, 1, 12, 12), torch.randint(0, 10, (steps, batch))
    tensors = {"images": images, "labels": labels}
    for name, value in model.state_dict().items():
        tensors["before." + name] = value.clone()
    weights = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 0.01}, {"params": others}], lr=0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        logits = model(images[step])
        loss = functional.cross_entropy(logits, labels[step], reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.detach())
        if step == 0:
            tensors["logits"] = logits
            for name, parameter in model.named_parameters():
                tensors["gradient." + name] = parameter.grad.clone()
        for parameter in model.parameters():
            parameter.grad /= batch
        optimizer.step()
    tensors["losses"] = torch.stack(losses)
    for name, value in model.state_dict().items():
        tensors["after." + name] = value.clone()
    tensors["evaluation_logits"] = model.eval()(images[0])
    return tensors


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    save(folder + "/sgd.safetensors", sgd_golden())
    save(folder + "/cnn.safetensors", cnn_golden(batch_norm=False))
    save(folder + "/cnn_bn.safetensors", cnn_golden(batch_norm=True))


if __name__ == "__main__":
    main()
