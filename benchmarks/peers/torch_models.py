"""lockstep's models in PyTorch, layer by layer, and with as many parameters.

ResNets are those of torchvision (with ReLU in place, as there), resnet20 that of He et al. 2015, section 4.2, with
projections where a shortcut changes shape; GPT-2 is Radford et al. 2019, its output tied to the embedding.
"""

import math

import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """relu(body(x) + shortcut(x))."""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body = body
        self.shortcut = shortcut

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x), inplace=True)


def convolution(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)


def normalized(inputs, outputs, kernel, stride=1):
    return [convolution(inputs, outputs, kernel, stride), nn.BatchNorm2d(outputs)]


def shortcut(inputs, outputs, stride):
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(*normalized(inputs, outputs, 1, stride))


def basic_block(inputs, width, stride):
    body = nn.Sequential(*normalized(inputs, width, 3, stride), nn.ReLU(inplace=True), *normalized(width, width, 3))
    return Residual(body, shortcut(inputs, width, stride)), width


def bottleneck_block(inputs, width, stride):
    outputs = 4 * width
    body = nn.Sequential(*normalized(inputs, width, 1), nn.ReLU(inplace=True), *normalized(width, width, 3, stride),
                         nn.ReLU(inplace=True), *normalized(width, outputs, 1))
    return Residual(body, shortcut(inputs, outputs, stride)), outputs


def residual_stages(block, counts, channels, classes):
    layers, inputs = [], channels
    for stage, count in enumerate(counts):
        for index in range(count):
            layer, inputs = block(inputs, channels << stage, 2 if stage > 0 and index == 0 else 1)
            layers.append(layer)
    return [*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes)]


def large_resnet(block, counts):
    def make(shape, classes):
        return nn.Sequential(*normalized(shape[0], 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1),
                             *residual_stages(block, counts, 64, classes))
    return make


def resnet20(shape, classes):
    return nn.Sequential(*normalized(shape[0], 16, 3), nn.ReLU(inplace=True),
                         *residual_stages(basic_block, [3, 3, 3], 16, classes))


def cnn(shape, classes):
    channels, height, width = shape
    return nn.Sequential(*normalized(channels, 32, 3), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                         *normalized(32, 64, 3), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(64 * (height // 4) * (width // 4), 128), nn.ReLU(inplace=True),
                         nn.Linear(128, classes))


def mlp(*hidden):
    def make(shape, classes):
        layers, width = [nn.Flatten()], math.prod(shape)
        for outputs in hidden:
            layers += [nn.Linear(width, outputs), nn.ReLU(inplace=True)]
            width = outputs
        return nn.Sequential(*layers, nn.Linear(width, classes))
    return make


def causal_attention(query, key, value):
    """PyTorch's fused one, where there is one: since 2.0."""
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    length = query.shape[-2]
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.softmax(scores.masked_fill(later, -math.inf), -1) @ value


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = causal_attention(*parts.unbind(0))
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads))
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


class Gpt2(nn.Module):
    def __init__(self, shape, vocabulary, width=768, heads=12, layers=12):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(0.02 * torch.randn(shape[0], width))
        self.blocks = nn.Sequential(*[TransformerBlock(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions
        return functional.linear(self.norm(self.blocks(x)), self.tokens.weight)


MODELS = {
    "resnet18": large_resnet(basic_block, [2, 2, 2, 2]),
    "resnet50": large_resnet(bottleneck_block, [3, 4, 6, 3]),
    "resnet20": resnet20,
    "cnn": cnn,
    "mlp": mlp(1024, 1024),
    "mlp_wide": mlp(4096, 4096, 1024),
    "gpt2": Gpt2,
}
