"""Handwritten digits of 8 x 8 pixels (scikit-learn's copy of the UCI set), and a short training on them."""

from __future__ import annotations

from functools import cache

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional

HELD_BACK = 200
"""Images that no training and no calibration sees."""


@cache
def images() -> tuple[Tensor, Tensor]:
    """All images (1797, 1, 8, 8), from -1 (paper) to 1 (ink), and their digits, in a random order."""
    data = load_digits()
    pixels = torch.tensor(data.images, dtype=torch.float32)[:, None] / 8 - 1
    order = torch.randperm(len(pixels), generator=torch.Generator().manual_seed(0))
    return pixels[order], torch.tensor(data.target)[order]


def held_back() -> tuple[Tensor, Tensor]:
    """200 images and their digits."""
    pixels, digits = images()
    return pixels[:HELD_BACK], digits[:HELD_BACK]


def calibration(batch: int = 1) -> list[tuple[Tensor, ...]]:
    """At least 64 images of the training set, as inputs of a network for `batch` images at a time."""
    return [(images()[0][HELD_BACK:][at : at + batch],) for at in range(0, max(64, batch), batch)]


def train(network: nn.Module, epochs: int = 20) -> nn.Module:
    """Adam on what is not held back; seconds, and the same weights each time."""
    pixels, digits = (values[HELD_BACK:] for values in images())
    optimiser = torch.optim.Adam(network.parameters(), lr=4e-3)
    generator = torch.Generator().manual_seed(1)
    for _ in range(epochs):
        for batch in torch.randperm(len(pixels), generator=generator).split(100):
            optimiser.zero_grad()
            functional.cross_entropy(network(pixels[batch]), digits[batch]).backward()
            optimiser.step()
    return network.eval()
