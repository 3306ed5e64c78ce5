"""The Transformer (Vaswani et al. 2017): 6 layers each, 256 wide, 8 heads, 2,048 between; not trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, WIDER = 256, 8, 6, 2048
SOURCE, TARGET, BATCH = 10, 20, 32


def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Of (tokens, batch, width) to (others, batch, width), head by head."""

    def heads(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], BATCH * HEADS, WIDTH // HEADS).transpose(0, 1)

    weights = torch.softmax(torch.bmm(heads(q) * (WIDTH // HEADS) ** -0.5, heads(k).transpose(1, 2)), -1)
    return torch.bmm(weights, heads(v)).transpose(0, 1).reshape(q.shape)


class Own(nn.Module):
    """Attention to itself: query, key and value from one product."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.inputs(x).split(WIDTH, -1)
        return self.output(attended(q, k, v))


class Other(nn.Module):
    """Attention to another sequence: key and value from one product."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.output = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.other = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x: Tensor, other: Tensor) -> Tensor:
        k, v = self.other(other).split(WIDTH, -1)
        return self.output(attended(self.query(x), k, v))


class Feed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, WIDER), nn.Linear(WIDER, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.relu(self.up(x)))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.feed = Own(), Feed()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.feed(x))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own, self.other, self.feed = Own(), Other(), Feed()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = self.norm1(x + self.own(x))
        x = self.norm2(x + self.other(x, memory))
        return self.norm3(x + self.feed(x))


class Transformer(nn.Module):
    """(10, 32, 256) and (20, 32, 256) to (20, 32, 256): 66 products with weights, 36 of activations."""

    def __init__(self) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(Encoder() for _ in range(LAYERS))
        self.decoders = nn.ModuleList(Decoder() for _ in range(LAYERS))
        self.encoded, self.decoded = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        for encoder in self.encoders:
            source = encoder(source)
        memory = self.encoded(source)
        for decoder in self.decoders:
            target = decoder(target, memory)
        return self.decoded(target)


def build(seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(seed)
    inputs = torch.randn(SOURCE, BATCH, WIDTH), torch.randn(TARGET, BATCH, WIDTH)
    return Transformer().eval(), inputs
