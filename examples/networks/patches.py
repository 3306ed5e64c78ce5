"""A convolution and products in one small network: a picture's patches, each mixed by two linear layers.

What a convolution's accelerator and a product's accelerator are good for at once. Weights from a seed, not
trained.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

CHANNELS, SIDE, WIDTH, HIDDEN = 16, 32, 64, 256


class Patches(nn.Module):
    """From pictures (1, 16, 32, 32) to tokens (1, 256, 64)."""

    def __init__(self) -> None:
        super().__init__()
        self.local = nn.Conv2d(CHANNELS, 32, 3, padding=1)
        self.patch = nn.Conv2d(32, WIDTH, 3, stride=2, padding=1)
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, picture: Tensor) -> Tensor:
        x = torch.relu(self.patch(torch.relu(self.local(picture))))
        tokens = x.flatten(2).transpose(1, 2)
        return tokens + self.down(torch.relu(self.up(tokens)))


def build() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(5)
    return Patches().eval(), (torch.randn(1, CHANNELS, SIDE, SIDE),)
