"""What a nest moves, in numbers: how many words a loop sends and receives, and which loops they depend on.

Costs are computed from these numbers. They come from placed transfers (:meth:`Nest.moves`), or from the trait
and the indexing maps of an op before anything is placed (``flow.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from axiloom.drivergen.nest.matrix import Matrix
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.types import DmaConfig


@dataclass(frozen=True)
class Move:
    """Words that are staged or received in each iteration of a loop."""

    words: int
    loops: frozenset[int]
    """Numbers of the loops that the words (or the place for them) depend on."""
    sent: bool = True
    source: object = None
    """The array whose tile it is; None: it is a word."""
    begins: bool = False
    """It carries the name of its opcode."""
    transfer: int = 0
    """A number that the words of one transfer share."""
    loads: bool = False
    """Of an opcode that only loads operands."""
    tile: Tile | None = None
    """How it lies in memory; None in the numbers of transfers that are placed, which say so themselves."""
    matrix: Matrix | None = None
    """For estimates of caches: a matrix whose rows lie in one piece. Its level is not the move's."""

    @property
    def is_tile(self) -> bool:
        return self.source is not None

    @property
    def is_dense(self) -> bool:
        return self.tile is not None and self.tile.dense is not None


@dataclass(frozen=True)
class Loop:
    """What is moved in front of the loop inside it, and behind."""

    trips: int
    pre: tuple[Move, ...] = ()
    post: tuple[Move, ...] = ()

    @property
    def all(self) -> tuple[Move, ...]:
        return (*self.pre, *self.post)


@dataclass(frozen=True)
class Moves:
    """Loops from outside to inside; `before` them goes what leaves the outermost one."""

    levels: tuple[Loop, ...]
    dma: DmaConfig
    before: tuple[Move, ...] = ()

    @property
    def trips(self) -> list[int]:
        return [level.trips for level in self.levels]

    def items(self) -> Iterator[tuple[int, Move]]:
        """Every move in the loops, with the number of its level."""
        for number, level in enumerate(self.levels):
            for item in level.all:
                yield number, item

    def each(self, change: Callable[[Move], Move]) -> Moves:
        """With every move changed, those before the loops too."""
        levels = (
            Loop(level.trips, tuple(map(change, level.pre)), tuple(map(change, level.post)))
            for level in self.levels
        )
        return replace(self, levels=tuple(levels), before=tuple(map(change, self.before)))

    def matrices(self) -> list[Matrix]:
        return [replace(item.matrix, level=level) for level, item in self.items() if item.matrix]


def blocked(moves: Moves, loop: int, count: int) -> Moves:
    """With loop number `loop` in blocks of `count` iterations, a divisor of them.

    The loop over blocks is outermost.
    """

    def now(number: int) -> set[int]:
        return {0, number + 1} if number == loop else {number + 1}

    levels = list(_renumbered(moves, now).levels)
    trips = levels[loop].trips
    levels[loop] = replace(levels[loop], trips=count)
    return replace(moves, levels=(Loop(trips // count), *levels))


def tiled(moves: Moves, loop: int, count: int) -> Moves:
    """The same as accel-cache-tiling leaves it: blocks of one iteration have no loop inside."""
    cut = blocked(moves, loop, count)
    if count > 1:
        return cut
    gone = loop + 1
    around, own = cut.levels[gone - 1], cut.levels[gone]
    assert not around.all, "a loop in blocks is the first one with transfers in it"
    levels = (*cut.levels[: gone - 1], replace(own, trips=around.trips), *cut.levels[gone + 1 :])

    def now(number: int) -> set[int]:
        return {0} if number == gone else {number - (number > gone)}

    return _renumbered(replace(cut, levels=levels), now)


def _renumbered(moves: Moves, now: Callable[[int], set[int]]) -> Moves:
    def several(loops: frozenset[int]) -> frozenset[int]:
        return frozenset(one for loop in loops for one in now(loop))

    def move(item: Move) -> Move:
        matrix = item.matrix
        if matrix is not None:
            matrix = replace(matrix, moved=(several(matrix.moved[0]), several(matrix.moved[1])))
        return replace(item, loops=several(item.loops), matrix=matrix)

    return moves.each(move)


def resident(moves: Moves, *, outermost: bool = False) -> Moves:
    """As accel-residency leaves them: loads in front of the loops that do not change them."""
    levels, before = list(moves.levels), list(moves.before)
    for number in reversed(range(len(levels))):
        for load in list(_leading(levels[number].pre)):
            is_dense = all(
                item.tile is not None and item.tile.dense is not None for item in load if item.is_tile
            )
            stays = number == 0 and not (outermost and is_dense)
            if stays or not _is_resident(load, levels, number, is_dense=is_dense):
                continue
            left = tuple(item for item in levels[number].pre if item not in load)
            levels[number] = replace(levels[number], pre=left)
            moved = [replace(item, loops=item.loops - {number}) for item in load]
            if number == 0:
                before += moved
            else:
                outer = levels[number - 1]
                levels[number - 1] = replace(outer, pre=(*outer.pre, *moved))
    return replace(moves, levels=tuple(levels), before=tuple(before))


def _leading(items: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """The transfers that only load, up to the first one that does more."""
    for _, group in groupby(items, key=lambda item: item.transfer):
        load = tuple(group)
        if not load[0].loads or not all(item.sent for item in load):
            return
        yield load


def _is_resident(load: Sequence[Move], levels: Sequence[Loop], number: int, *, is_dense: bool) -> bool:
    """Does it load the same in every iteration, and nothing else in the loop load the same operand?"""
    once = levels[number].trips == 1 and is_dense
    if any(number in item.loops for item in load) and not once:
        return False
    own = {item.source for item in load if item.is_tile}
    inside = (item for level in levels[number:] for item in level.all)
    return not any(item.sent and item.source in own and item not in load for item in inside if item.is_tile)
