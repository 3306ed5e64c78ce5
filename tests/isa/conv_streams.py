"""Convolutions as a host sends them, independent of the functional model and of the driver generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from tests.isa.streams import Matrix, Step, opcode_words, wrapped

from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import Recv, Scope, Send

LOOPS = ("oc", "oh", "ow", "ic")


@dataclass(frozen=True)
class Convolution:
    """A problem. `before`: padding above and left, `after`: below and right."""

    ic: int
    ih: int
    iw: int
    oc: int
    fh: int
    fw: int
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    before: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)

    @property
    def output(self) -> tuple[int, int]:
        """Rows and columns of the result; below 1 where the filter is larger than the padded image."""
        return self._size(0, self.ih, self.fh), self._size(1, self.iw, self.fw)

    def _size(self, axis: int, image: int, taps: int) -> int:
        free = image + self.before[axis] + self.after[axis] - (taps - 1) * self.dilation[axis] - 1
        return free // self.stride[axis] + 1

    def reference(self, image: Matrix, filters: Matrix) -> Matrix:
        """(oc, oh, ow) mod 2^32, by windows of the padded image in Python's integers."""
        return wrapped(np.tensordot(filters.astype(object), self.windows(image).astype(object), 3))

    def windows(self, image: Matrix) -> Matrix:
        """(ic, fh, fw, oh, ow)"""
        padding = [(0, 0), *zip(self.before, self.after, strict=True)]
        padded = np.pad(image, padding)
        oh, ow = self.output
        rows = np.add.outer(np.arange(self.fh) * self.dilation[0], np.arange(oh) * self.stride[0])
        columns = np.add.outer(np.arange(self.fw) * self.dilation[1], np.arange(ow) * self.stride[1])
        return padded[:, rows[:, None, :, None], columns[None, :, None, :]]


def conv_program(
    spec: AcceleratorSpec,
    flow: str,
    order: Sequence[str],
    tile: Mapping[str, int],
    problem: Convolution,
    operands: Mapping[str, Matrix],
    post: Mapping[str, int] | None = None,
) -> Iterator[Step]:
    """The opcodes of one whole convolution under a flow, in tiles of at most `tile` (oc, oh, ow, ic).

    `operands`: I (ic, ih, iw), F (oc, ic, fh, fw), and P (oc, 2) for a flow that requantises with the
    settings `post`. Windows are cut out of the image where the device takes windows.
    """
    oh, ow = problem.output
    totals = {"oc": problem.oc, "oh": oh, "ow": ow, "ic": problem.ic}
    saves = spec.form.saves

    def at(index: Mapping[str, int]) -> dict[str, int]:
        """Sizes and settings of the tile at `index`; a loop that is not around gives the first tile's."""
        start = {d: index.get(d, 0) for d in LOOPS}
        sizes = {d: min(tile[d], totals[d] - start[d]) for d in LOOPS}
        values = {**sizes, "fh": problem.fh, "fw": problem.fw, **(post or {})}
        values.update(zip(("sh", "sw"), problem.stride, strict=True))
        values.update(zip(("dh", "dw"), problem.dilation, strict=True))
        for axis, (out, image, padding, taps) in enumerate(
            (("oh", "ih", "pt", "fh"), ("ow", "iw", "pl", "fw"))
        ):
            stride, dilation = problem.stride[axis], problem.dilation[axis]
            first = start[out] * stride - problem.before[axis]
            extent = (sizes[out] - 1) * stride + (values[taps] - 1) * dilation + 1
            low, high, padded = seen(first, extent, (problem.ih, problem.iw)[axis])
            values |= {f"{image}0": low, image: high - low, padding: padded}
        return values

    def place(operand: str, index: Mapping[str, int]) -> Matrix:
        now = at(index)
        channels = slice(index.get("oc", 0), index.get("oc", 0) + now["oc"])
        depth = slice(index.get("ic", 0), index.get("ic", 0) + now["ic"])
        if operand == "P":
            return operands["P"][channels]
        if operand == "F":
            return operands["F"][channels, depth]
        if saves:
            return problem.windows(operands["I"])[depth, :, :, index["oh"], index["ow"]]
        rows = slice(now["ih0"], now["ih0"] + now["ih"])
        columns = slice(now["iw0"], now["iw0"] + now["iw"])
        return operands["I"][depth, rows, columns]

    def target(index: Mapping[str, int]) -> tuple[slice, ...]:
        now = {**at(index), **({d: totals[d] for d in ("oh", "ow") if d not in index} if saves else {})}
        return tuple(slice(index.get(d, 0), index.get(d, 0) + now[d]) for d in ("oc", "oh", "ow"))

    def opcode(name: str, index: Mapping[str, int]) -> Step:
        host = spec.opcodes[name].host
        tiles = {a.operand: place(a.operand, index) for a in host if isinstance(a, Send)}
        now = at(index)
        sizes = tuple(now[d] for d in spec.dims)
        words = opcode_words(spec, name, sizes, tiles, index, now)
        return Step(name, words, target(index) if any(isinstance(a, Recv) for a in host) else None)

    def body(scope: Scope, level: int, index: dict[str, int]) -> Iterator[Step]:
        for item in scope.items:
            if isinstance(item, str):
                yield opcode(item, index)
            else:
                for start in range(0, totals[order[level]], tile[order[level]]):
                    yield from body(item, level + 1, {**index, order[level]: start})

    for name in spec.init_opcodes:
        yield opcode(name, {})
    scope = spec.flows[flow]
    outer = len(order) - scope.depth + 1
    starts = (range(0, totals[d], tile[d]) for d in order[:outer])
    for values in product(*starts):
        yield from body(scope, outer, dict(zip(order[:outer], values, strict=True)))


def seen(first: int, extent: int, size: int) -> tuple[int, int, int]:
    """The rows `low` to `high` of an image of `size` rows that lie in the `extent` rows from `first` on, and
    the rows of padding above them. One row at least is sent, even if none is seen."""
    low, high = max(first, 0), min(first + extent, size)
    if low < high:
        return low, high, low - first
    return 0, 1, extent
