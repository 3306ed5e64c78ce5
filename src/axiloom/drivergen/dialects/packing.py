"""``#accel.packing``: how a constant array is packed by tiles, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Piece:
    """A tile of an array: where its first element is, sizes and strides in elements, and how it travels.

    Dim i of `shape` is dim ``permutation[i]``; zeros fill up `shape`, and what each of its `rows` leading
    dims has to beats of `beat_bits` bits.
    """

    begin: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    permutation: tuple[int, ...]
    rows: int
    beat_bits: int

    def words(self, array: Array) -> Array:
        """The words that are sent, as bytes."""
        flat = np.ascontiguousarray(array).reshape(-1)[self.begin :]
        steps = [stride * array.itemsize for stride in self.strides]
        view = np.lib.stride_tricks.as_strided(flat, self.sizes, steps, writeable=False)
        tile = np.zeros(self.shape, array.dtype)
        moved = view.transpose(self.permutation)
        tile[tuple(slice(size) for size in moved.shape)] = moved
        lines = tile.reshape(prod(self.shape[: self.rows]), -1).view(np.int8)
        unit = self.beat_bits // 8
        rest = -lines.shape[1] % unit
        return np.pad(lines, ((0, 0), (0, rest))).reshape(-1)


class Packs(Protocol):
    """How a constant array is to lie before anything runs."""

    def apply(self, array: Array) -> Array:
        """(1, elements), with the bytes of `array`."""
        ...


@dataclass(frozen=True)
class Packing:
    """All tiles of an array in the order in which they lie in the packed one."""

    pieces: tuple[Piece, ...]

    def apply(self, array: Array) -> Array:
        """(1, bytes) int8."""
        return np.concatenate([piece.words(array) for piece in self.pieces]).reshape(1, -1)


def _runs(begins: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Numbers as runs: first, step, count."""
    at = 0
    while at < len(begins):
        step = begins[at + 1] - begins[at] if at + 1 < len(begins) else 0
        count = 1
        while at + count < len(begins) and begins[at + count] == begins[at] + count * step:
            count += 1
        yield begins[at], step, count
        at += count


@irdl_attr_definition
class PackingAttr(Data[Packing]):
    """Of an argument: the tiles of the array that it was, one behind the other.

    ::

        #accel.packing<[4, 4] strides [6, 1] as [4, 4] permutation [0, 1] rows 0 beats of 32
                       from [0 step 24 times 2]>

    Tiles that differ only in where they begin stand together; other ones follow behind a comma.
    """

    name = "accel.packing"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Packing:
        with parser.in_angle_brackets():
            groups = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: tuple(_parse_group(parser))
            )
        return Packing(tuple(piece for group in groups for piece in group))

    def print_parameter(self, printer: Printer) -> None:
        groups = groupby(self.data.pieces, key=lambda piece: replace(piece, begin=0))
        text = (_group_text(form, [piece.begin for piece in group]) for form, group in groups)
        printer.print_string(f"<{', '.join(text)}>")


def _group_text(form: Piece, begins: Sequence[int]) -> str:
    runs = (
        str(first) if count == 1 else f"{first} step {step} times {count}"
        for first, step, count in _runs(begins)
    )
    return (
        f"{list(form.sizes)} strides {list(form.strides)} as {list(form.shape)} "
        f"permutation {list(form.permutation)} rows {form.rows} beats of {form.beat_bits} "
        f"from [{', '.join(runs)}]"
    )


def _parse_group(parser: AttrParser) -> Iterator[Piece]:
    def numbers(*keywords: str) -> tuple[int, ...]:
        for keyword in keywords:
            parser.parse_keyword(keyword)
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number))

    def number(*keywords: str) -> int:
        for keyword in keywords:
            parser.parse_keyword(keyword)
        return parser.parse_integer(allow_boolean=False, allow_negative=False)

    def run() -> list[int]:
        first = number()
        if parser.parse_optional_keyword("step") is None:
            return [first]
        step, count = parser.parse_integer(allow_boolean=False), number("times")
        return [first + step * turn for turn in range(count)]

    form = Piece(
        0,
        numbers(),
        numbers("strides"),
        numbers("as"),
        numbers("permutation"),
        number("rows"),
        number("beats", "of"),
    )
    parser.parse_keyword("from")
    for begins in parser.parse_comma_separated_list(parser.Delimiter.SQUARE, run):
        yield from (replace(form, begin=begin) for begin in begins)
