"""The plan of an annotated op, from its trait and its maps: what a flow sends and receives, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.match import registers
from axiloom.drivergen.match.matmul import terms
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.tile import Tile
from axiloom.isa.contract.framing import padded
from axiloom.isa.contract.types import WORD_BITS, HostAction, Recv, Scope, SendDim, SendIdx, SendLiteral
from axiloom.isa.contract.types import Send as SendAction
from axiloom.plan import Command, Field, Level, Plan, Receive, Region, Register, Send, Span, Words
from axiloom.plan.tree import Move, Word

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
    steps: tuple[int, ...] = field(kw_only=True)
    """Elements of the array from one of the region to the next, axis by axis."""
    edges: tuple[str | None, ...] = field(kw_only=True)
    """The loop whose rest an axis is as long as; None: its length is always the same."""
    whole: bool = field(default=False, kw_only=True)
    """The device takes all of an axis that a loop of its own runs along."""
    operand: str = field(default="", kw_only=True)
    """The trait's name of it."""

    @cached_property
    def flat(self) -> Tile:
        """As a matrix, where it lies in memory as one."""
        return self.tile.flat()

    @property
    def is_reshaped(self) -> bool:
        """Has it other dims as a matrix?"""
        flat = self.flat
        return flat is not self.tile and (len(self.tile.shape) > 2 or flat.shape[0] != self.tile.shape[0])

    def kind(self, element: Attribute) -> MemRefType[Attribute]:
        """Type of a view of it."""
        assert self.tile.strides is not None
        return MemRefType(element, self.tile.lengths, StridedLayoutAttr(self.tile.strides, None))


def placed(move: Send | Receive) -> Placed:
    assert isinstance(move.region, Placed)
    return move.region


class Placement:
    """An annotated op (or a part of it, see accel-split) and its plan.

    `sizes`: of its loops. Results take the place of what was there if they `overwrite`; or if that is zeros
    (`fresh`), and each tile comes back once: then no zeros are written at all.

    `overlap`: a tile that would reach over an edge of a result begins earlier, so that it is whole. Some
    results are computed twice (0.7 % of TinyBERT's vocabulary), and the same numbers are written again: there
    is no padded buffer, and the CPU closes no gaps between rows. Only dims of results that overwrite overlap.
    """

    def __init__(
        self,
        trait: Trait,
        maps: Sequence[AffineMap],
        sizes: Sequence[int],
        operands: Sequence[Operand],
        *,
        overwrite: bool,
        fresh: bool,
        overlap: bool = False,
    ) -> None:
        self.trait, self.maps, self.sizes, self.operands = trait, maps, sizes, operands
        self.overwrites = overwrite or (fresh and self.receives_once)
        self.tiles = Tiles(trait, maps, [operand.shape for operand in operands])
        self.overlapped = {loop for loop in trait.order if overlap and self._may_overlap(loop)}

    def trips(self, loop: int) -> int:
        return -(-self.sizes[loop] // self.trait.tile[loop])

    @cached_property
    def receives_once(self) -> bool:
        """Does each tile of the result come back once?"""
        number = len(self.trait.operands) - 1
        levels = [
            site.level
            for site in sites(self.trait.flow, len(self.trait.order) - self.trait.flow.depth)
            for action in self.trait.opcodes[site.name]
            if isinstance(action, Recv) and self.trait.operand(action.operand) == number
        ]
        if len(levels) != 1:
            return False
        results = self.maps[-1].results
        moving = {result.position for result in results if isinstance(result, AffineDimExpr)}
        return all(loop in moving or self.trips(loop) == 1 for loop in self.trait.order[: levels[0] + 1])

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
            Level(
                self.trait.dims[loop],
                self.trips(loop),
                tuple(own),
                tuple(behind),
                self.trait.tile[loop],
                self.sizes[loop],
            )
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
        return Command(
            site.name,
            tuple(self._move(action, site) for action in actions),
            not answers and site.level != BEFORE_LOOPS and site.name in self.trait.loads,
            self._accesses(site, "before"),
            self._accesses(site, "after"),
        )

    def _accesses(self, site: Site, where: str) -> tuple[Register, ...]:
        text = self.trait.registers.get(f"{site.name} {where}")
        return tuple(Register(*access) for access in registers.read(text)) if text else ()

    def _move(self, action: HostAction, site: Site) -> Move:
        if isinstance(action, SendAction | Recv):
            number = self.trait.operand(action.operand)
            region = self._region(number, site.level)
            by = next(iter(self._accesses(site, f"of {region.operand}")), None)
            if isinstance(action, SendAction):
                return Send(region.tile.words, region, by)
            return Receive(region.tile.words, region, add=not self.overwrites, by=by)
        if isinstance(action, SendIdx):
            loop = self.trait.dim(action.dim)
            name = self.trait.dims[loop]
            return Words(1, frozenset({name} if loop in self.trait.order else ()), (name,))
        value: Word = action.value if isinstance(action, SendLiteral) else self._fields(action)
        return Words(1, values=(value,))

    def _fields(self, action: SendDim) -> tuple[Field, ...]:
        return tuple(Field(self.trait.size(part.dim), part.shift) for part in action.fields)

    # --- tiles ----------------------------------------------------------------------------------------

    def _region(self, number: int, level: int) -> Placed:
        operand, tile = self.operands[number], self._in_memory(number, level)
        kept = [dim for dim, axis in enumerate(self.tiles.axes(number)) if axis is not None]
        order = tuple(kept[dim] for dim in tile.permutation)
        lengths = dict(zip(order, tile.shape, strict=True))
        strides = operand.strides or (None,) * len(operand.shape)
        spans = (
            self._span(lengths.get(dim, 1), size, stride, self._moving(number, dim, level))
            for dim, (size, stride) in enumerate(zip(operand.shape, strides, strict=True))
        )
        axes, inside = self.tiles.axes(number), self.tiles.inside(number, level)
        edges = dict(zip(kept, (n == DYNAMIC_INDEX for n in tile.lengths), strict=True))
        return Placed(
            operand.source,
            tuple(spans),
            order,
            operand.bits,
            tile.dense is not None,
            tile=tile,
            steps=tuple(self._step(number, dim, axis) for dim, axis in enumerate(axes)),
            edges=tuple(axis if edges.get(dim) else None for dim, axis in enumerate(axes)),
            whole=bool(inside),
            operand=self.trait.operands[number].operand,
        )

    def _span(self, length: int, size: int, stride: int | None, moving: Mapping[int, int]) -> Span:
        """`moving`: loops, with elements a step of their counters."""
        loops = tuple((self.trait.dims[loop], n * self.trait.tile[loop]) for loop, n in moving.items())
        return Span(length, size, loops, stride, bool(self.overlapped.intersection(moving)))

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
