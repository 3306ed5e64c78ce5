"""Layers in a saturated graph: a product or a convolution of int8, and what is done to its sums.

`layers` looks from each value of int8 down through clips, a shift and a bias to sums of int32, through all
equal forms. What those sums are is an entry of `SUMS` in :mod:`axiloom.accelerators.vta.blocks.sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from axiloom.accelerators.vta.blocks.epilogue import Requantise
from axiloom.selection.egraph.constants import Constants
from axiloom.selection.egraph.saturated import ENode, Saturated

MOST_SHIFT = 15
MOST_BIASES = 4


@dataclass(frozen=True)
class Way:
    """To a value of int8: `sums` is the node of its sums; `biases` are classes of one number a channel, which
    are added up."""

    made: int
    sums: ENode
    how: Requantise
    biases: tuple[int, ...]


@dataclass(frozen=True)
class _Done:
    """What comes behind a value: clips to `low` and `high` after a shift; None: nothing yet."""

    shift: int = 0
    low: int | None = None
    high: int | None = None

    def clipped(self, low: int | None, high: int | None) -> _Done | None:
        """With a clip before. None where ends would not be bytes."""
        ends = [None if end is None else end >> self.shift for end in (low, high)]
        low, high = (None if end is None else self._within(end) for end in ends)
        low, high = (self.low if low is None else low), (self.high if high is None else high)
        if low is not None and high is not None and low > high:
            return None
        fits = all(end is None or -128 <= end <= 127 for end in (low, high))
        return replace(self, low=low, high=high) if fits else None

    def _within(self, end: int) -> int:
        if self.low is not None:
            end = max(end, self.low)
        return end if self.high is None else min(end, self.high)


class Matcher:
    def __init__(self, saturated: Saturated, constants: Constants, sums: Mapping[str, Any]) -> None:
        self.saturated, self.constants, self.sums = saturated, constants, sums

    @cached_property
    def _below(self) -> Mapping[str, Callable[[ENode, _Done], Iterator[tuple[int, _Done]]]]:
        return {
            "clamp": self._clamp,
            "maximum": self._maximum,
            "minimum": self._minimum,
            "relu": lambda node, done: self._clip(node.operands[0], done, 0, None),
            "shift_right_arithmetic": self._shift,
        }

    def ways(self, result: int) -> Iterator[Way]:
        """Of a class of int8, each once."""
        if self.saturated.types[result].number != "int8":
            return
        seen = set()
        for node in self.saturated.classes[result]:
            if node.op == "convert" and self.saturated.types[node.operands[0]].number == "int32":
                for way in self._sums(result, node.operands[0], _Done(), 8):
                    if way not in seen:
                        seen.add(way)
                        yield way

    def _sums(self, result: int, eclass: int, done: _Done, deep: int) -> Iterator[Way]:
        for node in self.saturated.classes[eclass]:
            if node.op in self.sums:
                yield Way(result, node, Requantise(done.shift, done.low, done.high, bias=False), ())
            elif node.op == "add":
                yield from self._biased(result, node, done)
            elif node.op in self._below and deep:
                for below, then in self._below[node.op](node, done):
                    yield from self._sums(result, below, then, deep - 1)

    def _biased(self, result: int, node: ENode, done: _Done, later: tuple[int, ...] = ()) -> Iterator[Way]:
        for sums, added in (node.operands, node.operands[::-1]):
            bias = self._per_channel(added)
            if bias is None:
                continue
            biases = (bias, *later)
            for inner in self.saturated.classes[sums]:
                if inner.op in self.sums:
                    yield Way(result, inner, Requantise(done.shift, done.low, done.high), biases)
                elif inner.op == "add" and len(biases) < MOST_BIASES:
                    yield from self._biased(result, inner, done, biases)

    def unfinished(self, eclass: int) -> Iterator[Way]:
        """To a value of int32, which is on the way from sums to a byte."""
        if self.saturated.types[eclass].number == "int32":
            yield from self._sums(eclass, eclass, _Done(), 8)

    def _per_channel(self, eclass: int) -> int | None:
        """The class of the int32 vector that this class repeats along all but its last dimension."""
        rank = len(self.saturated.types[eclass].shape)
        for node in self.saturated.classes[eclass]:
            if node.op == "broadcast_in_dim":
                under = self.saturated.types[node.operands[0]]
                if node.given["dimensions"] == (rank - 1,) and under.number == "int32":
                    return node.operands[0]
        return None

    # --- what comes behind the sums -----------------------------------------------------------------------

    def _clip(
        self, below: int, done: _Done, low: int | None, high: int | None
    ) -> Iterator[tuple[int, _Done]]:
        then = done.clipped(low, high)
        if then is not None:
            yield below, then

    def _clamp(self, node: ENode, done: _Done) -> Iterator[tuple[int, _Done]]:
        low, below, high = node.operands
        ends = self.uniform(low), self.uniform(high)
        if None not in ends:
            yield from self._clip(below, done, *ends)

    def _maximum(self, node: ENode, done: _Done) -> Iterator[tuple[int, _Done]]:
        for below, end in (node.operands, node.operands[::-1]):
            if (value := self.uniform(end)) is not None:
                yield from self._clip(below, done, value, None)

    def _minimum(self, node: ENode, done: _Done) -> Iterator[tuple[int, _Done]]:
        for below, end in (node.operands, node.operands[::-1]):
            if (value := self.uniform(end)) is not None:
                yield from self._clip(below, done, None, value)

    def _shift(self, node: ENode, done: _Done) -> Iterator[tuple[int, _Done]]:
        amount = self.uniform(node.operands[1])
        if amount is not None and amount >= 0 and done.shift + amount <= MOST_SHIFT:
            yield node.operands[0], replace(done, shift=done.shift + amount)

    def uniform(self, eclass: int) -> int | None:
        """The number that all elements of a constant are."""
        value = self.constants.value(eclass)
        if value is None or not value.size or (value != value.flat[0]).any():
            return None
        return int(np.asarray(value).flat[0])
