"""MobileNet-V2 for images of 224 x 224 (Sandler et al. 2018, table 2), batch 1, with weights from a seed.

The weights are not trained: a run costs the same, and can be compared in every bit. Batch norms have the
statistics of a batch of random images, so that values stay as large from layer to layer as in a trained one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

SIZE = 224
CLASSES = 1000
STEM, HEAD = 32, 1280
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks, stride of the first."""


def product(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """Wider, one kernel a channel, narrower; what came in is added if it has the same shape."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expand = product(inputs, wide) if expansion > 1 else None
        self.depthwise = product(wide, wide, 3, stride, wide)
        self.project = product(wide, outputs)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = x if self.expand is None else nn.functional.relu6(self.expand(x))
        y = self.project(nn.functional.relu6(self.depthwise(y)))
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """(n, 3, 224, 224) to (n, 1000)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = product(3, STEM, 3, 2)
        blocks, inputs = [], STEM
        for expansion, outputs, count, stride in STAGES:
            for number in range(count):
                blocks.append(Block(inputs, outputs, expansion, stride if number == 0 else 1))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = product(inputs, HEAD)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(HEAD, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        x = self.blocks(nn.functional.relu6(self.stem(image)))
        x = nn.functional.relu6(self.head(x))
        return self.classifier(torch.flatten(self.avgpool(x), 1))


def build() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(20)
    network = MobileNetV2()
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out")
        elif isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        network.train()(torch.randn(4, 3, SIZE, SIZE))
    return network.eval(), (torch.randn(1, 3, SIZE, SIZE),)


def calibration() -> list[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(21)
    return [(torch.randn(1, 3, SIZE, SIZE, generator=generator),) for _ in range(4)]
