"""A convolution of int8: ``y[i, j, n] = requantise(sum w[n, c, p, q] x[s i + p, s j + q, c])``.

Pictures lie as they are: x is (H, W, C), y (I, J, N), row major, so that the channels of a pixel are vectors
one behind the other. w lies in blocks (N / 16, C / 16, P, Q, 16, 16), the output channel before the input
channel; the bias is (N,) int32. A tile has some rows of y, all columns, and some blocks of either channels.
Its steps are micro-ops for the taps and blocks, in loops over rows and columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.accelerators.vta.blocks.host import Host
from axiloom.accelerators.vta.blocks.prefetch import Halves, prefetched, waited
from axiloom.accelerators.vta.blocks.sizes import Sizes, blocks_of, divisors
from axiloom.base.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.program.program import Program

MOST_PADS = 15
_COMMAND, _BEGIN, _PIECE = 100, 30, 8
"""Cycles of the driver and the DMA for a command, about; of the device beside its work; of the driver and the
DMA for a piece of a picture that does not lie behind the one before: a pixel's share of the channels."""


@dataclass(frozen=True)
class Convolution:
    """Sizes in elements; the filter is `taps` x `taps`. Raises ValueError for what is no convolution."""

    height: int
    width: int
    channels: int
    filters: int
    taps: int = 3
    stride: int = 1
    pads: int = 1

    def __post_init__(self) -> None:
        if min(self.taps, self.stride, self.rows, self.columns) <= 0 or not 0 <= self.pads <= MOST_PADS:
            raise ValueError(f"no convolution: {self}")

    @property
    def rows(self) -> int:
        return (self.height + 2 * self.pads - self.taps) // self.stride + 1

    @property
    def columns(self) -> int:
        return (self.width + 2 * self.pads - self.taps) // self.stride + 1

    @property
    def multiply_adds(self) -> int:
        return self.rows * self.columns * self.filters * self.channels * self.taps**2


@dataclass(frozen=True)
class Tile:
    """`rows` of y, blocks of output and of input channels; how many such tiles there is room for at once, of
    `inputs`, `weights` and `sums`."""

    rows: int
    filters: int
    channels: int
    inputs: int = 1
    weights: int = 1
    sums: int = 1


def lowered(layer: Convolution, isa: InstructionSet, requantise: Requantise | None = None) -> Program:
    """Raises CompileError where no tile fits the memories."""
    return _Lowering(layer, Sizes.of(isa), requantise or Requantise()).program(isa.name)


class _Lowering:
    def __init__(self, layer: Convolution, sizes: Sizes, requantise: Requantise) -> None:
        self.layer, self.sizes, self.requantise = layer, sizes, requantise
        self.channels = blocks_of("channels", layer.channels, sizes.block)
        self.filters = blocks_of("filters", layer.filters, sizes.block)
        self.taps = layer.taps**2
        self.wide = (layer.columns - 1) * layer.stride + layer.taps if layer.pads else layer.width
        """Columns of x in a tile, with pads. Without pads all: rows then follow each other as in x."""
        self.tile = self._chosen()

    def high(self, rows: int) -> int:
        """Rows of x for so many of y."""
        return (rows - 1) * self.layer.stride + self.layer.taps

    def _tiles(self) -> Iterator[Tile]:
        sizes, columns = self.sizes, self.layer.columns
        for filters, channels in itertools.product(divisors(self.filters), divisors(self.channels)):
            for inputs, weights, sums in itertools.product((1, 2), repeat=3):
                blocks = filters * channels * self.taps
                micro_ops = blocks * inputs * weights * sums + (self.filters + filters) * sums
                if blocks > sizes.wgts // weights or micro_ops > sizes.uops:
                    continue
                rows = min(
                    self.layer.rows,
                    (sizes.accs - self.filters) // sums // (filters * columns),
                    (sizes.inps // inputs // (channels * self.wide) - self.layer.taps) // self.layer.stride
                    + 1,
                )
                if rows > 0:
                    yield Tile(rows, filters, channels, inputs, weights, sums)

    def _cost(self, tile: Tile) -> int:
        """Cycles, about: a beat of 8 bytes and a step take one."""
        down = -(-self.layer.rows // tile.rows)
        across, deep = self.filters // tile.filters, self.channels // tile.channels
        high = self.high(tile.rows)
        inputs = 2 * tile.channels * high * self.wide
        weights = 32 * tile.filters * tile.channels * self.taps
        vectors = tile.rows * self.layer.columns * tile.filters
        steps = vectors * tile.channels * self.taps
        behind = vectors * self.requantise.cycles + (0 if tile.sums > 1 else 2 * vectors)
        loads, waits, hidden = waited((tile.inputs, inputs), *[(tile.weights, weights)] * (deep > 1))
        at_once = self._at_once(tile.channels) or not self.layer.pads
        commands = deep * (loads + (1 if at_once else high)) + self.requantise.commands + 2
        pixels, results = deep * high * self.wide, tile.rows * self.layer.columns
        pieces = (pixels if deep > 1 else 0) + (results if across > 1 else 0)
        turn = max(deep * hidden, deep * steps + behind, _COMMAND * commands + _PIECE * pieces)
        turn += deep * waits + _BEGIN * commands
        once = across * weights if deep == 1 and tile.weights == 1 else weights
        return across * down * turn + once

    def _chosen(self) -> Tile:
        tiles = list(self._tiles())
        if not tiles:
            raise CompileError(f"no tile of {self.layer} fits {self.sizes}: a whole row of y is the least")
        return min(tiles, key=self._cost)

    def program(self, target: str) -> Program:
        layer, tile, block = self.layer, self.tile, self.sizes.block
        host = Host(self.sizes)
        x = host.array("x", "in", (layer.height, layer.width, layer.channels), "int8") // block
        shape = (self.filters, self.channels, layer.taps, layer.taps, block, block)
        w = host.array("w", "in", shape, "int8") // block**2
        # The last accumulators are the bias, one for each block of filters.
        biases = self.sizes.accs - self.filters
        if self.requantise.bias:
            bias = host.array("bias", "in", (layer.filters,), "int32") // (4 * block)
            host.add("load_acc", sram=biases, base=bias, rows=1, count=self.filters)
        y = host.array("y", "out", (layer.rows, layer.columns, layer.filters), "int8") // block
        deep = self.channels // tile.channels
        inputs = Halves(tile.inputs, self.sizes.inps // tile.inputs)
        weights = Halves(tile.weights, self.sizes.wgts // tile.weights)
        sums = Halves(tile.sums, biases // tile.sums)
        steps = cache(lambda *at: host.micro_ops(self._steps(*at)))
        nothing = cache(lambda at: host.micro_ops(self._reset(at)))
        biased = cache(
            lambda at, n: host.micro_ops([(at + f, biases + n + f, 0) for f in range(tile.filters)])
        )
        for n in range(0, self.filters, tile.filters):
            if deep == 1:
                self._load_weights(host, w, n, 0, weights.next())
            for top in range(0, layer.rows, tile.rows):
                rows, to = min(tile.rows, layer.rows - top), sums.next()
                loops = {"outer": rows, "inner": layer.columns}
                loops |= {"dst_outer": layer.columns * tile.filters, "dst_inner": tile.filters}
                host.add("gemm", **nothing(to), **loops, reset=1)
                for c in range(0, self.channels, tile.channels):
                    self._load_inputs(host, x, c, top, rows, inputs.next())
                    if deep > 1:
                        self._load_weights(host, w, n, c, weights.next())
                    across = layer.stride * tile.channels
                    where = steps(to, inputs.now, weights.now)
                    host.add("gemm", **where, **loops, src_outer=self.wide * across, src_inner=across)
                self.requantise.emit(host, biased(to, n), loops)
                host.add(
                    "store",
                    sram=to,
                    base=y + top * layer.columns * self.filters + n,
                    rows=rows * layer.columns,
                    count=tile.filters,
                    stride=self.filters,
                )
        host.commands = prefetched(host.commands)
        return host.program(target, f"conv_{layer.height}_{layer.channels}_{layer.filters}_{layer.taps}")

    def _reset(self, to: int) -> list[tuple[int, int, int]]:
        """Micro-ops for sums of 0. What a step reads counts for nothing: the last places, which loads mostly
        leave alone."""
        return [(to + f, self.sizes.inps - 1, self.sizes.wgts - 1) for f in range(self.tile.filters)]

    def _steps(self, to: int, inputs: int, weights: int) -> list[tuple[int, int, int]]:
        """For each block of filters and of channels, and each tap; tiles lie from these places on."""
        taps, tile = range(self.layer.taps), self.tile
        places = []
        for f, c in itertools.product(range(tile.filters), range(tile.channels)):
            for p, q in itertools.product(taps, taps):
                weight = (f * tile.channels + c) * self.taps + p * self.layer.taps + q
                source = (p * self.wide + q) * tile.channels + c
                places.append((to + f, inputs + source, weights + weight))
        return places

    def _load_weights(self, host: Host, base: int, n: int, c: int, to: int) -> None:
        host.add(
            "load_wgt",
            sram=to,
            base=base + (n * self.channels + c) * self.taps,
            rows=self.tile.filters,
            count=self.tile.channels * self.taps,
            stride=self.channels * self.taps,
        )

    def _at_once(self, channels: int) -> bool:
        """Whether one load takes all rows of a tile: its pads are counted in vectors."""
        layer = self.layer
        right = self.wide - layer.pads - min(layer.width, self.wide - layer.pads)
        return channels == self.channels and max(layer.pads, right) * channels <= MOST_PADS

    def _load_inputs(self, host: Host, base: int, c: int, top: int, rows: int, to: int) -> None:
        """A pixel's channels behind each other, with the picture's pads."""
        layer, deep = self.layer, self.tile.channels
        first = top * layer.stride - layer.pads
        end = first + self.high(rows)
        above, below = max(0, -first), max(0, end - layer.height)
        here = range(max(first, 0), min(end, layer.height))
        count = min(layer.width, self.wide - layer.pads)
        right = self.wide - layer.pads - count
        if self._at_once(deep):
            host.add(
                "load_inp",
                sram=to,
                base=base + here.start * layer.width * deep,
                rows=len(here),
                count=count * deep,
                stride=layer.width * deep,
                above=above,
                below=below,
                left=layer.pads * deep,
                right=right * deep,
            )
            return
        if not layer.pads:
            host.add(
                "load_inp",
                sram=to,
                base=base + first * layer.width * self.channels + c,
                rows=(end - first) * layer.width,
                count=deep,
                stride=self.channels,
            )
            return
        # A row of the picture at a time: its pixels are the rows of a load.
        for row in range(first, end):
            sram = to + (row - first) * self.wide * deep
            if row not in here:
                host.add("load_inp", sram=sram, base=base, rows=0, count=self.wide * deep, above=1)
                continue
            host.add(
                "load_inp",
                sram=sram,
                base=base + row * layer.width * self.channels + c,
                rows=count,
                count=deep,
                stride=self.channels,
                above=layer.pads,
                below=right,
            )
