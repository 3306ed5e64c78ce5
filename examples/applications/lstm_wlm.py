"""A language model of words: embedding, one LSTM of 128, and a decoder to all words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

WORDS, WIDTH, STEPS, BATCH = 33_278, 128, 35, 1


class LanguageModel(nn.Module):
    """(35, n) words, with hidden and cell state (1, n, 128), to logits (35, n, words) of each next word."""

    def __init__(self, words: int = WORDS) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH)
        self.decoder = nn.Linear(WIDTH, words)
        for weight in (self.embedding.weight, self.decoder.weight):
            nn.init.uniform_(weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, words: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        seen, (hidden, cell) = self.lstm(self.embedding(words), (hidden, cell))
        return self.decoder(seen), hidden, cell


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    state = torch.zeros(1, BATCH, WIDTH)
    return LanguageModel().eval(), (torch.randint(WORDS, (STEPS, BATCH)), state, state.clone())
