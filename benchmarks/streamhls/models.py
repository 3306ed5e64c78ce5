"""Convolutional blocks. Each function gives a module and its example input; weights are random, seeded."""

from __future__ import annotations

import torch
from torch import nn


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Two convolutions of 3x3 and the input added to the result: 18 C^2 multiply-adds a pixel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.second(torch.relu(self.first(x))) + x)


class DepthwiseSeparable(nn.Module):  # type: ignore[misc]
    """A convolution of 3x3 in each channel, and one of 1x1 across them: 9 C + C^2 multiply-adds a pixel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.pointwise = nn.Conv2d(channels, channels, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pointwise(self.depthwise(x))


def _with_input(module: type[nn.Module], channels: int, size: int) -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return module(channels).eval(), (torch.rand(1, channels, size, size) * 2 - 1,)


def residual_block(channels: int = 16, size: int = 56) -> tuple[nn.Module, tuple[torch.Tensor]]:
    """14.45 M multiply-adds."""
    return _with_input(ResidualBlock, channels, size)


def dws_conv(channels: int = 8, size: int = 112) -> tuple[nn.Module, tuple[torch.Tensor]]:
    """1.71 M multiply-adds."""
    return _with_input(DepthwiseSeparable, channels, size)
