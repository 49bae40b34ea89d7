#!/usr/bin/env python3
"""Writes the golden values of optimizers beside SGD: what PyTorch (1.13, CPU) computes.

    /usr/bin/python3 tests/golden/make_optimizer_golden.py tests/golden

adamw.safetensors   torch.optim.AdamW with several settings over a changing learning rate
"""
import sys

import torch
from torch import nn

from make_golden import save


def adamw_golden():
    steps, shape = 12, (7, 5)
    lrs = torch.rand(steps, dtype=torch.float64) * 0.1
    start, gradients = torch.randn(shape), torch.randn(steps, *shape)
    tensors = {"lrs": lrs, "start": start, "gradients": gradients}
    for beta1, beta2, epsilon, decay in [(0.9, 0.999, 1e-8, 0), (0.9, 0.999, 1e-8, 0.1), (0.8, 0.95, 1e-3, 0.01),
                                         (0, 0.5, 1e-6, 0.01)]:
        weight = nn.Parameter(start.clone())
        optimizer = torch.optim.AdamW([weight], lr=1, betas=(beta1, beta2), eps=epsilon, weight_decay=decay)
        trajectory = []
        for lr, gradient in zip(lrs, gradients):
            optimizer.param_groups[0]["lr"] = lr.item()
            weight.grad = gradient.clone()
            optimizer.step()
            trajectory.append(weight.detach().clone())
        name = f"betas {beta1} {beta2} epsilon {epsilon} decay {decay}"
        tensors[name] = torch.stack(trajectory)
        tensors[name + " options"] = torch.tensor([beta1, beta2, epsilon, decay], dtype=torch.float64)
    return tensors


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    save(sys.argv[1] + "/adamw.safetensors", adamw_golden())


if __name__ == "__main__":
    main()
