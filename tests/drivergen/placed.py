"""The plan of a driver, read from its blocking transfers: the judge of what was printed.

Each loop holds opcodes in front of the loop inside it and opcodes behind; the innermost has only the former.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.isa.contract.types import DmaConfig
from axiloom.plan import Command, Plan, Receive, Region, Send, Span, Words
from axiloom.plan.tree import Level as PlanLevel
from axiloom.plan.tree import Move

OPCODE = "opcode"
"""On the first op of an opcode: its name."""

Item = accel.StageOp | accel.RecvOp


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

    def plan(self) -> Plan:
        """What is moved, in numbers."""
        return Plan.of(
            [
                PlanLevel(name, level.trips, self._commands(level.pre), self._commands(level.post))
                for name, level in zip(self._names, self.levels, strict=True)
            ]
        )

    @cached_property
    def _names(self) -> list[str]:
        return [f"{level.name}_{number}" for number, level in enumerate(self.levels)]

    def _commands(self, items: Sequence[Item]) -> tuple[Command, ...]:
        commands: list[Command] = []
        for item in items:
            opcode = item.attributes.get(OPCODE)
            if opcode is not None or not commands:
                commands.append(Command(opcode.data if isinstance(opcode, StringAttr) else "", ()))
            last = commands[-1]
            commands[-1] = replace(last, moves=(*last.moves, self._move(item)))
        return tuple(commands)

    def _move(self, item: Item) -> Move:
        if isinstance(item, accel.SendOp):
            return Send(item.words(), self._region(item))
        if isinstance(item, accel.RecvOp):
            return Receive(item.words(), self._region(item), add=item.mode.data == "accumulate")
        return Words(
            item.words(), self._loops([value for value in item.operands if value is not item.offset])
        )

    def _loops(self, values: Sequence[SSAValue]) -> frozenset[str]:
        """The loops that values are computed from."""
        origins = reached(values)
        both = zip(self._names, self.levels, strict=True)
        return frozenset(name for name, level in both if level.counter in origins)

    def _region(self, item: accel.SendOp | accel.RecvOp) -> Region:
        """Axis by axis where it is known which loops move it along each."""
        sizes, order = item.shape.get_values(), item.permutation.get_values()
        view, every = item.tile.owner, self._loops([item.tile])
        bits = element_bits(item.tile.type)
        if isinstance(view, memref.SubviewOp) and len(view.offsets) == len(order):
            kind = view.source.type
            assert isinstance(kind, MemRefType)
            loops = [self._loops([offset]) for offset in view.offsets]
            strides = kind.get_strides() or [None] * len(order)
            spans = tuple(
                Span(sizes[order.index(dim)], size, tuple((name, None) for name in sorted(own)), stride)
                for dim, (size, own, stride) in enumerate(zip(kind.get_shape(), loops, strides, strict=True))
            )
            if frozenset().union(*loops) == every:
                return Region(view.source, spans, tuple(order), bits)
        whole = prod(sizes)
        return Region(
            item.tile, (Span(whole, whole, tuple((name, None) for name in sorted(every))),), (0,), bits
        )


def reached(values: Sequence[SSAValue]) -> set[SSAValue]:
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


def nests(module: ModuleOp) -> Iterator[tuple[func.FuncOp, Nest]]:
    """The nests of blocking transfers in the functions of a module, as `accel-place` leaves them."""
    for function in [o for o in module.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
        dma = accel.dma_of(function, module)
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
