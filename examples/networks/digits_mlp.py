"""A network of three linear layers for digits of 8 x 8 pixels, trained when it is built (seconds)."""

from __future__ import annotations

import torch
from digits import calibration, held_back, train
from torch import Tensor, nn

__all__ = ["build", "calibration", "held_back"]


class DigitsMlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 32)
        self.last = nn.Linear(32, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.first(torch.flatten(image, 1)))
        return self.last(torch.relu(self.second(x)))


def build(batch: int = 1) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The network, and the first `batch` images that were held back."""
    torch.manual_seed(9)
    return train(DigitsMlp()), (held_back()[0][:batch],)
