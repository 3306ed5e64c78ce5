"""What a wrong result of a kernel that is no matrix product looks like: where, and a guess that was tested.

Each guess is a fault of an operand or of the result: words one place late, the tile of the step before, a
lost sign. The kernel is computed once more by its MLIR with that operand, and compared with what came out;
the guess that explains most is told. Tiles are counted along the arrays as they lie in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Change = Callable[[Array, int], Array]
"""A flat array and the elements of a tile, to the array with a fault."""
EXPLAINS = 0.9
"""Least part of the wrong elements that a guess must explain to be told."""
MOST = 1 << 20
"""Elements of a result for which guesses are tried."""
_LARGEST = 10
"""Numbers in a ratio that is told are below it."""
_FEW = 64
"""Elements that a ratio is tried on first."""


@dataclass(frozen=True)
class Computed:
    """A run of a kernel: its operands by symbol, and how NumPy computes the result from them."""

    inputs: Mapping[str, Array]
    names: Mapping[str, str]
    """Symbol to what the driver calls it."""
    result: str
    """Name of the result."""
    tile: int
    """Elements of the result that one instruction gives."""
    compute: Callable[[Mapping[str, Array]], Array]

    def tile_of(self, operand: Array, result: Array) -> int:
        """Elements of an operand that go with a tile: all, where it has no element for each of the result."""
        return self.tile if operand.size == result.size else operand.size


def _in_tiles(array: Array, tile: int, change: Callable[[Array], Array]) -> Array:
    return np.concatenate([change(array[i : i + tile]) for i in range(0, array.size, tile)])


def _moved(by: int) -> Change:
    return lambda array, tile: _in_tiles(array, tile, lambda part: moved(part, by))


def moved(words: Array, by: int) -> Array:
    """A flat array whose words come `by` places late, early if negative; what is missing is 0."""
    shifted = np.zeros_like(words)
    if by > 0:
        shifted[by:] = words[:-by]
    else:
        shifted[:by] = words[-by:]
    return shifted


def _tile_late(array: Array, tile: int) -> Array:
    late = np.zeros_like(array)
    late[tile:] = array[:-tile] if tile < array.size else 0
    return late


def _narrow(bits: int, signed: bool) -> Change:
    def cut(array: Array, tile: int) -> Array:
        low = array.astype(np.int64) & (1 << bits) - 1
        if signed:
            low = (low ^ 1 << (bits - 1)) - (1 << (bits - 1))
        return low.astype(array.dtype)

    return cut


def _saturated(bits: int) -> Change:
    half = 1 << (bits - 1)
    return lambda array, tile: array.clip(-half, half - 1)


_BOTH: Mapping[str, Change] = {
    "{} is shifted: its words come one place late in each tile": _moved(1),
    "{} is shifted: its words come one place early in each tile": _moved(-1),
    "{} is one tile late: the tile of the step before is used": _tile_late,
    "{} comes in reverse order in each tile": lambda array, tile: _in_tiles(
        array, tile, lambda words: words[::-1]
    ),
    "the sign of {} is wrong": lambda array, tile: -array,
    "{} is 0: nothing arrives": lambda array, tile: np.zeros_like(array),
}
"""Of operands and of the result."""


def _changes(array: Array) -> Iterator[tuple[str, Change]]:
    yield from _BOTH.items()
    bits = array.dtype.itemsize * 8
    for narrow in (width for width in (8, 16) if width < bits):
        yield f"{{}} has {narrow} bits", _narrow(narrow, True)
        yield f"{{}} has {narrow} bits, without a sign", _narrow(narrow, False)


def _guesses(run: Computed, want: Array) -> Iterator[tuple[str, Array]]:
    """Sentences, and the result with that fault."""
    flat = want.ravel()
    for text, change in (*_changes(want), *((f"{{}} saturates at {b} bits", _saturated(b)) for b in (8, 16))):
        yield text.format(run.result), change(flat, run.tile).reshape(want.shape)
    for symbol, operand in run.inputs.items():
        tile = run.tile_of(operand, want)
        for text, change in _changes(operand):
            faulty = change(operand.ravel(), tile).reshape(operand.shape)
            yield text.format(run.names[symbol]), run.compute({**run.inputs, symbol: faulty})
    for (left, x), (right, y) in _pairs(run.inputs):
        swapped = run.compute({**run.inputs, left: y, right: x})
        yield f"{run.names[left]} and {run.names[right]} are exchanged", swapped
        for kept, name in ((x, run.names[left]), (y, run.names[right])):
            alone = f"{name} stands for both {run.names[left]} and {run.names[right]}"
            yield alone, run.compute({**run.inputs, left: kept, right: kept})


def _pairs(inputs: Mapping[str, Array]) -> Iterator[tuple[tuple[str, Array], tuple[str, Array]]]:
    every = list(inputs.items())
    for number, (left, x) in enumerate(every):
        for right, y in every[number + 1 :]:
            if (x.shape, x.dtype) == (y.shape, y.dtype):
                yield (left, x), (right, y)


def _ratio(got: Array, want: Array) -> str:
    """That all is a multiple of what it should be, in the bits of the result, where it is."""
    mask = (1 << got.dtype.itemsize * 8) - 1
    actual, right = got.ravel().astype(np.int64), want.ravel().astype(np.int64)

    def is_so(above: int, below: int, n: int | None) -> bool:
        return not ((actual[:n] * below - right[:n] * above) & mask).any()

    for below, above in product(range(1, _LARGEST), range(1, _LARGEST)):
        if above != below and is_so(above, below, _FEW) and is_so(above, below, None):
            return f"each element is {Fraction(above, below)} of what it should be"
    return ""


def diagnosis(run: Computed, got: Array, want: Array) -> list[str]:
    """Lines for people: where the result is wrong, and the guess that explains it best, if one does."""
    bad = got != want
    if not bad.any() or got.dtype.kind not in "iu":
        return []
    lines = [_places(run, bad)]
    if want.size > MOST:
        return lines
    if ratio := _ratio(got, want):
        return [*lines, f"most likely {ratio} (all wrong elements come out so)"]
    scores = {text: _explained(faulty, got, bad) for text, faulty in _guesses(run, want)}
    best = max(scores, key=lambda text: scores[text])
    if scores[best] < EXPLAINS:
        return [*lines, f"none of {len(scores)} usual faults explains it"]
    alike = [text for text, score in scores.items() if score == scores[best]]
    part = "all" if scores[best] == 1 else f"{scores[best]:.0%} of the"
    return [*lines, f"most likely {', or '.join(alike[:3])} (computed so, {part} wrong elements come out)"]


def _explained(faulty: Array, got: Array, bad: NDArray[np.bool_]) -> float:
    """The part of the wrong elements that come out so; less where right ones would be wrong."""
    same = faulty == got
    return float((same & bad).sum() - (~same & ~bad).sum()) / float(bad.sum())


def _places(run: Computed, bad: NDArray[np.bool_]) -> str:
    flat = bad.ravel()
    wrong = [i for i in range(0, flat.size, run.tile) if flat[i : i + run.tile].any()]
    tiles = -(-flat.size // run.tile)
    inside = sorted({int(i) % run.tile for i in np.flatnonzero(flat)})
    few = len(inside) <= max(1, run.tile // 4) and run.tile > 1
    which = ", ".join(map(str, inside[:4])) + (", ..." if len(inside) > 4 else "")
    only = f", only in element {which} of a tile" if few else ""
    return (
        f"{len(wrong):,} of {tiles:,} tiles of {run.result} ({run.tile} elements) are wrong, "
        f"the first from element {wrong[0]}{only}"
    )
