"""A nest of tile loops with the opcodes of a flow in it, as the passes on transfers see it.

Each loop holds opcodes in front of the loop inside it and opcodes behind; the innermost has only the former.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.nest.matrix import Matrix
from axiloom.drivergen.nest.moves import Loop, Move, Moves
from axiloom.isa.contract.types import DmaConfig

OPCODE = "opcode"
"""On the first op of an opcode: its name."""

Item = accel.StageOp | accel.RecvOp
_TRANSFER = (accel.StartSendOp, accel.StartRecvOp, accel.WaitOp)


@dataclass
class Level:
    """One loop: what is staged and received in front of the loop inside it, and behind."""

    loop: scf.ForOp
    trips: int
    step: int
    pre: list[Item] = field(default_factory=list)
    post: list[Item] = field(default_factory=list)

    @property
    def counter(self) -> BlockArgument:
        return self.loop.body.block.args[0]

    @property
    def name(self) -> str:
        return self.counter.name_hint or "i"


@dataclass
class Nest:
    """Loops from outside to inside. `dma` is what the function's DMA was initialised with."""

    levels: list[Level]
    dma: DmaConfig

    @property
    def root(self) -> scf.ForOp:
        return self.levels[0].loop

    def items(self) -> Iterator[tuple[int, Item]]:
        """Every op that stages or receives, with the number of its level."""
        for number, level in enumerate(self.levels):
            for item in (*level.pre, *level.post):
                yield number, item

    def moves(self) -> Moves:
        """The same in numbers."""
        levels = [self._in_numbers(level) for level in self.levels]
        return Moves(tuple(levels), self.dma)

    def _in_numbers(self, level: Level) -> Loop:
        transfers = count()
        moves: list[Move] = []
        for item in (*level.pre, *level.post):
            begins = OPCODE in item.attributes
            words = [value for value in item.operands if value is not item.offset]
            moves.append(
                Move(
                    item.words(),
                    self._loops(words),
                    sent=isinstance(item, accel.StageOp),
                    source=_source(item.tile) if isinstance(item, accel.SendOp | accel.RecvOp) else None,
                    begins=begins,
                    transfer=next(transfers),
                    matrix=self._matrix(item) if isinstance(item, accel.SendOp | accel.RecvOp) else None,
                )
            )
        return Loop(level.trips, tuple(moves[: len(level.pre)]), tuple(moves[len(level.pre) :]))

    def _loops(self, values: list[SSAValue]) -> frozenset[int]:
        """Numbers of the loops that values are computed from."""
        found = reached(values)
        return frozenset(number for number, level in enumerate(self.levels) if level.counter in found)

    def _matrix(self, item: accel.SendOp | accel.RecvOp) -> Matrix | None:
        view = item.tile.owner
        if not isinstance(view, memref.SubviewOp):
            return None
        kind = view.source.type
        assert isinstance(kind, MemRefType)
        strides = kind.get_strides()
        if len(kind.get_shape()) != 2 or strides is None or strides[0] is None or strides[1] != 1:
            return None
        shape = [0, 0]
        for size, dim in zip(item.shape.get_values(), item.permutation.get_values(), strict=True):
            shape[dim] = size
        rows, cols = kind.get_shape()
        down, along = (self._loops([offset]) for offset in view.offsets)
        size = element_bits(kind) // 8
        read_again = isinstance(item, accel.RecvOp) and item.mode.data == "accumulate"
        return Matrix(
            (shape[0], shape[1]),
            (rows, cols),
            strides[0] * size,
            size,
            (down, along),
            0,
            2 if read_again else 1,
        )


def _source(tile: SSAValue) -> SSAValue:
    return tile.owner.source if isinstance(tile.owner, memref.SubviewOp) else tile


def reached(values: list[SSAValue]) -> set[SSAValue]:
    """`values`, and all that they are computed from."""
    found: set[SSAValue] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if value in found:
            continue
        found.add(value)
        if isinstance(value.owner, Operation):
            todo += value.owner.operands
    return found


def dma_of(function: func.FuncOp, module: ModuleOp) -> DmaConfig | None:
    """The DMA that the function, or the one that initialises it, has mapped."""
    names = (function.sym_name.data, f"{function.sym_name.data}_init")
    for other in module.ops:
        if isinstance(other, func.FuncOp) and other.sym_name.data in names:
            for op in other.walk():
                if isinstance(op, accel.InitDmaOp):
                    return op.config.data
    return None


def nests(module: ModuleOp) -> Iterator[tuple[func.FuncOp, Nest]]:
    """The nests of blocking transfers in the functions of a module, as `accel-place-flow` leaves them."""
    for function in [o for o in module.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
        dma = dma_of(function, module)
        if dma is None:
            continue
        for op in list(function.body.block.ops):
            if isinstance(op, scf.ForOp) and (levels := _levels(op)):
                yield function, Nest(levels, dma)


def _levels(root: scf.ForOp) -> list[Level] | None:
    """The levels of the nest, None if there is anything in it that a packet cannot hold."""
    levels: list[Level] = []
    loop: scf.ForOp | None = root
    while loop is not None:
        level = _level(loop)
        if level is None:
            return None
        levels.append(level)
        loop = _read(loop.body.block, level)
        if loop is not None and not _transfers_only(loop.body.block):
            return None
    if not _transfers_only(root.body.block) or not any(level.pre for level in levels):
        return None
    return levels


def _level(loop: scf.ForOp) -> Level | None:
    begin, end, step = (accel.constant(v) for v in (loop.lb, loop.ub, loop.step))
    if begin != 0 or end is None or step is None or loop.iter_args:
        return None
    return Level(loop, -(-end // step), step)


def _read(block: Block, level: Level) -> scf.ForOp | None:
    """Fill `level` from the body of its loop; returns the loop inside."""
    inner = None
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            inner = op
        elif isinstance(op, accel.StageOp | accel.RecvOp):
            (level.pre if inner is None else level.post).append(op)
    return inner


def _transfers_only(block: Block) -> bool:
    """Blocking transfers from offset 0, ops without effects, at most one loop."""
    loops = 0
    end: SSAValue | None = None
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            loops += 1
            end = None
        elif isinstance(op, accel.StageOp):
            if end is None and accel.constant(op.offset) != 0:
                return False
            if end is not None and op.offset is not end:
                return False
            end = op.end
        elif isinstance(op, accel.StartSendOp):
            wait = op.next_op
            if op.end is not end or not isinstance(wait, accel.WaitOp) or wait.token is not op.token:
                return False
            end = None
        elif isinstance(op, scf.YieldOp | accel.RecvOp | accel.StartRecvOp | accel.WaitOp):
            continue
        elif not is_side_effect_free(op):
            return False
    return loops <= 1 and end is None


def flat(level: Level) -> bool:
    """Has the level a loop inside it?"""
    return not any(isinstance(op, scf.ForOp) for op in level.loop.body.block.ops)
