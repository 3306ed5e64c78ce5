"""Do not pack a tile again that the input window already holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels
from axiloom.drivergen.dialects.mlir import index

CLEANED = "cleaned"
"""On an `accel.start_send`: everything it sends was cleaned before."""


def loops_around(op: Operation) -> list[scf.ForOp]:
    """The loops around `op`, outermost first."""
    found: list[scf.ForOp] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if isinstance(parent, scf.ForOp):
            found.insert(0, parent)
        parent = parent.parent_op()
    return found


def trips(loop: scf.ForOp) -> int:
    """Number of iterations of a loop with constant bounds from 0."""
    end, step = accel.constant(loop.ub), accel.constant(loop.step)
    assert end is not None
    assert step is not None
    return -(-end // step)


def counters_of(values: list[SSAValue]) -> set[SSAValue]:
    """Loop counters that `values` are computed from; an offset does not depend on what is staged before."""
    found: set[SSAValue] = set()
    todo, seen = list(values), set(values)
    while todo:
        value = todo.pop()
        more: list[SSAValue] = []
        owner = value.owner
        if isinstance(value, BlockArgument):
            loop = value.owner.parent_op()
            if isinstance(loop, scf.ForOp):
                found.add(value)
                more = [loop.lb, loop.ub] if value.index == 0 else [loop.iter_args[value.index - 1]]
        elif isinstance(owner, accel.StageOp):
            more = [owner.offset]
        elif isinstance(owner, scf.ForOp):
            more = [*owner.operands]
        elif isinstance(owner, Operation):
            more = list(owner.operands)
        todo += [v for v in more if v not in seen]
        seen.update(more)
    return found


@dataclass
class _Part:
    """Ops that stage one tile and the words around it, one behind the other."""

    ops: list[accel.StageOp]
    first: list[scf.ForOp]
    """Needed only while these loops are at their first iteration. Empty: always."""

    @property
    def words(self) -> int:
        return sum(op.words() for op in self.ops)


def _chains(block: Block) -> Iterator[list[accel.StageOp]]:
    """Runs of ops of a block that stage words one behind the other, of all blocks inside it as well."""
    chain: list[accel.StageOp] = []
    for op in list(block.ops):
        if isinstance(op, accel.StageOp):
            if chain and op.offset is not chain[-1].end:
                yield chain
                chain = []
            chain.append(op)
        for region in op.regions:
            for inner in region.blocks:
                yield from _chains(inner)
    if chain:
        yield chain


class _Packet:
    """A packet that begins with `place`."""

    def __init__(self, place: channels.PlaceOp) -> None:
        block = place.parent_block()
        assert block is not None
        self.block = block
        self.place = place
        self.outer = loops_around(place)
        self.copies = place.copies.value.data

    def keep(self) -> None:
        runs = [self._parts(chain) for chain in _chains(self.block)]
        if not any(part.first for run in runs for part in run):
            return
        for run in runs:
            for part in run:
                self._stage(part)
        for op in self.block.ops:
            if isinstance(op, accel.StartSendOp):
                op.attributes[CLEANED] = UnitAttr()

    def _parts(self, chain: list[accel.StageOp]) -> list[_Part]:
        """Single words go with the tile behind them, the last ones with the tile in front."""
        groups: list[list[accel.StageOp]] = [[]]
        for op in chain:
            groups[-1].append(op)
            if isinstance(op, accel.SendOp):
                groups.append([])
        rest = groups.pop()
        if groups:
            groups[-1] += rest
        else:
            groups = [rest]
        parts: list[_Part] = []
        for ops in groups:
            part = _Part(ops, self._first(ops))
            if parts and parts[-1].first == part.first:
                parts[-1].ops += ops
            else:
                parts.append(part)
        return parts

    def _first(self, ops: list[accel.StageOp]) -> list[scf.ForOp]:
        """The loops around the packet that leave words and their place alone, inside all that change them."""
        if not any(isinstance(op, accel.SendOp) for op in ops):
            return []
        offset = counters_of([ops[0].offset])
        condition = ops[0].parent_op()
        if isinstance(condition, scf.IfOp):
            if self.copies > 1:
                return []  # which of the places it was in depends on when it was staged last
            offset |= counters_of([condition.cond])
        words = counters_of([v for op in ops for v in op.operands if v is not op.offset])
        first: list[scf.ForOp] = []
        for loop in self.outer:
            counter = loop.body.block.args[0]
            if counter in offset or trips(loop) == 1:
                continue
            if counter in words:
                first = []
            else:
                first.append(loop)
        if self.copies > 1 and first and len(first) == 1 and trips(first[0]) <= self.copies:
            return []
        return first

    def _stage(self, part: _Part) -> None:
        begin, last = part.ops[0].offset, part.ops[-1]
        words = index(last, part.words)
        if not part.first:
            end: Operation = arith.AddiOp(begin, words)
            Rewriter.insert_op([end, channels.CleanOp(begin, end)], InsertPoint.after(last))
            return
        before = InsertPoint.before(last)  # what the ops use is computed between them
        condition = self._condition(part.first, before)
        end = arith.AddiOp(begin, words)
        inside = Block()
        guard = scf.IfOp(condition, [], Region(inside))
        guard.attributes["comment"] = StringAttr("Stays where it is for the iterations that follow.")
        Rewriter.insert_op([end, guard], before)
        last.end.replace_uses_with_if(end.results[0], lambda use: use.operation not in part.ops)
        for op in part.ops:
            op.detach()  # type: ignore[no-untyped-call]
            inside.add_op(op)
        inside.add_ops([channels.CleanOp(begin, end), scf.YieldOp()])

    def _condition(self, first: list[scf.ForOp], before: InsertPoint) -> SSAValue:
        condition: SSAValue | None = None
        for loop in first:
            counter, step = loop.body.block.args[0], accel.constant(loop.step)
            assert step is not None
            check: Operation
            if loop is first[-1] and self.copies > 1:
                if trips(loop) <= self.copies:
                    continue
                check = arith.CmpiOp(counter, index(self.block, self.copies * step), "ult")
            else:
                check = arith.CmpiOp(counter, index(self.block, 0), "eq")
            Rewriter.insert_op(check, before)
            if condition is None:
                condition = check.results[0]
            else:
                both = arith.AndIOp(condition, check)
                Rewriter.insert_op(both, before)
                condition = both.result
        assert condition is not None
        return condition


@dataclass(frozen=True)
class KeepPacked(ModulePass):
    """Stage only what the last packet in the same place has not left there.

    ::

        scf.for %m ... {
          scf.for %n ... {
            %place = accel.place 72 copies 1
            %at = scf.for %k = %c0 to %c8 step %c4 iter_args(%at_1 = %place) -> (index) {
              %0 = accel.send_literal 1 at %at_1 {opcode = "sA", loads}
              %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
              %2 = accel.send_literal 2 at %1 {opcode = "sB", loads}
              %3 = accel.send %B_tile as [4, 4] permutation [0, 1] at %2 : ...
              ...
            }
            %4 = accel.start_send %place to %at : !accel.token<"send">

            ...
              %first = arith.cmpi eq, %n, %c0 : index
              %end = arith.addi %at_1, %c17 : index
              scf.if %first {
                %0 = accel.send_literal 1 at %at_1 {opcode = "sA", loads}
                %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
                accel.clean %at_1 to %end
              }
              %2 = accel.send_literal 2 at %end {opcode = "sB", loads}
              %3 = accel.send %B_tile as [4, 4] permutation [0, 1] at %2 : ...
              ...
              accel.clean %end to ...
            }
            %4 = accel.start_send %place to %at {cleaned} : !accel.token<"send">

    A tile that some loop around the packet does not change, and none inside that one does, is staged in the
    first iteration of the loop; in the first two where two places take turns. Single words go with the tile
    they stand beside. What is staged is cleaned at once, and nothing else is.

    Rests on `accel.place`: no two ops of a nest stage words in the same place. It does nothing to packets
    without one, which are those that accel-place has not made.
    """

    name = "accel-keep-packed"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for place in [o for o in op.walk() if isinstance(o, channels.PlaceOp)]:
            _Packet(place).keep()
