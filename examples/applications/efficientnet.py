"""EfficientNet-B0 (Tan and Le 2019) without squeeze-and-excitation, for 224x224 images and 1,000 classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
"""Expansion, channels, blocks, stride of the first, kernel."""
STEM, HEAD, CLASSES = 32, 1280, 1000


def product(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution without bias and its normalisation."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """Wider (a 1x1 product in the first block too), one kernel a channel, narrower; with what came in added
    where shapes allow it."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int, kernel: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expand = product(inputs, wide)
        self.depthwise = product(wide, wide, kernel, stride, wide)
        self.project = product(wide, outputs)
        self.swish = nn.SiLU()
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = self.project(self.swish(self.depthwise(self.swish(self.expand(x)))))
        return x + y if self.residual else y


class EfficientNet(nn.Module):
    """(1, 3, 224, 224) to (1, 1000): 51 convolutions, 16 of them with one kernel a channel."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.swish = product(3, STEM, 3, 2), nn.SiLU()
        blocks, inputs = [], STEM
        for expansion, outputs, count, stride, kernel in STAGES:
            for i in range(count):
                blocks.append(Block(inputs, outputs, expansion, stride if i == 0 else 1, kernel))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = product(inputs, HEAD)
        self.classifier = nn.Conv2d(HEAD, CLASSES, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.swish(self.head(self.blocks(self.swish(self.stem(x)))))
        return self.classifier(x.mean((2, 3), keepdim=True)).flatten(1)


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    return EfficientNet().eval(), (torch.randn(1, 3, 224, 224),)
