"""MobileNet-V2 (Sandler et al. 2018) for 32x32 images and 10 classes, with convolutions as shortcuts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 1),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks, stride of the first."""
STEM, HEAD, CLASSES = 32, 1280, 10


def product(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """Wider, one kernel a channel, narrower; at stride 1 with what came in added, through a 1x1 product where
    the number of channels changes."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expand = product(inputs, wide)
        self.depthwise = product(wide, wide, 3, stride, wide)
        self.project = product(wide, outputs)
        self.residual = stride == 1
        self.shortcut = product(inputs, outputs) if stride == 1 and inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.depthwise(functional.relu(self.expand(x))))
        y = self.project(y)
        return y + self.shortcut(x) if self.residual else y


class MobileNetV2(nn.Module):
    """(n, 3, 32, 32) to (n, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = product(3, STEM, 3)
        blocks, inputs = [], STEM
        for expansion, outputs, count, stride in STAGES:
            for i in range(count):
                blocks.append(Block(inputs, outputs, expansion, stride if i == 0 else 1))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = product(inputs, HEAD)
        self.classifier = nn.Linear(HEAD, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(functional.relu(self.stem(x)))
        x = functional.relu(self.head(x))
        return self.classifier(functional.avg_pool2d(x, 4).flatten(1))


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    return MobileNetV2().eval(), (torch.randn(1, 3, 32, 32),)
