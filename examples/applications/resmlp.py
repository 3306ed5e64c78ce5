"""ResMLP (Touvron et al. 2021) for 32x32 images: 4 patches of 16x16, 12 blocks of 384, 10 classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

SIDE, PATCH, WIDTH, DEPTH, WIDER, CLASSES = 32, 16, 384, 12, 4, 10
TOKENS = (SIDE // PATCH) ** 2
SCALES = ((18, 0.1), (24, 1e-5), (10**9, 1e-6))
"""Depth up to which the residuals' scale begins at that value."""


class Affine(nn.Module):
    """A scale and a shift a channel."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1, 1, WIDTH))
        self.shift = nn.Parameter(torch.zeros(1, 1, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.shift


class Residual(nn.Module):
    """A part behind an `Affine`, scaled a channel and added to what came in."""

    def __init__(self, part: nn.Module, depth: int) -> None:
        super().__init__()
        scale = next(value for most, value in SCALES if depth <= most)
        self.scale = nn.Parameter(torch.full((1, 1, WIDTH), scale))
        self.affine, self.part = Affine(), part

    def forward(self, x: Tensor) -> Tensor:
        return self.part(self.affine(x)) * self.scale + x


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, WIDTH * WIDER), nn.Linear(WIDTH * WIDER, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x)))


class ResMlp(nn.Module):
    """(n, 3, 32, 32) to (n, 10): 26 products along channels and 12 along patches."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(PATCH * PATCH * 3, WIDTH)
        blocks: list[nn.Module] = []
        for depth in range(1, DEPTH + 1):
            blocks += [Residual(nn.Conv1d(TOKENS, TOKENS, 1), depth), Residual(Mlp(), depth)]
        self.blocks, self.affine = nn.Sequential(*blocks), Affine()
        self.classifier = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        n, side = x.shape[0], SIDE // PATCH
        patches = x.reshape(n, 3, side, PATCH, side, PATCH).permute(0, 2, 4, 3, 5, 1)
        x = self.embed(patches.reshape(n, TOKENS, PATCH * PATCH * 3))
        return self.classifier(self.affine(self.blocks(x)).mean(1))


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    return ResMlp().eval(), (torch.randn(1, 3, SIDE, SIDE),)
