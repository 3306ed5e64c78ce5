"""A small convolutional network for digits of 8 x 8 pixels, trained when it is built (seconds)."""

from __future__ import annotations

import torch
from digits import calibration, held_back, train
from torch import Tensor, nn

__all__ = ["build", "calibration", "held_back"]


class DigitsCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.conv3 = nn.Conv2d(16, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16 * 4 * 4, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.conv2(torch.relu(self.conv1(image)))))
        x = self.pool(torch.relu(self.conv3(x) + x))
        return self.fc(torch.flatten(x, 1))


def build(batch: int = 1) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The network, and the first `batch` images that were held back."""
    torch.manual_seed(8)
    return train(DigitsCnn(), epochs=8), (held_back()[0][:batch],)
