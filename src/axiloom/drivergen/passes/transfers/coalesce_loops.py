"""Iterations of loops become one packet: one send, however many opcodes.

Large iterations travel in parts. If the window cannot hold two iterations of the innermost loop, each
tile is a packet in a place of its own. Then the driver packs one tile while another is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels
from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.nest.nest import Item, Level, Nest, nests
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Packets, Plan
from axiloom.plan.packets import PACKET_WORDS, choose, parts, stage_words
from axiloom.plan.tree import lines


@dataclass
class Scope:
    """A block under construction, and what the values of the old nest are in it."""

    block: Block
    values: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def insert(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def inner(self, block: Block) -> Scope:
        return Scope(block, dict(self.values))

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


def received_words(nest: Nest) -> int | None:
    """Words of each tile that comes back; 0 if none does, None if they differ."""
    sizes = {item.words() for _, item in nest.items() if isinstance(item, accel.RecvOp)}
    return None if len(sizes) > 1 else sizes.pop() if sizes else 0


class _Coalesced:
    """The new nest for an old one."""

    def __init__(self, nest: Nest, plan: Plan, layout: Packets) -> None:
        self.nest = nest
        self.moves = plan.levels
        self.layout = layout
        self.at = nest.root
        self.stepped = nest.levels[layout.level]
        self.outer: list[tuple[SSAValue, int, int]] = []
        """Counter, step and number of iterations of each loop around a packet, where there are several."""

    def index(self, value: int) -> SSAValue:
        return index(self.nest.root, value)

    def build(self) -> None:
        tiles = sum(
            prod(level.trips for level in self.nest.levels[: number + 1])
            for number, item in self.nest.items()
            if isinstance(item, accel.RecvOp)
        )
        ops: list[Operation] = []
        if tiles:
            ops.append(channels.ExpectOp(tiles, received_words(self.nest) or 0))
        top = Block()
        self._loops(Scope(top), 0)
        for op in list(top.ops):
            op.detach()  # type: ignore[no-untyped-call]
            ops.append(op)
        if "comment" in self.nest.root.attributes:
            ops[0].attributes["comment"] = self.nest.root.attributes["comment"]
        Rewriter.insert_op(ops, InsertPoint.before(self.nest.root))
        Rewriter.erase_op(self.nest.root)

    # --- loops around packets -------------------------------------------------------------------------

    def _loops(self, scope: Scope, number: int) -> None:
        layout = self.layout
        if number < layout.level:
            level = self.nest.levels[number]
            body = self._loop(scope, level, level.loop.ub, level.step, level.name)
            scope.values[level.counter] = body.args[0]
            inner = scope.inner(body)
            self.outer.append((body.args[0], level.step, level.trips))
            self._loops(inner, number + 1)
            body.add_op(scf.YieldOp())
            return
        if layout.chunks == 1:
            self._packet(scope, None)
            return
        level = self.stepped
        step = level.step * layout.count
        name = level.name if layout.count == 1 else f"{level.name}_packet"
        body = self._loop(scope, level, level.loop.ub, step, name)
        self.outer.append((body.args[0], step, layout.chunks))
        self._packet(scope.inner(body), body.args[0])
        body.add_op(scf.YieldOp())

    def _loop(self, scope: Scope, level: Level, end: SSAValue, step: int, name: str) -> Block:
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = name
        scope.block.add_op(scf.ForOp(level.loop.lb, end, self.index(step), [], Region(body)))
        return body

    # --- one packet -----------------------------------------------------------------------------------

    def _packet(self, scope: Scope, chunk: SSAValue | None) -> None:
        layout, levels = self.layout, self.nest.levels
        place = channels.PlaceOp(layout.room, layout.copies)
        place.offset.name_hint = "place"
        scope.block.add_op(place)
        first = begin = self._start(scope, place.offset, chunk)
        words = 0
        for number in reversed(range(layout.level)):
            words += (own := stage_words(self.moves[number].pre))
            if not own:
                continue
            condition = self._edge(scope, number, last=False)
            at = self._add(scope, place.offset, layout.base - words)
            begin = at if condition is None else self._select(scope, condition, at, begin)
            self._stage_if(scope, condition, levels[number].pre, at)
        if layout.parts:
            begin, end = self._stage_parts(scope, first, begin, chunk)
        else:
            end = self._stage_loop(scope, layout.level, first, chunk)
        finish = end
        for number in reversed(range(layout.level)):
            own = stage_words(self.moves[number].post)
            if not own:
                continue
            condition = self._edge(scope, number, last=True)
            self._stage_if(scope, condition, levels[number].post, end)
            end = self._add(scope, end, own)
            finish = end if condition is None else self._select(scope, condition, end, finish)
        send = accel.StartSendOp(begin, finish)
        scope.block.add_op(send)
        for number in range(layout.level):
            self._receive_if(scope, number, levels[number].pre, last=False)
        self._receive_loop(scope, layout.level, chunk)
        for number in reversed(range(layout.level)):
            self._receive_if(scope, number, levels[number].post, last=True)
        scope.block.add_op(accel.WaitOp(send.token))

    def _start(self, scope: Scope, place: SSAValue, chunk: SSAValue | None) -> SSAValue:
        """Where the iterations of a packet begin."""
        layout = self.layout
        if chunk is None or not layout.apart:
            return self._add(scope, place, layout.base)
        number = scope.insert(arith.DivUIOp(chunk, self.index(self.stepped.step * layout.count)))
        offset = scope.insert(arith.MuliOp(number, self.index(layout.stride)))
        start = self._add(scope, scope.insert(arith.AddiOp(place, offset)), layout.base)
        start.name_hint = "packet"
        return start

    def _add(self, scope: Scope, offset: SSAValue, words: int) -> SSAValue:
        return scope.insert(arith.AddiOp(offset, self.index(words))) if words else offset

    def _select(self, scope: Scope, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return scope.insert(arith.SelectOp(condition, yes, no))

    def _edge(self, scope: Scope, number: int, *, last: bool) -> SSAValue | None:
        """Are all the loops inside loop `number` at their first (last) iteration? None: always."""
        condition: SSAValue | None = None
        for counter, step, trips in self.outer[number + 1 :]:
            if trips == 1:
                continue
            edge = self.index(step * (trips - 1) if last else 0)
            at_edge = scope.insert(arith.CmpiOp(counter, edge, "eq"))
            condition = at_edge if condition is None else scope.insert(arith.AndIOp(condition, at_edge))
        return condition

    # --- what is staged -------------------------------------------------------------------------------

    def _stage_if(
        self, scope: Scope, condition: SSAValue | None, items: Sequence[Item], at: SSAValue
    ) -> None:
        if condition is None:
            self._stage(scope, items, at)
            return
        block = Block()
        self._stage(scope.inner(block), items, at)
        block.add_op(scf.YieldOp())
        scope.block.add_op(scf.IfOp(condition, [], Region(block)))

    def _stage(self, scope: Scope, items: Sequence[Item], at: SSAValue) -> SSAValue:
        for item in items:
            if isinstance(item, accel.StageOp):
                for operand in item.operands:
                    if operand is not item.offset:
                        scope.value(operand)
                copy = item.clone({**scope.values, item.offset: at})
                scope.block.add_op(copy)
                assert isinstance(copy, accel.StageOp)
                at = copy.end
        return at

    def _stage_loop(self, scope: Scope, number: int, at: SSAValue, chunk: SSAValue | None) -> SSAValue:
        """Stage what loop `number` and the loops inside it send; the offset behind it."""
        level = self.nest.levels[number]
        if not any(stage_words(move.all) for move in self.moves[number:]):
            return at
        if chunk is not None and self.layout.count == 1:
            scope.values[level.counter] = chunk
            return self._stage_iteration(scope, number, at)
        body = Block(arg_types=[IndexType(), IndexType()])
        body.args[0].name_hint, body.args[1].name_hint = level.name, "at"
        inner = scope.inner(body)
        inner.values[level.counter] = body.args[0]
        body.add_op(scf.YieldOp(self._stage_iteration(inner, number, body.args[1])))
        begin, stop = self._bounds(scope, level, chunk)
        loop = scf.ForOp(begin, stop, level.loop.step, [at], Region(body))
        scope.block.add_op(loop)
        loop.results[0].name_hint = "at"
        return loop.results[0]

    def _stage_iteration(self, scope: Scope, number: int, at: SSAValue) -> SSAValue:
        level = self.nest.levels[number]
        at = self._stage(scope, level.pre, at)
        if number + 1 < len(self.nest.levels):
            at = self._stage_loop(scope, number + 1, at, None)
        return self._stage(scope, level.post, at)

    def _stage_parts(
        self, scope: Scope, first: SSAValue, begin: SSAValue, chunk: SSAValue | None
    ) -> tuple[SSAValue, SSAValue]:
        """Stage an iteration of the innermost loop, and send all parts but the last; its begin and end."""
        level = self.stepped
        scope.values[level.counter] = level.loop.lb if chunk is None else chunk
        end = begin
        items = iter(level.pre)
        own = parts(self.moves[self.layout.level].pre)
        for number, (start, part) in enumerate(zip(self.layout.starts, own, strict=True)):
            moved = list(islice(items, sum(len(command.moves) for command in part)))
            if number:
                send = accel.StartSendOp(begin, end)
                scope.block.add_ops([send, accel.WaitOp(send.token)])
                begin = self._add(scope, first, start)
            end = self._stage(scope, moved, begin if number else first)
        return begin, end

    def _bounds(self, scope: Scope, level: Level, chunk: SSAValue | None) -> tuple[SSAValue, SSAValue]:
        if chunk is None:
            return level.loop.lb, level.loop.ub
        step = level.step * self.layout.count
        stop = scope.insert(arith.AddiOp(chunk, self.index(step)))
        if level.trips % self.layout.count:
            stop = scope.insert(arith.MinUIOp(stop, level.loop.ub))
            stop.name_hint = f"{level.name}_end"
        return chunk, stop

    # --- what comes back ------------------------------------------------------------------------------

    def _receive_if(self, scope: Scope, number: int, items: Sequence[Item], *, last: bool) -> None:
        if not any(isinstance(item, accel.RecvOp) for item in items):
            return
        condition = self._edge(scope, number, last=last)
        if condition is None:
            self._receive(scope, items)
            return
        block = Block()
        self._receive(scope.inner(block), items)
        block.add_op(scf.YieldOp())
        scope.block.add_op(scf.IfOp(condition, [], Region(block)))

    def _receive(self, scope: Scope, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, accel.RecvOp):
                there = channels.NextOp()
                there.offset.name_hint = "from"
                scope.block.add_op(there)
                scope.value(item.tile)
                scope.block.add_op(item.clone({**scope.values, item.offset: there.offset}))

    def _receive_loop(self, scope: Scope, number: int, chunk: SSAValue | None) -> None:
        levels = self.nest.levels[number:]
        if not any(isinstance(item, accel.RecvOp) for inner in levels for item in (*inner.pre, *inner.post)):
            return
        level = levels[0]
        if chunk is not None and self.layout.count == 1:
            scope.values[level.counter] = chunk
            self._receive_iteration(scope, number)
            return
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = level.name
        inner = scope.inner(body)
        inner.values[level.counter] = body.args[0]
        self._receive_iteration(inner, number)
        body.add_op(scf.YieldOp())
        begin, stop = self._bounds(scope, level, chunk)
        scope.block.add_op(scf.ForOp(begin, stop, level.loop.step, [], Region(body)))

    def _receive_iteration(self, scope: Scope, number: int) -> None:
        level = self.nest.levels[number]
        self._receive(scope, level.pre)
        if number + 1 < len(self.nest.levels):
            self._receive_loop(scope, number + 1, None)
        self._receive(scope, level.post)


def fits_twice(nest: Nest) -> bool:
    """Have two tiles a place each in the output window?"""
    words = received_words(nest)
    return words is not None and (lines(words) + words) * WORD_BITS // 8 <= nest.dma.output_buffer_size


@dataclass(frozen=True)
class CoalesceLoops(ModulePass):
    """Send iterations of a loop, with the loops inside it, as one packet: packing and unpacking part ways.

    ::

        scf.for %m ... {
          scf.for %n ... {
            scf.for %k = %c0 to %c16 step %c4 {
              %0 = accel.send_literal 1 at %c0 {opcode = "sA", loads}
              %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
              %2 = accel.start_send %c0 to %1 : !accel.token<"send">
              accel.wait %2 : !accel.token<"send">
              ...
            }
            %3 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
            %4 = accel.send_literal 8 at %c0
            ...
            accel.recv %C_tile as [4, 4] permutation [0, 1] at %c0 mode "accumulate" : ...

        accel.expect 4 tiles of 16
        scf.for %m ... {
          scf.for %n ... {
            scf.for %k_packet = %c0 to %c16 step %c8 {
              %place = accel.place 72 copies 1
              %0 = arith.addi %k_packet, %c8 : index
              %at = scf.for %k = %k_packet to %0 step %c4 iter_args(%at_1 = %place) -> (index) {
                %1 = accel.send_literal 1 at %at_1 {opcode = "sA", loads}
                %2 = accel.send %A_tile as [4, 4] permutation [0, 1] at %1 : ...
                ...
              }
              %6 = arith.cmpi eq, %k_packet, %c8 : index
              scf.if %6 {
                %7 = accel.send_literal 8 at %at
              }
              %9 = arith.select %6, %8, %at : index
              %10 = accel.start_send %place to %9 : !accel.token<"send">
              scf.if %6 {
                %from = accel.next
                accel.recv %C_tile as [4, 4] permutation [0, 1] at %from mode "accumulate" : ...
              }
              accel.wait %10 : !accel.token<"send">

    Where the window has no room for two such packets, an iteration goes in several, one for each tile.

    Which loop the packets run along, and whether each has a place of its own in the window, is chosen in
    :mod:`axiloom.plan.packets`. The first receive is armed before the first send and each further one as soon
    as the tile before it is there, so that however many tiles a packet makes the device send, it never waits
    for one that is armed too late. The words are the same, in the same order.

    A nest is left alone if it holds anything but blocking transfers, if tiles of several sizes come back, or
    if not even one iteration of the innermost loop, or two tiles that come back, fit into their window.

    Options: `words`, about how long a packet should be; `buffers`, 2 if double buffering follows; `keep`, if
    accel-keep-packed does, so that a place of its own is worth its room. With `loops=false` an iteration of
    the innermost loop is the most that goes in a packet: the passes that need packets have them without
    this one.
    """

    name = "accel-coalesce-loops"

    words: int = PACKET_WORDS
    buffers: int = 1
    keep: bool = False
    loops: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _, nest in list(nests(op)):
            plan = nest.plan()
            layout = choose(
                plan, nest.dma, buffers=self.buffers, keep=self.keep, target=self.words, loops=self.loops
            )
            if layout is not None and fits_twice(nest):
                _Coalesced(nest, plan, layout).build()
