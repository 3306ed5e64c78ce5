"""How an accelerator can be used for a problem: every flow, loop order and tile, and which to take.

`candidates` lists them, `published_best` and `squares` are what the paper chooses by, and
:mod:`axiloom.drivergen.cost.model` says how long each takes.

Ranking has two steps. An array model ranks all candidates. The best 32 are replayed step by step on the
simulator's own caches (``cosim/replay``). Neighbours are 1 to 2 % apart, and no constants for misses were
good enough: conflicts in sets, the order of polls and the blocks of ``cache-tiling`` decide. If the
paper's ``Best`` is within 1 % of the first, it is taken. On the problems of the fit, no choice is then
slower than ``Best``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from axiloom import isa
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec

Tile = tuple[int, ...]

SQUARE = 32
"""Side of the tile of the paper's heuristics As, Bs, Cs on v4_16 (its figure 14)."""


@dataclass(frozen=True)
class Candidate:
    """One way to use the accelerator; `order` from outside to inside, `tile` as the specification's dims."""

    flow: str
    order: tuple[str, ...]
    tile: Tile

    def __str__(self) -> str:
        return f"{self.flow} {','.join(self.order)} {'x'.join(map(str, self.tile))}"


def tiles(spec: AcceleratorSpec, problem: Problem, *, dividing: bool = False) -> list[Tile]:
    """Tiles for a problem: for each number of tiles along a dim the smallest one, if it fits the device.

    A larger tile with as many trips only moves more padding. `dividing`: only tiles that divide the problem
    (rounded up to the granule). Fixed tiles: the one there is.
    """
    if spec.tile.granule is None:
        return [spec.tile.size]
    choices = []
    for size, unit in zip(sizes(spec, problem), spec.tile.granule, strict=True):
        units = -(-size // unit)
        counts = {-(-units // trips) for trips in range(1, units + 1)}
        choices.append([unit * count for count in sorted(counts) if not dividing or units % count == 0])
    # Most tiles that are too large are refused quickly; `isa.check_tile` has the last word.
    rooms = [
        ([spec.dims.index(dim) for dim in spec.data[operand]], words * spec.operand_type(operand).per_word)
        for operand, words in spec.buffers.items()
        if operand in spec.data
    ]
    roomy = (
        tile
        for tile in product(*choices)
        if all(prod(tile[dim] for dim in dims) <= elements for dims, elements in rooms)
    )
    return [tile for tile in roomy if not isa.check_tile(spec, tile)]


def sizes(spec: AcceleratorSpec, problem: Problem) -> tuple[int, ...]:
    """Sizes of the problem in the order of the specification's dims."""
    named = {"m": problem.M, "n": problem.N, "k": problem.K}
    return tuple(named[dim] for dim in spec.dims)


def schedules(spec: AcceleratorSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every flow with every loop order under which it is right."""
    for flow in spec.flows:
        for order in isa.loop_orders(spec, flow):
            yield flow, order


def candidates(spec: AcceleratorSpec, problem: Problem, *, dividing: bool = False) -> list[Candidate]:
    """All flows, their loop orders, and `tiles`."""
    every = tiles(spec, problem, dividing=dividing)
    return [Candidate(flow, order, tile) for flow, order in schedules(spec) for tile in every]


def reads_in_place(spec: AcceleratorSpec, problem: Problem, tile: Tile) -> bool:
    """Whether zero copy reads A and B in place, except for tiles at an edge; if not, `all` is `copying`.

    Rows must be whole beats of the stream, and tiles no larger than the matrix: see `queue` of accel-place.
    """
    size = dict(zip(spec.dims, sizes(spec, problem), strict=True))
    part = dict(zip(spec.dims, tile, strict=True))
    sent = {operand for opcode in spec.opcodes.values() for operand in opcode.sends}
    for operand in sent:
        dims = spec.data[operand]
        if size[dims[-1]] * spec.operand_type(operand).bits % spec.link.stream_width:
            return False
        if any(size[dim] < part[dim] for dim in dims):
            return False
    return True


# --- what the paper chooses by -----------------------------------------------------------------------


def published_words(flow: str, sizes: Mapping[str, int], tile: Mapping[str, int]) -> float:
    """Words moved by the paper's formulas for a tile that divides the problem (flow As, Bs or Cs).

    They count each C twice: once in, once out.
    """
    M, N, K = (sizes[dim] for dim in "mnk")
    m, n, k = (tile[dim] for dim in "mnk")
    formulas: Mapping[str, float] = {
        "As": M * K + M / m * K * N + 2 * K / k * M * N,
        "Bs": N / n * M * K + K * N + 2 * K / k * M * N,
        "Cs": N / n * M * K + M / m * K * N + 2 * M * N,
    }
    return formulas[flow]


def published_best(spec: AcceleratorSpec, problem: Problem) -> Candidate | None:
    """The paper's `Best`: flow and dividing tile with the fewest words moved; ties go to fewer tiles.

    The paper's problems are multiples of the granule; others are rounded up here. None where the
    accelerator has none of the flows As, Bs, Cs.
    """
    flows = [flow for flow in ("As", "Bs", "Cs") if flow in spec.flows]
    units = spec.tile.granule or spec.tile.size
    whole = [-(-size // unit) * unit for size, unit in zip(sizes(spec, problem), units, strict=True)]

    def rank(choice: tuple[str, Tile]) -> tuple[float, int]:
        flow, tile = choice
        count = prod(size // part for size, part in zip(whole, tile, strict=True))
        named = dict(zip(spec.dims, whole, strict=True)), dict(zip(spec.dims, tile, strict=True))
        return published_words(flow, *named), count

    choices = [(flow, tile) for flow in flows for tile in tiles(spec, problem, dividing=True)]
    if not choices:
        return None
    flow, tile = min(choices, key=rank)
    return Candidate(flow, isa.loop_orders(spec, flow)[0], tile)


def squares(spec: AcceleratorSpec, problem: Problem, side: int = SQUARE) -> list[Candidate]:
    """The paper's heuristics: each flow with square tiles of `side`, or as much of it as the problem has."""
    granule = spec.tile.granule
    if granule is None:
        tile = spec.tile.size
    else:
        whole = zip(sizes(spec, problem), granule, strict=True)
        tile = tuple(min(side, -(-size // unit) * unit) for size, unit in whole)
    if isa.check_tile(spec, tile):
        return []
    flows = [flow for flow in ("As", "Bs", "Cs") if flow in spec.flows]
    return [Candidate(flow, isa.loop_orders(spec, flow)[0], tile) for flow in flows]
