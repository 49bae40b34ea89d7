#!/usr/bin/env python3
"""Writes the golden values of transformers: what PyTorch and torchvision (1.13 and 0.14, CPU) compute.

    /usr/bin/python3 tests/golden/make_transformer_golden.py tests/golden

gpt2.safetensors  a small GPT-2 under Hugging Face's names: first forward, gradients, five steps of SGD
vit.safetensors   torchvision's VisionTransformer in small: forward and gradients
"""
import sys

import torch
from gpt2_model import Gpt2
from make_golden import save
from torch import nn
from torch.nn import functional
from torchvision.models import VisionTransformer


def randomize_norms(model):
    """Layer norms of ones and zeros would hide mistakes."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, 1, 0.1)
            nn.init.normal_(module.bias, 0, 0.1)


def gpt2_golden(steps=5, batch=4, length=16, vocabulary=65):
    model = Gpt2(vocabulary, length, layers=2, heads=2, width=32)
    for table in (model.wte, model.wpe):
        nn.init.normal_(table.weight, 0, 0.2)
    randomize_norms(model)
    tokens = torch.randint(0, vocabulary, (steps, batch, length + 1))
    tensors = {"tokens": tokens}
    for name, value in model.state_dict().items():
        tensors["before." + name] = value.clone()
    weights = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 0.01}, {"params": others}], lr=0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        logits = model(tokens[step, :, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[step, :, 1:].flatten(), reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.detach())
        if step == 0:
            tensors["logits"] = logits
            for name, parameter in model.named_parameters():
                tensors["gradient." + name] = parameter.grad.clone()
        for parameter in model.parameters():
            parameter.grad /= batch * length
        optimizer.step()
    tensors["losses"] = torch.stack(losses)
    for name, value in model.state_dict().items():
        tensors["after." + name] = value.clone()
    return tensors


def vit_golden(batch=3):
    model = VisionTransformer(image_size=16, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=64,
                              num_classes=7)
    randomize_norms(model)
    for parameter in (model.class_token, model.heads.head.weight, model.heads.head.bias,
                      *(p for name, p in model.named_parameters() if name.endswith("bias") and "ln" not in name)):
        nn.init.normal_(parameter, 0, 0.1)
    images, labels = torch.randn(batch, 3, 16, 16), torch.randint(0, 7, (batch,))
    logits = model(images)
    functional.cross_entropy(logits, labels, reduction="sum").backward()
    tensors = {"images": images, "labels": labels, "logits": logits}
    for name, parameter in model.named_parameters():
        tensors["before." + name] = parameter
        tensors["gradient." + name] = parameter.grad
    return tensors


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(2)
    save(folder + "/gpt2.safetensors", gpt2_golden())
    save(folder + "/vit.safetensors", vit_golden())


if __name__ == "__main__":
    main()
