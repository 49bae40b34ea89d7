#!/usr/bin/env python3
"""Writes the golden values that tests compare with: what PyTorch (1.13, CPU) computes.

    /usr/bin/python3 tests/golden/make_golden.py tests/golden

sgd.safetensors     torch.optim.SGD in its variants over a changing learning rate
cnn.safetensors     the "cnn" model in small: first forward, gradients, five steps of SGD, evaluation
cnn_bn.safetensors  the same with batch normalisation
resnet18.safetensors, resnet20.safetensors
                    five steps of SGD in double precision, from weights that a formula gives; of each large
                    tensor a sample (see sampled())
"""
import json
import math
import struct
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional
from torchvision.models import resnet

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


def uniform(count, stream):
    """In [-1, 1): element i is a hash of (i, stream), 24 bits of it, so that C++ can have the same without a file."""
    h = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(0x9E3779B1) + numpy.uint32(stream * 0x85EBCA6B % 2**32)
    for shift, factor in [(16, 0x7FEB352D), (15, 0x846CA68B)]:
        h = (h ^ (h >> numpy.uint32(shift))) * numpy.uint32(factor)
    h ^= h >> numpy.uint32(16)
    return torch.from_numpy((h >> numpy.uint32(8)).astype(numpy.float64) / 2**23 - 1)


def fill_by_formula(model, scale, shift):
    """Weights within sqrt(3 / fan in), scales of batch norms in `scale` +- 1/4 of it, their shifts, and biases, within
    1/4 of it of +`shift` and -`shift` in turn. Numbered as in model.parameters()."""
    scales = {id(module.weight) for module in model.modules() if isinstance(module, nn.BatchNorm2d)}
    for number, parameter in enumerate(model.parameters()):
        values = uniform(parameter.numel(), number)
        if parameter.ndim > 1:
            values *= math.sqrt(3 / parameter[0].numel())
        elif id(parameter) in scales:
            values = scale + scale / 4 * values
        else:
            values = scale / 4 * values + shift * (1 - 2 * (torch.arange(parameter.numel()) % 2))
        parameter.data = values.float().double().view(parameter.shape)


def sampled(tensor):
    """About 64 elements at equal distances, then the largest absolute value of all."""
    flat = tensor.detach().double().flatten()
    return torch.cat([flat[::math.ceil(flat.numel() / 64)], flat.abs().max().view(1)])


class SmallResNet(nn.Module):
    """For CIFAR; torchvision has only the large ones."""

    def __init__(self, blocks):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = self.stage(16, 16, 1, blocks)
        self.layer2 = self.stage(16, 32, 2, blocks)
        self.layer3 = self.stage(32, 64, 2, blocks)
        self.fc = nn.Linear(64, 10)

    @staticmethod
    def stage(channels, width, stride, blocks):
        shortcut = None
        if stride != 1:
            shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        first = resnet.BasicBlock(channels, width, stride, shortcut)
        return nn.Sequential(first, *[resnet.BasicBlock(width, width) for _ in range(blocks - 1)])

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


def resnet_golden(model, size, scale, shift, steps=5, batch=4):
    model = model.double()
    fill_by_formula(model, scale, shift)
    images = uniform(steps * batch * 3 * size * size, 1000).view(steps, batch, 3, size, size)
    labels = torch.arange(steps * batch).view(steps, batch) % 10
    tensors, losses = {}, []
    weights = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 0.01}, {"params": others}], lr=0.01, momentum=0.9)
    for step in range(steps):
        logits = model(images[step])
        loss = functional.cross_entropy(logits, labels[step], reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.detach())
        if step == 0:
            tensors["logits"] = logits
            for name, parameter in model.named_parameters():
                tensors["gradient." + name] = sampled(parameter.grad)
        for parameter in model.parameters():
            parameter.grad /= batch
        optimizer.step()
    tensors["losses"] = torch.stack(losses)
    for name, value in model.state_dict().items():
        tensors["after." + name] = sampled(value)
    tensors["evaluation_logits"] = model.eval()(images[0])
    return tensors


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    save(folder + "/sgd.safetensors", sgd_golden())
    save(folder + "/cnn.safetensors", cnn_golden(batch_norm=False))
    save(folder + "/cnn_bn.safetensors", cnn_golden(batch_norm=True))
    # A shift of four scales keeps ReLUs away from 0, where rounding decides whether a gradient passes; in the larger
    # network that would happen somewhere.
    save(folder + "/resnet18.safetensors", resnet_golden(resnet.resnet18(num_classes=10), size=64, scale=0.25, shift=1))
    save(folder + "/resnet20.safetensors", resnet_golden(SmallResNet(3), size=16, scale=1, shift=0))


if __name__ == "__main__":
    main()
