"""An LSTM over a short sequence, and a classifier of its last state. Weights from a seed, not trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn

STEPS, INPUTS, HIDDEN, CLASSES = 4, 16, 32, 8


class Sequence(nn.Module):
    """From sequences (1, 4, 16) to logits (1, 8)."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(INPUTS, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, sequence: Tensor) -> Tensor:
        states, _ = self.layer(sequence)
        return self.head(states[:, -1])


def build() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(6)
    return Sequence().eval(), (torch.randn(1, STEPS, INPUTS),)
