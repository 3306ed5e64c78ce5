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

from axiloom.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.blocks.epilogue import Requantise
from axiloom.selection.blocks.host import Host
from axiloom.selection.blocks.sizes import Sizes, blocks_of, divisors
from axiloom.selection.program.program import Program

MOST_PADS = 15


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
    """`rows` of y, blocks of output and of input channels."""

    rows: int
    filters: int
    channels: int


def lowered(layer: Convolution, isa: InstructionSet, requantise: Requantise | None = None) -> Program:
    """Raises CompileError where no tile fits the memories."""
    return _Lowering(layer, Sizes.of(isa), requantise or Requantise()).program(isa.name)


class _Lowering:
    def __init__(self, layer: Convolution, sizes: Sizes, requantise: Requantise) -> None:
        self.layer, self.sizes, self.requantise = layer, sizes, requantise
        self.channels = blocks_of("channels", layer.channels, sizes.block)
        self.filters = blocks_of("filters", layer.filters, sizes.block)
        self.taps = layer.taps**2
        self.wide = (layer.columns - 1) * layer.stride + layer.taps
        """Columns of x that are read, with pads."""
        self.tile = self._chosen()

    def high(self, rows: int) -> int:
        """Rows of x for so many of y."""
        return (rows - 1) * self.layer.stride + self.layer.taps

    def _tiles(self) -> Iterator[Tile]:
        sizes, columns = self.sizes, self.layer.columns
        for filters, channels in itertools.product(divisors(self.filters), divisors(self.channels)):
            if filters * channels * self.taps > min(sizes.wgts, sizes.uops - filters):
                continue
            rows = min(
                self.layer.rows,
                (sizes.accs - self.filters) // (filters * columns),
                (sizes.inps // (channels * self.wide) - self.layer.taps) // self.layer.stride + 1,
            )
            if rows > 0:
                yield Tile(rows, filters, channels)

    def _cost(self, tile: Tile) -> tuple[int, int]:
        """Bytes that are loaded, then commands; steps are the same for all tiles."""
        down = -(-self.layer.rows // tile.rows)
        across, deep = self.filters // tile.filters, self.channels // tile.channels
        inputs = tile.channels * self.high(tile.rows) * self.wide * self.sizes.block
        weights = tile.filters * tile.channels * self.taps * self.sizes.block**2
        loaded = across * deep * (down * inputs + (down if deep > 1 else 1) * weights)
        return loaded, across * down * deep

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
        steps = host.micro_ops(self._steps())
        deep = self.channels // tile.channels
        for n in range(0, self.filters, tile.filters):
            sums = host.micro_ops([(f, biases + n + f, 0) for f in range(tile.filters)])
            if deep == 1:
                self._load_weights(host, w, n, 0)
            for top in range(0, layer.rows, tile.rows):
                rows = min(tile.rows, layer.rows - top)
                loops = {"outer": rows, "inner": layer.columns}
                loops |= {"dst_outer": layer.columns * tile.filters, "dst_inner": tile.filters}
                host.add("gemm", **sums, **loops, reset=1)
                for c in range(0, self.channels, tile.channels):
                    self._load_inputs(host, x, c, top, rows)
                    if deep > 1:
                        self._load_weights(host, w, n, c)
                    across = layer.stride * tile.channels
                    host.add("gemm", **steps, **loops, src_outer=self.wide * across, src_inner=across)
                self.requantise.emit(host, sums, loops)
                host.add(
                    "store",
                    sram=0,
                    base=y + top * layer.columns * self.filters + n,
                    rows=rows * layer.columns,
                    count=tile.filters,
                    stride=self.filters,
                )
        return host.program(target, f"conv_{layer.height}_{layer.channels}_{layer.filters}_{layer.taps}")

    def _steps(self) -> list[tuple[int, int, int]]:
        """For each block of filters and of channels, and each tap."""
        taps, tile = range(self.layer.taps), self.tile
        places = []
        for f, c in itertools.product(range(tile.filters), range(tile.channels)):
            for p, q in itertools.product(taps, taps):
                weight = (f * tile.channels + c) * self.taps + p * self.layer.taps + q
                places.append((f, (p * self.wide + q) * tile.channels + c, weight))
        return places

    def _load_weights(self, host: Host, base: int, n: int, c: int) -> None:
        host.add(
            "load_wgt",
            sram=0,
            base=base + (n * self.channels + c) * self.taps,
            rows=self.tile.filters,
            count=self.tile.channels * self.taps,
            stride=self.channels * self.taps,
        )

    def _load_inputs(self, host: Host, base: int, c: int, top: int, rows: int) -> None:
        """A pixel's channels behind each other, with the picture's pads."""
        layer, deep = self.layer, self.tile.channels
        first = top * layer.stride - layer.pads
        end = first + self.high(rows)
        above, below = max(0, -first), max(0, end - layer.height)
        here = range(max(first, 0), min(end, layer.height))
        count = min(layer.width, self.wide - layer.pads)
        right = self.wide - layer.pads - count
        if deep == self.channels and max(layer.pads, right) * deep <= MOST_PADS:
            host.add(
                "load_inp",
                sram=0,
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
        # A row of the picture at a time: its pixels are the rows of a load.
        for row in range(first, end):
            sram = (row - first) * self.wide * deep
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
