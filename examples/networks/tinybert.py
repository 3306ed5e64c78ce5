"""TinyBERT with a head for masked words: 2 layers, hidden 128, 2 heads of 64, batch 2, sequence 128.

Weights from a seed, drawn as BERT draws them (Devlin et al. 2018): not trained, so the words it names mean
nothing, but what quantisation changes in them can be counted.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HIDDEN, HEADS, FEED_FORWARD = 2, 128, 2, 512
VOCABULARY, BATCH, SEQUENCE = 30_522, 2, 128
MASK = 103
"""The word that stands for a hidden one, in BERT's vocabulary."""
EPSILON = 1e-12


class Layer(nn.Module):
    """Attention and a feed-forward network, each with what came in added, and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.attention_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.up, self.down = nn.Linear(HIDDEN, FEED_FORWARD), nn.Linear(FEED_FORWARD, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)

    def heads(self, x: Tensor) -> Tensor:
        return x.view(BATCH, SEQUENCE, HEADS, HIDDEN // HEADS).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5, -1)
        seen = (weights @ v).transpose(1, 2).reshape(BATCH, SEQUENCE, HIDDEN)
        x = self.attention_norm(self.output(seen) + x)
        return self.norm(self.down(functional.gelu(self.up(x))) + x)


class TinyBert(nn.Module):
    """From words (2, 128) to logits (2, 128, 30522) of which word stands where."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(SEQUENCE, HIDDEN)
        self.types = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, HIDDEN)
        self.head_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.decoder = nn.Linear(HIDDEN, VOCABULARY)
        self.decoder.weight = self.words.weight
        self.register_buffer("place", torch.arange(SEQUENCE))
        self.register_buffer("kind", torch.zeros(SEQUENCE, dtype=torch.long))

    def forward(self, words: Tensor) -> Tensor:
        where = self.positions(self.place) + self.types(self.kind)
        x = self.norm(self.words(words) + where)
        for layer in self.layers:
            x = layer(x)
        return self.decoder(self.head_norm(functional.gelu(self.head(x))))


def build() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(2)
    network = TinyBert()
    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(layer.weight, std=0.02)
        if isinstance(layer, nn.Linear):
            nn.init.zeros_(layer.bias)
    return network.eval(), (masked(torch.Generator().manual_seed(3)),)


def masked(generator: torch.Generator) -> Tensor:
    """Random words (2, 128), about 15 % of them hidden."""
    words = torch.randint(1000, VOCABULARY, (BATCH, SEQUENCE), generator=generator)
    hidden = torch.rand(BATCH, SEQUENCE, generator=generator) < 0.15
    return words.masked_fill(hidden, MASK)


def calibration() -> list[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(4)
    return [(masked(generator),) for _ in range(16)]
