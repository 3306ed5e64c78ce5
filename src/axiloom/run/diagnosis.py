"""What a wrong matrix product looks like: which tiles are wrong, and a guess at the fault, which was tested.

Each guess is a fault that people make in RTL or in drivers. The product is computed once more with that
fault, tile by tile in the run's order, and compared with what came out; the guess that explains most is told.
Nothing of the simulated hardware is used, only the inputs, the tile and the order of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.run.wrong_result import moved

Matrix = NDArray[Any]
Tiles = dict[tuple[int, int], Matrix]

EXPLAINS = 0.9
"""Least part of the wrong elements that a guess must explain to be told; the rest is said."""


@dataclass(frozen=True)
class Product:
    """C (M, N) of `start` + A (M, K) . B (K, N), as an accelerator with fixed tiles computes it."""

    a: Matrix
    b: Matrix
    start: Matrix
    tile: tuple[int, int, int]
    """m, n, k"""
    order: tuple[str, ...]
    """Loops of the host, outermost first."""

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Numbers of the tiles (m, n, k), in the order of the run."""
        counts = dict(zip("mnk", self.counts, strict=True))
        for numbers in product(*(range(counts[loop]) for loop in self.order)):
            at = dict(zip(self.order, numbers, strict=True))
            yield at["m"], at["n"], at["k"]

    @property
    def counts(self) -> tuple[int, int, int]:
        (rows, depth), columns = self.a.shape, self.b.shape[1]
        sizes = (rows, columns, depth)
        m, n, k = (-(-size // tile) for size, tile in zip(sizes, self.tile, strict=True))
        return m, n, k

    def tiles(self, operand: Matrix, rows: int, columns: int) -> Tiles:
        """Tiles by number, int64, filled up with zeros."""
        high, wide = (-(-size // tile) for size, tile in zip(operand.shape, (rows, columns), strict=True))
        whole = np.zeros((high * rows, wide * columns), np.int64)
        whole[: operand.shape[0], : operand.shape[1]] = operand
        cut = whole.reshape(high, rows, wide, columns).swapaxes(1, 2)
        return {at: cut[at] for at in np.ndindex(high, wide)}


@dataclass(frozen=True)
class Faults:
    """How a run differs from a right one; the defaults are right."""

    a: Callable[[Matrix], Matrix] = lambda tile: tile
    b: Callable[[Matrix], Matrix] = lambda tile: tile
    c: Callable[[Matrix], Matrix] = lambda tile: tile
    late: str = ""
    """Operands of which the tile of the step before is used."""
    kept: bool = False
    """Sums go on from one tile of the result to the next."""
    previous: bool = False
    """A tile of the result is the one before it."""
    scale: int = 1
    starts: int = 1
    """How often what was in C is added."""
    without: str = ""
    """``first`` or ``last``: a tile along k that is left out."""
    replaces: bool = False
    """A tile of the result takes the place of what was in C, and is not added."""
    swapped: bool = False
    """A stands for B and B for A."""
    bits: int = 32
    """Of sums; those of fewer wrap."""
    saturates: int = 0
    """Bits at which sums stop; 0: they wrap."""
    apart: bool = False
    """Both are done to what each tile along k gives, not to the sum of all."""


def computed(matmul: Product, faults: Faults) -> Matrix:
    """C as it is with these faults: int32, its tiles cut off where the matrix ends."""
    m, n, k = matmul.tile
    a, b, c = (
        matmul.tiles(matmul.a, m, k),
        matmul.tiles(matmul.b, k, n),
        matmul.tiles(matmul.start, m, n),
    )
    sums: Tiles = {at: np.zeros((m, n), np.int64) for at in c}
    last_a, last_b = np.zeros((m, k), np.int64), np.zeros((k, n), np.int64)
    running, done = np.zeros((m, n), np.int64), []
    for i, j, step in matmul.steps():
        x, y = a[i, step], b[step, j]
        if faults.swapped and x.shape == y.shape:
            x, y = y, x
        used_a, used_b = (last_a if "A" in faults.late else x), (last_b if "B" in faults.late else y)
        last_a, last_b = x, y
        if (faults.without, step) in (("first", 0), ("last", matmul.counts[2] - 1)):
            continue
        part = faults.c(faults.a(used_a) @ faults.b(used_b)) * faults.scale
        if faults.apart:
            part = _cut(part, faults)
        if faults.kept:
            running = running + part
            part = running
        sums[i, j] = part if faults.replaces else sums[i, j] + part
        done.append((i, j))
    if faults.previous:
        places = list(dict.fromkeys(done))
        shifted = {at: sums[before] for before, at in pairwise(places)}
        sums = {at: shifted.get(at, np.zeros((m, n), np.int64)) for at in sums}
    whole = np.zeros((matmul.counts[0] * m, matmul.counts[1] * n), np.int64)
    for (i, j), tile in sums.items():
        whole[i * m : (i + 1) * m, j * n : (j + 1) * n] = tile if faults.apart else _cut(tile, faults)
    rows, columns = matmul.start.shape
    return (whole[:rows, :columns] + faults.starts * matmul.start.astype(np.int64)).astype(np.int32)


def _cut(tile: Matrix, faults: Faults) -> Matrix:
    if faults.saturates:
        half = 1 << (faults.saturates - 1)
        return tile.clip(-half, half - 1)
    half = 1 << (faults.bits - 1)
    return (tile + half & 2 * half - 1) - half


def _turned(tile: Matrix) -> Matrix:
    return tile.T if tile.shape[0] == tile.shape[1] else tile


def _moved(by: int) -> Callable[[Matrix], Matrix]:
    return lambda tile: moved(tile.ravel(), by).reshape(tile.shape)


def _rolled(by: int) -> Callable[[Matrix], Matrix]:
    return lambda tile: np.roll(tile.ravel(), by).reshape(tile.shape)


def _dropped(axis: int, at: int) -> Callable[[Matrix], Matrix]:
    def drop(tile: Matrix) -> Matrix:
        cleared = tile.copy()
        cleared[(slice(None),) * axis + (at,)] = 0
        return cleared

    return drop


def _unsigned(bits: int) -> Callable[[Matrix], Matrix]:
    return lambda tile: tile & (1 << bits) - 1


_WHERE = {False: "", True: " in each tile along k"}


def guesses(bits: int) -> dict[str, Faults]:
    """Sentence to fault. `bits`: of the inputs."""
    faults = {
        "A's tile is transposed": Faults(a=_turned),
        "B's tile is transposed": Faults(b=_turned),
        "C's tile is transposed": Faults(c=_turned),
        "A and B are exchanged": Faults(swapped=True),
        "A is one tile late: the tile of the step before is used": Faults(late="A"),
        "B is one tile late: the tile of the step before is used": Faults(late="B"),
        "C is one tile late: the tile before it comes out": Faults(previous=True),
        "C is not cleared: sums go on from one step to the next": Faults(kept=True),
        "A is shifted: its words come one place late": Faults(a=_moved(1)),
        "A is shifted: its words come one place early": Faults(a=_moved(-1)),
        "B is shifted: its words come one place late": Faults(b=_moved(1)),
        "B is shifted: its words come one place early": Faults(b=_moved(-1)),
        "C is shifted: its words come one place late": Faults(c=_moved(1)),
        "C is shifted: its words come one place early": Faults(c=_moved(-1)),
        "C's columns come in reverse order": Faults(c=lambda tile: tile[:, ::-1]),
        "C's rows come in reverse order": Faults(c=lambda tile: tile[::-1]),
        "the first k of each tile is left out": Faults(a=_dropped(1, 0)),
        "the last k of each tile is left out": Faults(a=_dropped(1, -1)),
        "the first tile along k is left out": Faults(without="first"),
        "the last tile along k is left out": Faults(without="last"),
        "the sign is wrong: products are subtracted": Faults(scale=-1),
        "each product is counted twice": Faults(scale=2),
        "what was in C is not added": Faults(starts=0),
        "a result is not added to C but takes its place: the last tile along k stands alone": Faults(
            replaces=True, starts=0
        ),
        "what was in C is added twice": Faults(starts=2),
        "nothing is added to C": Faults(scale=0),
    }
    for narrow, (apart, where) in product((8, 16), _WHERE.items()):
        faults |= {f"sums have {narrow} bits{where}": Faults(bits=narrow, apart=apart)}
    for limit, (apart, where) in product((8, 16, 32), _WHERE.items()):
        faults |= {f"sums saturate at {limit} bits{where}": Faults(saturates=limit, apart=apart)}
    for operand, by in product("AB", (1, -1)):
        said = (
            f"{operand} is shifted: its words come one place {'late' if by > 0 else 'early'}, around the tile"
        )
        faults |= {said: Faults(a=_rolled(by)) if operand == "A" else Faults(b=_rolled(by))}
    if bits < 32:
        faults |= {
            "the sign of A is lost: it is taken as unsigned": Faults(a=_unsigned(bits)),
            "the sign of B is lost: it is taken as unsigned": Faults(b=_unsigned(bits)),
        }
    for narrow in (8, 16):
        if narrow < bits:
            faults |= {
                f"A has {narrow} bits": Faults(a=_narrow(narrow)),
                f"B has {narrow} bits": Faults(b=_narrow(narrow)),
                f"A has {narrow} bits, without a sign": Faults(a=_unsigned(narrow)),
                f"B has {narrow} bits, without a sign": Faults(b=_unsigned(narrow)),
            }
    return faults


def _narrow(bits: int) -> Callable[[Matrix], Matrix]:
    half = 1 << (bits - 1)
    return lambda tile: (tile + half & 2 * half - 1) - half


def diagnosis(matmul: Product, got: Matrix, want: Matrix, bits: int) -> list[str]:
    """Lines for people: where C is wrong, by tile, and the guess that explains it best, if one does."""
    bad = got != want
    if not bad.any():
        return []
    lines = [_places(matmul, bad)]
    scores = {text: _explained(matmul, faults, got, bad) for text, faults in guesses(bits).items()}
    best = max(scores, key=lambda text: scores[text])
    if scores[best] >= EXPLAINS:
        alike = [text for text, score in scores.items() if score == scores[best]]
        part = "all" if scores[best] == 1 else f"{scores[best]:.0%} of the"
        lines.append(f"most likely {', or '.join(alike[:3])} (computed so, {part} wrong elements come out)")
    else:
        lines.append(f"none of {len(scores)} usual faults explains it")
    return lines


def _explained(matmul: Product, faults: Faults, got: Matrix, bad: NDArray[np.bool_]) -> float:
    """The part of the wrong elements that come out so; less where right ones would be wrong."""
    same = computed(matmul, faults) == got
    return float((same & bad).sum() - (~same & ~bad).sum()) / float(bad.sum())


def _places(matmul: Product, bad: NDArray[np.bool_]) -> str:
    m, n, _ = matmul.tile
    cut = matmul.tiles(bad, m, n)
    wrong = [at for at, tile in cut.items() if tile.any()]
    first = ", ".join(str(at * size) for at, size in zip(wrong[0], (m, n), strict=True))
    inside = np.logical_or.reduce([cut[at].astype(bool) for at in wrong])
    text = f"{len(wrong):,} of {len(cut):,} tiles of C ({m} x {n}) are wrong, the first from [{first}]"
    return text + _part(inside, ("row", "column"))


def _part(inside: NDArray[np.bool_], names: Sequence[str]) -> str:
    """Where in its tile C is wrong, if that is a part only."""
    for axis, name in enumerate(names):
        hit = np.flatnonzero(inside.any(axis=1 - axis))
        if 0 < len(hit) <= max(1, inside.shape[axis] // 4) < inside.shape[axis]:
            which = ", ".join(map(str, hit[:4])) + (", ..." if len(hit) > 4 else "")
            return f", only in {name} {which} of a tile"
    return ""


def of_run(
    sizes: Mapping[str, int], tile: Sequence[int], order: Sequence[str], arrays: Sequence[Matrix]
) -> Product | None:
    """The product that a run computed on A, B and C; None for what is no plain matrix product."""
    if set(sizes) != set("mnk") or len(arrays) != 3 or len(tile) != 3:
        return None
    a, b, start = arrays
    shapes = (sizes["m"], sizes["k"]), (sizes["k"], sizes["n"]), (sizes["m"], sizes["n"])
    if (a.shape, b.shape, start.shape) != shapes or any(
        matrix.dtype.kind not in "iu" for matrix in (a, b, start)
    ):
        return None
    m, n, k = tile
    return Product(a, b, start, (m, n, k), tuple(loop for loop in order if loop in "mnk"))
