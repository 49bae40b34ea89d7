#!/usr/bin/env python3
"""Writes the golden values of transformers: what PyTorch and torchvision (1.13 and 0.14, CPU) compute.

    /usr/bin/python3 tests/golden/make_transformer_golden.py tests/golden

gpt2.safetensors  a small GPT-2 under Hugging Face's names: first forward, gradients, five steps of SGD
vit.safetensors   torchvision's VisionTransformer in small: forward and gradients
"""
import math
import sys

import torch
from make_golden import save
from torch import nn
from torch.nn import functional
from torchvision.models import VisionTransformer


class Conv1D(nn.Module):
    """A linear layer with weight [in, out], as GPT-2's files have it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.2)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.1)

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = Conv1D(width, 3 * width)
        self.c_proj = Conv1D(width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in self.c_attn(x).split(width, 2))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        y = scores.masked_fill(future, -math.inf).softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(n, t, width))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = Conv1D(width, 4 * width)
        self.c_proj = Conv1D(4 * width, width)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, vocabulary, length, layers, heads, width):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


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
