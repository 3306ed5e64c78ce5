"""ResNet-20 (He et al. 2016, with activations before products) for 32x32 images and 10 classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STAGES = ((16, 1), (32, 2), (64, 2))
"""Channels, stride of the first of three blocks."""
BLOCKS, CLASSES = 3, 10


class Block(nn.Module):
    """Two products, each behind its normalisation and activation."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else None

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.norm1(x))
        left = x if self.shortcut is None else self.shortcut(y)
        return left + self.conv2(functional.relu(self.norm2(self.conv1(y))))


class ResNet20(nn.Module):
    """(n, 3, 32, 32) to (n, 10): 21 convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.stem = nn.Conv2d(3, STAGES[0][0], 3, 1, 1, bias=False)
        blocks, inputs = [], STAGES[0][0]
        for outputs, stride in STAGES:
            for i in range(BLOCKS):
                blocks.append(Block(inputs, outputs, stride if i == 0 else 1))
                inputs = outputs
        self.blocks, self.last = nn.Sequential(*blocks), nn.BatchNorm2d(inputs)
        self.classifier = nn.Linear(inputs, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.last(self.blocks(self.stem(self.norm(x)))))
        return self.classifier(x.mean((2, 3)))


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    return ResNet20().eval(), (torch.randn(1, 3, 32, 32),)
