"""A tile that is in the device's buffer already is not sent again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.nest.nest import nests, reached

LOADS = "loads"
"""On the first op of an opcode: it loads operands, and does nothing else."""


@dataclass
class _Load:
    """A blocking transfer of an opcode that only loads."""

    stages: list[accel.StageOp]
    start: accel.StartSendOp
    wait: accel.WaitOp

    @property
    def ops(self) -> list[Operation]:
        return [*self.stages, self.start, self.wait]

    @property
    def is_dense(self) -> bool:
        """Of a device that takes tiles of any size: many loops have one iteration only."""
        return all(op.dense is not None for op in self.stages if isinstance(op, accel.SendOp))

    def matrices(self) -> set[SSAValue]:
        """The memrefs whose tiles it sends."""
        return {_matrix(op.tile) for op in self.stages if isinstance(op, accel.SendOp)}


def _runs_once(loop: scf.ForOp) -> bool:
    begin, end, step = (accel.constant(v) for v in (loop.lb, loop.ub, loop.step))
    return begin is not None and end is not None and step is not None and begin < end <= begin + step


def _matrix(tile: SSAValue) -> SSAValue:
    return tile.owner.source if isinstance(tile.owner, memref.SubviewOp) else tile


def _leading(block: Block) -> Iterator[_Load]:
    """The transfers that only load, up to the first op that does more."""
    stages: list[accel.StageOp] = []
    for op in block.ops:
        if isinstance(op, accel.StageOp):
            if not stages and LOADS not in op.attributes:
                return
            stages.append(op)
        elif isinstance(op, accel.StartSendOp):
            wait = op.next_op
            if not isinstance(wait, accel.WaitOp):
                return
            yield _Load(stages, op, wait)
            stages = []
        elif isinstance(op, scf.ForOp | accel.StartRecvOp | accel.RecvOp):
            return


def _resident(load: _Load, loop: scf.ForOp) -> bool:
    """Does it load the same in every iteration, and nothing else in the loop load the same operand?"""
    counter = loop.body.block.args[0]
    moves = counter in reached([v for op in load.stages for v in op.operands])
    if moves and not (_runs_once(loop) and load.is_dense):
        return False
    own = load.matrices()
    others = [op for op in loop.walk() if isinstance(op, accel.SendOp) and op not in load.stages]
    return not any(_matrix(op.tile) in own for op in others)


def _hoist(load: _Load, loop: scf.ForOp) -> None:
    """Move a transfer in front of the loop, and what its tile is computed from."""
    block = loop.body.block
    copies: dict[SSAValue, SSAValue] = {block.args[0]: loop.lb}

    def outside(value: SSAValue) -> SSAValue:
        owner = value.owner
        if value in copies or not isinstance(owner, Operation) or owner.parent_block() is not block:
            return copies.get(value, value)
        if owner in load.stages:
            return value
        for operand in owner.operands:
            outside(operand)
        copy = owner.clone(copies)
        Rewriter.insert_op(copy, InsertPoint.before(loop))
        for before, after in zip(owner.results, copy.results, strict=True):
            after.name_hint = before.name_hint
            copies[before] = after
        return copies[value]

    for op in load.stages:
        for number, operand in enumerate(op.operands):
            op.operands[number] = outside(operand)
    for moved in load.ops:
        moved.detach()  # type: ignore[no-untyped-call]
        Rewriter.insert_op(moved, InsertPoint.before(loop))


def _drop_unused(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if isinstance(op, memref.SubviewOp) and op.result.first_use is None:
            Rewriter.erase_op(op)


@dataclass(frozen=True)
class Residency(ModulePass):
    """Send a tile in front of the loops that do not change it, where the opcode does nothing but load it.

    ::

        scf.for %k = %c0 to %c8 step %c4 {
          scf.for %n = %c0 to %c8 step %c4 {
            %A_tile = memref.subview %A[%m, %k] ...
            %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
            %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
            %2 = accel.start_send %c0 to %1 : !accel.token<"send">
            accel.wait %2 : !accel.token<"send">
            ...

        scf.for %k = %c0 to %c8 step %c4 {
          %A_tile = memref.subview %A[%m, %k] ...
          %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
          %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
          %2 = accel.start_send %c0 to %1 : !accel.token<"send">
          accel.wait %2 : !accel.token<"send">
          scf.for %n = %c0 to %c8 step %c4 {
            ...

    The device computes the same: what is in front of the transfer in the loop only loads as well, and nothing
    in the loop loads another tile of that matrix. `accel_loads` of the trait says which opcodes only load.
    A tile without gaps leaves a loop of one iteration too, whatever it depends on: a device that takes tiles
    of any size has many of those.

    Option: `outermost`, whether such a tile leaves the outermost loop too. Packets hold nothing that is in
    front of a nest, so this is for queues.
    """

    name = "accel-residency"

    outermost: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _, nest in list(nests(op)):
            for level in reversed(nest.levels):
                for load in list(_leading(level.loop.body.block)):
                    stays = level.loop is nest.root and not (self.outermost and load.is_dense)
                    if not stays and _resident(load, level.loop):
                        _hoist(load, level.loop)
                _drop_unused(level.loop.body.block)
