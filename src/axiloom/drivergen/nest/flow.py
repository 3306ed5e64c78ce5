"""What a flow sends and receives of an annotated op, from its trait and its maps: nothing is placed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.match.matmul import terms
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.framing import padded
from axiloom.isa.contract.types import WORD_BITS, HostAction, Recv, Scope, SendIdx
from axiloom.isa.contract.types import Send as SendAction
from axiloom.plan import Command, Level, Plan, Receive, Region, Send, Span, Words
from axiloom.plan.tree import Move

BEFORE_LOOPS = -1
"""The level of the init opcodes."""


class Tiles:
    """The tiles of each operand (by number) that travel at a level: -1 in front of all loops."""

    def __init__(self, trait: Trait, maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> None:
        self.trait, self.maps, self.shapes = trait, maps, shapes

    def axes(self, number: int) -> list[str | None]:
        """For each dim of an operand's memref, the dim of its tile; None: only loops of the host move it."""
        return [self.trait.axis(number, expression) for expression in self.maps[number].results]

    def permutation(self, number: int) -> list[int]:
        """For each dim of an operand's tile as it travels, the dim of the view."""
        axes = [axis for axis in self.axes(number) if axis is not None]
        return [axes.index(d) for d in self.trait.operands[number].dims]

    def inside(self, number: int, level: int) -> set[str]:
        """Dims of an operand whose loops are inside `level`: all of them travel at once."""
        if not self.trait.saves:
            return set()
        outer = {self.trait.dims[loop] for loop in self.trait.order[: level + 1]}
        moved = {self.trait.dims[loop] for loop in self.trait.order} - outer
        return moved & set(self.trait.operands[number].dims)

    def shape(self, number: int, level: int) -> list[int]:
        """Shape of what travels of an operand."""
        inside = self.inside(number, level)
        whole = dict(zip(self.axes(number), self.shapes[number], strict=True))
        dims = self.trait.operands[number].dims
        return [whole[d] if d in inside else self.trait.size(d) for d in dims]

    def dense(self, number: int) -> accel.DenseAttr | None:
        name = self.trait.operands[number].operand
        if name not in self.trait.dense:
            return None
        return accel.DenseAttr((self.trait.dense[name], self.trait.stream_width))


def received_once(trait: Trait, output: AffineMap, trips: Callable[[int], int]) -> bool:
    """Does each tile of the result come back once? `trips`: iterations of a loop, by its number."""
    number = len(trait.operands) - 1
    levels = [
        len(trait.order) - trait.flow.depth + depth - 1
        for name, depth in trait.flow.opcodes()
        for action in trait.opcodes[name]
        if isinstance(action, Recv) and trait.operand(action.operand) == number
    ]
    if len(levels) != 1:
        return False
    moving = {result.position for result in output.results if isinstance(result, AffineDimExpr)}
    return all(loop in moving or trips(loop) == 1 for loop in trait.order[: levels[0] + 1])


@dataclass(frozen=True)
class Operand:
    """An array of an annotated op."""

    source: object
    """Two operands are the same array where this is the same."""
    shape: tuple[int, ...]
    strides: tuple[int | None, ...] | None
    """In elements; None: not known."""
    bits: int
    begin: int = 0
    """Bytes that divide where it begins in the function's argument."""


class Site(NamedTuple):
    """An opcode in a flow."""

    name: str
    level: int
    behind: bool
    """Behind the loop inside."""


@dataclass(frozen=True)
class Placed(Region):
    """A region of an annotated op; `tile` says whether a descriptor can express it."""

    tile: Tile = field(kw_only=True)


class Placement:
    """An annotated op (or a part of it, see accel-split) as accel-place-flow would place it.

    `sizes`: of its loops. `overwrites`: results take the place of what was there. `overlap`:
    accel-overlap-edges follows.
    """

    def __init__(
        self,
        trait: Trait,
        maps: Sequence[AffineMap],
        sizes: Sequence[int],
        operands: Sequence[Operand],
        *,
        overwrites: bool,
        overlap: bool = False,
    ) -> None:
        self.trait, self.maps, self.sizes, self.operands = trait, maps, sizes, operands
        self.overwrites = overwrites
        self.tiles = Tiles(trait, maps, [operand.shape for operand in operands])
        self.overlapped = {loop for loop in trait.order if overlap and self._may_overlap(loop)}

    def trips(self, loop: int) -> int:
        return -(-self.sizes[loop] // self.trait.tile[loop])

    def plan(self) -> Plan:
        """What is moved; regions are `Placed`."""
        order = self.trait.order
        pre: list[list[Command]] = [[] for _ in order]
        post: list[list[Command]] = [[] for _ in order]
        before: list[Command] = []
        for site in self._sites:
            at = before if site.level == BEFORE_LOOPS else (post if site.behind else pre)[site.level]
            at.append(self._command(site))
        levels = (
            Level(self.trait.dims[loop], self.trips(loop), tuple(own), tuple(behind))
            for loop, own, behind in zip(order, pre, post, strict=True)
        )
        return Plan.of(list(levels), before)

    # --- opcodes --------------------------------------------------------------------------------------

    @cached_property
    def _sites(self) -> list[Site]:
        trait = self.trait
        first = len(trait.order) - trait.flow.depth
        init = trait.init.opcodes() if trait.init else ()
        return [Site(name, BEFORE_LOOPS, False) for name, _ in init] + list(sites(trait.flow, first))

    def _command(self, site: Site) -> Command:
        actions = list(padded(self.trait.opcodes[site.name], self.trait.stream_width // WORD_BITS))
        answers = any(isinstance(action, Recv) for action in actions)
        loads = not answers and site.level != BEFORE_LOOPS and site.name in self.trait.loads
        return Command(site.name, tuple(self._move(action, site.level) for action in actions), loads)

    def _move(self, action: HostAction, level: int) -> Move:
        if isinstance(action, SendAction):
            region = self._region(self.trait.operand(action.operand), level)
            return Send(region.tile.words, region)
        if isinstance(action, Recv):
            region = self._region(self.trait.operand(action.operand), level)
            return Receive(region.tile.words, region, add=not self.overwrites)
        moving = [self.trait.dim(action.dim)] if isinstance(action, SendIdx) else []
        return Words(1, frozenset(self.trait.dims[loop] for loop in moving if loop in self.trait.order))

    # --- tiles ----------------------------------------------------------------------------------------

    def _region(self, number: int, level: int) -> Placed:
        operand, tile = self.operands[number], self._in_memory(number, level)
        kept = [dim for dim, axis in enumerate(self.tiles.axes(number)) if axis is not None]
        order = tuple(kept[dim] for dim in tile.permutation)
        lengths = dict(zip(order, tile.shape, strict=True))
        strides = operand.strides or (None,) * len(operand.shape)
        spans = (
            Span(lengths.get(dim, 1), size, self._steps(number, dim, level), stride)
            for dim, (size, stride) in enumerate(zip(operand.shape, strides, strict=True))
        )
        dense = tile.dense is not None
        return Placed(operand.source, tuple(spans), order, operand.bits, dense, tile=tile)

    def _steps(self, number: int, dim: int, level: int) -> tuple[tuple[str, int], ...]:
        """Loops that move a tile along a dim of its operand, by so many elements."""
        moving = self._moving(number, dim, level).items()
        return tuple((self.trait.dims[loop], factor * self.trait.tile[loop]) for loop, factor in moving)

    def _expression(self, number: int, dim: int) -> AffineExpr:
        return self.maps[number].results[dim]

    def _moving(self, number: int, dim: int, level: int) -> Mapping[int, int]:
        """Loops that move a tile along a dim of its operand, with factors; none where all of it travels."""
        if self.tiles.axes(number)[dim] in self.tiles.inside(number, level):
            return {}
        return {
            loop: factor
            for loop, factor in terms(self._expression(number, dim)).items()
            if loop in self.trait.order
        }

    def _in_memory(self, number: int, level: int) -> Tile:
        operand, axes = self.operands[number], self.tiles.axes(number)
        inside = self.tiles.inside(number, level)
        kept = [dim for dim, axis in enumerate(axes) if axis is not None]
        lengths = [
            operand.shape[dim] if axis in inside else self._length(axis)
            for dim, axis in enumerate(axes)
            if axis is not None
        ]
        strides = operand.strides
        own: tuple[int | None, ...] | None = None
        if strides is not None:
            steps = [(strides[dim], self._step(number, dim, axes[dim])) for dim in kept]
            own = tuple(None if stride is None else stride * step for stride, step in steps)
        return Tile(
            tuple(self.tiles.shape(number, level)),
            tuple(self.tiles.permutation(number)),
            self.tiles.dense(number),
            tuple(lengths),
            own,
            operand.bits,
            self._begin(number, level),
        )

    def _length(self, axis: str) -> int:
        """Elements of a tile in memory; DYNAMIC_INDEX where there are less at the edge."""
        if axis in self.trait.settings:
            return self.trait.settings[axis]
        loop = self.trait.dims.index(axis)
        tile = self.trait.tile[loop]
        if loop not in self.trait.order:
            return tile
        if loop in self.overlapped:
            return tile
        return DYNAMIC_INDEX if self._has_edge(loop) else min(tile, self.sizes[loop])

    def _step(self, number: int, dim: int, axis: str | None) -> int:
        if axis is None or axis in self.trait.settings:
            return 1
        return terms(self._expression(number, dim))[self.trait.dims.index(axis)]

    def _begin(self, number: int, level: int) -> int:
        operand = self.operands[number]
        strides = operand.strides or ()
        alignment = operand.begin
        for dim, stride in enumerate(strides):
            moving = self._moving(number, dim, level).items()
            elements = gcd(*(self._unit(loop) * factor for loop, factor in moving))
            alignment = gcd(alignment, elements * (stride or 1) * operand.bits // 8)
        return alignment

    def _unit(self, loop: int) -> int:
        """A number that divides where the tiles of a loop begin; 0 if that is always 0."""
        size, tile = self.sizes[loop], self.trait.tile[loop]
        own = 0 if size <= tile else tile
        return gcd(own, size - tile) if loop in self.overlapped else own

    # --- edges ----------------------------------------------------------------------------------------

    def _has_edge(self, loop: int) -> bool:
        size, tile = self.sizes[loop], self.trait.tile[loop]
        return size > tile and size % tile != 0

    def _may_overlap(self, loop: int) -> bool:
        """Is all that comes back in the loop overwritten, and moved by it? Then the same is written twice."""
        if not self._has_edge(loop) or not self.overwrites:
            return False
        level = self.trait.order.index(loop)
        inside = [
            (site, action)
            for site in self._sites
            if site.level >= level
            for action in self.trait.opcodes[site.name]
        ]
        if any(isinstance(action, SendIdx) and self.trait.dim(action.dim) == loop for _, action in inside):
            return False
        received = [(self.trait.operand(a.operand), s.level) for s, a in inside if isinstance(a, Recv)]
        return bool(received) and all(self._is_edge(number, loop, at) for number, at in received)

    def _is_edge(self, number: int, loop: int, level: int) -> bool:
        """Is a tile shorter at the edge of a loop?"""
        name = self.trait.dims[loop]
        inside = self.tiles.inside(number, level)
        return name in self.tiles.axes(number) and name not in inside and name not in self.trait.settings


def sites(scope: Scope, level: int) -> Iterator[Site]:
    behind = False
    for item in scope.items:
        if isinstance(item, Scope):
            yield from sites(item, level + 1)
            behind = True
        else:
            yield Site(item, level, behind)
