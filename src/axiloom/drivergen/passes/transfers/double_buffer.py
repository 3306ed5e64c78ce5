"""The next packet is packed while this one is sent; what comes back is unpacked one packet later."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels
from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.passes.transfers.keep_packed import CLEANED, counters_of, loops_around, trips


@dataclass
class _Scope:
    """A block under construction, and what the values of the old nest are in it."""

    block: Block
    values: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def value(self, old: SSAValue) -> SSAValue:
        """What `old` is here: computed again if it was computed inside the old nest."""
        if old in self.values:
            return self.values[old]
        owner = old.owner
        if not isinstance(owner, Operation) or isinstance(owner, arith.ConstantOp):
            return old
        if owner.parent_op() is None or not isinstance(owner.parent_op(), scf.ForOp):
            return old
        for operand in owner.operands:
            self.value(operand)
        copy = owner.clone(self.values)
        self.block.add_op(copy)
        for before, after in zip(owner.results, copy.results, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after
        return self.values[old]


class _Packets:
    """The packets of one nest: one place, and what is received between the last send and its wait."""

    def __init__(self, place: channels.PlaceOp) -> None:
        block = place.parent_block()
        assert block is not None
        self.block = block
        self.place = place
        self.loops = loops_around(place)
        *self.parts, self.send = [op for op in block.ops if isinstance(op, accel.StartSendOp)]
        self.wait = _wait(self.send)
        self.receives: list[Operation] = []
        op = self.send.next_op
        while op is not None and op is not self.wait:
            self.receives.append(op)
            op = op.next_op

    def overlap(self) -> None:
        counters: list[SSAValue] = [loop.body.block.args[0] for loop in self.loops]
        copies = self.place.copies.value.data
        zero = index(self.block, 0)
        used = [c for c, loop in zip(counters, self.loops, strict=True) if trips(loop) > 1]
        wanted = counters_of([v for op in self.receives for o in op.walk() for v in o.operands])
        needed = [counter for counter in used if counter in wanted]
        carried = [*needed, *([self.place.offset] if copies > 1 else [])]
        names = [f"{c.name_hint}_sent" for c in carried if c is not self.place.offset]
        names += ["place"] if copies > 1 else []
        now, finals = self._carry([zero] * len(carried), names)
        last = dict(zip(counters, [zero] * len(counters), strict=True))
        last |= {c: v for c, v in zip(carried, now, strict=True) if c in counters}
        if self.receives:
            self._receive_later(used, last)
        self._send_later()
        following: list[SSAValue] = [c for c in carried if c is not self.place.offset]
        if copies > 1:
            place = now[-1]
            other = arith.SubiOp(index(self.block, self.place.words.value.data), place)
            Rewriter.insert_op(other, InsertPoint.before(self._yield(self.loops[-1])))
            following.append(other.result)
            self.place.offset.replace_all_uses_with(place)
            Rewriter.erase_op(self.place)
        innermost = self._yield(self.loops[-1])
        Rewriter.replace_op(innermost, scf.YieldOp(*following))
        end = dict.fromkeys(counters, zero)
        end |= {c: v for c, v in zip(carried, finals, strict=True) if c in counters}
        tail = Block()
        scope = _Scope(tail, dict(end))
        self._copy_receives(scope)
        tail.add_op(channels.WaitSentOp())
        ops = list(tail.ops)
        for op in ops:
            op.detach()  # type: ignore[no-untyped-call]
        Rewriter.insert_op(ops, InsertPoint.after(self.loops[0]))
        for op in reversed(self.receives):
            Rewriter.erase_op(op)

    def _yield(self, loop: scf.ForOp) -> Operation:
        last = loop.body.block.last_op
        assert last is not None
        return last

    def _carry(self, inits: list[SSAValue], names: list[str]) -> tuple[list[SSAValue], list[SSAValue]]:
        """Let values run through all loops; returns them in the innermost one, and behind the outermost."""
        if not inits:
            return [], []
        results: list[SSAValue] = []
        values = inits
        for number, old in enumerate(self.loops):
            region = old.detach_region(old.body)
            block = region.block
            for name in names:
                arg = block.insert_arg(IndexType(), len(block.args))
                arg.name_hint = name
            new = scf.ForOp(old.lb, old.ub, old.step, values, region)
            new.attributes = dict(old.attributes)
            for result, name in zip(new.results, names, strict=True):
                result.name_hint = name
            Rewriter.insert_op(new, InsertPoint.before(old))
            Rewriter.erase_op(old)
            self.loops[number] = new
            values = list(block.args[1:])
            if number:
                outer = self._yield(self.loops[number - 1])
                Rewriter.replace_op(outer, scf.YieldOp(*new.results))
            else:
                results = list(new.results)
        return values, results

    def _receive_later(self, used: list[SSAValue], last: dict[SSAValue, SSAValue]) -> None:
        """Behind every send but the first: what the packet before made the device send."""
        if not used:
            return
        condition: SSAValue | None = None
        ops: list[Operation] = []
        for counter in used:
            begun = arith.CmpiOp(counter, index(self.block, 0), "ne")
            ops.append(begun)
            if condition is None:
                condition = begun.result
            else:
                both = arith.OrIOp(condition, begun)
                ops.append(both)
                condition = both.result
        assert condition is not None
        inside = Block()
        self._copy_receives(_Scope(inside, dict(last)))
        inside.add_op(scf.YieldOp())
        later = scf.IfOp(condition, [], Region(inside))
        later.attributes["comment"] = StringAttr("What the packet before this one brings back.")
        Rewriter.insert_op([*ops, later], InsertPoint.before(self.wait))

    def _copy_receives(self, scope: _Scope) -> None:
        own = {result for op in self.receives for o in op.walk() for result in o.results}
        for op in self.receives:
            for inner in op.walk():
                for operand in inner.operands:
                    if operand not in own and isinstance(operand.owner, Operation):
                        scope.value(operand)
            copy = op.clone(scope.values)
            scope.block.add_op(copy)
            for before, after in zip(op.results, copy.results, strict=True):
                after.name_hint = before.name_hint
                scope.values[before] = after

    def _send_later(self) -> None:
        free = channels.WaitQueuedOp()
        free.attributes["comment"] = StringAttr("Packed while the packet before this one is sent.")
        Rewriter.insert_op(free, InsertPoint.before(self.place))
        for part in self.parts:
            Rewriter.insert_op(channels.WaitQueuedOp(), InsertPoint.before(_wait(part)))
        for send in (*self.parts, self.send):
            clean = [] if CLEANED in send.attributes else [channels.CleanOp(send.begin, send.end)]
            queue = channels.QueueSendOp(send.begin, send.end)
            Rewriter.insert_op([*clean, queue], InsertPoint.before(send))
            Rewriter.erase_op(_wait(send))
            Rewriter.erase_op(send)


def _wait(send: accel.StartSendOp) -> accel.WaitOp:
    block = send.parent_block()
    assert block is not None
    return next(op for op in block.ops if isinstance(op, accel.WaitOp) and op.token is send.token)


@dataclass(frozen=True)
class DoubleBuffer(ModulePass):
    """Pack a packet while the one before is sent, and take what that one brings back afterwards.

    ::

        scf.for %m = %c0 to %c16 step %c4 {
          %place = accel.place 72 copies 2
          ...                                                     staged from %place up to %at
          %0 = accel.start_send %place to %at : !accel.token<"send">
          %from = accel.next
          accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : ...       of %m
          accel.wait %0 : !accel.token<"send">
        }

        %m_sent, %place = scf.for %m = ... iter_args(%m_sent_1 = %c0, %place_1 = %c0) -> (index, index) {
          accel.wait_queued
          ...                                                     staged from %place_1 up to %at
          accel.clean %place_1 to %at
          accel.queue_send %place_1 to %at
          %later = arith.cmpi ne, %m, %c0 : index
          scf.if %later {
            %from = accel.next
            accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : ...     of %m_sent_1
          }
          %other = arith.subi %c72, %place_1 : index
          scf.yield %m, %other : index, index
        }
        %from = accel.next
        accel.recv ...                                            of %m_sent
        accel.wait_sent

    While the CPU packs a place, the packet that lies there was sent: `accel.wait_queued` leaves at most the
    last one in flight, and that lies elsewhere. No wait can be for ever: a packet that waits for its turn is
    started while tiles are waited for, and every tile of a packet is taken before the next but one is queued.

    It does nothing to packets without an `accel.place`: those that accel-place has not made.
    """

    name = "accel-double-buffer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for place in [o for o in op.walk() if isinstance(o, channels.PlaceOp)]:
            if loops_around(place):
                _Packets(place).overlap()
