"""Iterations of loops become one packet: one send, however many opcodes.

The first receive is armed before the first send and each further one as soon as the tile before it is there,
so that however many tiles a packet makes the device send, it never waits for one that is armed too late. The
words are the same as of blocking transfers, in the same order.

Large iterations travel in parts. If the window cannot hold two iterations of the innermost loop, each
tile is a packet in a place of its own. Then the driver packs one tile while another is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.emit import Emitter, Opcode, comment
from axiloom.isa.contract.types import WORD_BITS, DmaConfig
from axiloom.plan import Command, Level, Packets, Plan, Receive
from axiloom.plan.packets import parts, stage_words
from axiloom.plan.tree import lines


def fit(plan: Plan, dma: DmaConfig) -> bool:
    """Are all tiles that come back of one size, and have two of them a place each in the output window?"""
    sizes = {item.move.words for item in plan.items if isinstance(item.move, Receive)}
    words = max(sizes, default=0)
    return len(sizes) < 2 and (lines(words) + words) * WORD_BITS // 8 <= dma.output_buffer_size


def emit(op: linalg.GenericOp, trait: Trait, plan: Plan, packets: Packets) -> None:
    """The plan of an annotated op in front of it, in packets."""
    for command in plan.before:
        Emitter(op, trait).command(command)
    _Packed(op, trait, plan, packets).build()


class _Packed(Emitter):
    """Packing and unpacking part ways: what is sent of a packet, then what comes back."""

    def __init__(self, op: linalg.GenericOp, trait: Trait, plan: Plan, packets: Packets) -> None:
        super().__init__(op, trait)
        self.plan, self.levels, self.packets = plan, plan.levels, packets
        self.loops.update((level.name, level) for level in self.levels)
        self.own: dict[str, SSAValue] = {}
        """Counters of the loops alone, without those whose blocks they go through."""
        self.outer: list[tuple[SSAValue, int, int]] = []
        """Counter, step and number of iterations of each loop around a packet, where there are several."""

    def build(self) -> None:
        top = Block()
        with self.inside(top):
            received = [item for item in self.plan.items if isinstance(item.move, Receive)]
            tiles = sum(prod(self.plan.trips[: item.level + 1]) for item in received)
            if tiles:
                self.insert(channels.ExpectOp(tiles, received[0].move.words))
            self._loops(0)
        ops = list(top.ops)
        for op in ops:
            op.detach()  # type: ignore[no-untyped-call]
        ops[0].attributes["comment"] = StringAttr(comment(self.trait))
        Rewriter.insert_op(ops, InsertPoint.before(self.op))

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """What is computed there is not known outside."""
        outside = self.builder, self.own, self.counters, self.lengths
        self.builder = Builder(InsertPoint.at_end(block))
        self.own, self.counters, self.lengths = dict(self.own), dict(self.counters), dict(self.lengths)
        yield
        self.builder, self.own, self.counters, self.lengths = outside

    def counter(self, name: str, what: str) -> SSAValue:
        if name in self.own and name not in self.counters:
            own, blocks = self.own[name], self.loops[name].of
            if blocks:
                own = self.named(arith.AddiOp(self.counter(blocks, what), own), name)
            self.counters[name] = own
        return super().counter(name, what)

    def rest(self, name: str) -> SSAValue:
        if name not in self.lengths:
            level = self.loops[name]
            end = self.loops[level.of].end if level.of else level.end
            rest = self.insert(arith.SubiOp(self.index(end), self.counter(name, "ends")))
            self.lengths[name] = self.named(arith.MinUIOp(self.index(level.step), rest), f"{name}_len")
        return self.lengths[name]

    # --- loops around packets -------------------------------------------------------------------------

    def _loops(self, number: int) -> None:
        packets = self.packets
        if number < packets.level:
            level = self.levels[number]
            body = self._loop(level, level.step, _name(level))
            with self.inside(body):
                self.own[level.name] = body.args[0]
                self.outer.append((body.args[0], level.step, level.trips))
                self._loops(number + 1)
                self.insert(scf.YieldOp())
            return
        if packets.chunks == 1:
            self._packet(None)
            return
        level = self.levels[packets.level]
        step = level.step * packets.count
        body = self._loop(level, step, _name(level) if packets.count == 1 else f"{_name(level)}_packet")
        self.outer.append((body.args[0], step, packets.chunks))
        with self.inside(body):
            self._packet(body.args[0])
            self.insert(scf.YieldOp())

    def _loop(self, level: Level, step: int, name: str) -> Block:
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = name
        bounds = (self.index(0), self.index(level.end), self.index(step))
        self.insert(scf.ForOp(*bounds, [], Region(body)))
        return body

    # --- one packet -----------------------------------------------------------------------------------

    def _packet(self, chunk: SSAValue | None) -> None:
        packets, levels = self.packets, self.levels
        place = self.insert(channels.PlaceOp(packets.room, packets.copies)).offset
        place.name_hint = "place"
        first = begin = self._begin(place, chunk)
        words = 0
        for number in reversed(range(packets.level)):
            words += (own := stage_words(levels[number].pre))
            if not own:
                continue
            condition = self._edge(number, last=False)
            at = self._add(place, packets.base - words)
            begin = at if condition is None else self._select(condition, at, begin)
            with self._where(condition):
                self._stage(levels[number].pre, at)
        if packets.parts:
            begin, end = self._stage_parts(first, begin, chunk)
        else:
            end = self._stage_loop(packets.level, first, chunk)
        finish = end
        for number in reversed(range(packets.level)):
            own = stage_words(levels[number].post)
            if not own:
                continue
            condition = self._edge(number, last=True)
            with self._where(condition):
                self._stage(levels[number].post, end)
            end = self._add(end, own)
            finish = end if condition is None else self._select(condition, end, finish)
        send = self.insert(accel.StartSendOp(begin, finish))
        for number in range(packets.level):
            self._receive_if(number, levels[number].pre, last=False)
        self._receive_loop(packets.level, chunk)
        for number in reversed(range(packets.level)):
            self._receive_if(number, levels[number].post, last=True)
        self.insert(accel.WaitOp(send.token))

    def _begin(self, place: SSAValue, chunk: SSAValue | None) -> SSAValue:
        """Where the iterations of a packet begin."""
        packets = self.packets
        if chunk is None or not packets.apart:
            return self._add(place, packets.base)
        step = self.levels[packets.level].step * packets.count
        number = self.insert(arith.DivUIOp(chunk, self.index(step))).result
        offset = self.insert(arith.MuliOp(number, self.index(packets.stride))).result
        start = self._add(self.insert(arith.AddiOp(place, offset)).result, packets.base)
        start.name_hint = "packet"
        return start

    def _add(self, offset: SSAValue, words: int) -> SSAValue:
        return self.insert(arith.AddiOp(offset, self.index(words))).result if words else offset

    def _select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.insert(arith.SelectOp(condition, yes, no)).result

    def _edge(self, number: int, *, last: bool) -> SSAValue | None:
        """Are all the loops inside loop `number` at their first (last) iteration? None: always."""
        condition: SSAValue | None = None
        for counter, step, trips in self.outer[number + 1 :]:
            if trips == 1:
                continue
            edge = self.index(step * (trips - 1) if last else 0)
            at_edge = self.insert(arith.CmpiOp(counter, edge, "eq")).result
            both = at_edge if condition is None else self.insert(arith.AndIOp(condition, at_edge)).result
            condition = both
        return condition

    @contextmanager
    def _where(self, condition: SSAValue | None) -> Iterator[None]:
        """Under a condition; None: always."""
        if condition is None:
            yield
            return
        block = Block()
        with self.inside(block):
            yield
            self.insert(scf.YieldOp())
        self.insert(scf.IfOp(condition, [], Region(block)))

    # --- what is staged -------------------------------------------------------------------------------

    def _stage(self, commands: Sequence[Command], at: SSAValue) -> SSAValue:
        for command in commands:
            at = Opcode(self, command).stage(at)
        return at

    def _stage_loop(self, number: int, at: SSAValue, chunk: SSAValue | None) -> SSAValue:
        """Stage what loop `number` and the loops inside it send; the offset behind it."""
        level = self.levels[number]
        if not any(stage_words(inner.all) for inner in self.levels[number:]):
            return at
        if chunk is not None and self.packets.count == 1:
            self.own[level.name] = chunk
            return self._stage_iteration(number, at)
        body = Block(arg_types=[IndexType(), IndexType()])
        body.args[0].name_hint, body.args[1].name_hint = _name(level), "at"
        with self.inside(body):
            self.own[level.name] = body.args[0]
            self.insert(scf.YieldOp(self._stage_iteration(number, body.args[1])))
        begin, stop = self._bounds(level, chunk)
        loop = self.insert(scf.ForOp(begin, stop, self.index(level.step), [at], Region(body)))
        loop.results[0].name_hint = "at"
        return loop.results[0]

    def _stage_iteration(self, number: int, at: SSAValue) -> SSAValue:
        level = self.levels[number]
        at = self._stage(level.pre, at)
        if number + 1 < len(self.levels):
            at = self._stage_loop(number + 1, at, None)
        return self._stage(level.post, at)

    def _stage_parts(
        self, first: SSAValue, begin: SSAValue, chunk: SSAValue | None
    ) -> tuple[SSAValue, SSAValue]:
        """Stage an iteration of the innermost loop, and send all parts but the last; its begin and end."""
        level = self.levels[self.packets.level]
        self.own[level.name] = self.index(0) if chunk is None else chunk
        end = begin
        for number, (start, part) in enumerate(zip(self.packets.starts, parts(level.pre), strict=True)):
            if number:
                send = self.insert(accel.StartSendOp(begin, end))
                self.insert(accel.WaitOp(send.token))
                begin = self._add(first, start)
            end = self._stage(part, begin if number else first)
        return begin, end

    def _bounds(self, level: Level, chunk: SSAValue | None) -> tuple[SSAValue, SSAValue]:
        if chunk is None:
            return self.index(0), self.index(level.end)
        step = level.step * self.packets.count
        stop: SSAValue = self.insert(arith.AddiOp(chunk, self.index(step))).result
        if level.trips % self.packets.count:
            stop = self.named(arith.MinUIOp(stop, self.index(level.end)), f"{_name(level)}_end")
        return chunk, stop

    # --- what comes back ------------------------------------------------------------------------------

    def _receive_if(self, number: int, commands: Sequence[Command], *, last: bool) -> None:
        if _receives(commands):
            with self._where(self._edge(number, last=last)):
                self._receive(commands)

    def _receive(self, commands: Sequence[Command]) -> None:
        for command in commands:
            for move in command.moves:
                if isinstance(move, Receive):
                    there = self.insert(channels.NextOp()).offset
                    there.name_hint = "from"
                    Opcode(self, command).take(move, there)

    def _receive_loop(self, number: int, chunk: SSAValue | None) -> None:
        if not any(_receives(inner.all) for inner in self.levels[number:]):
            return
        level = self.levels[number]
        if chunk is not None and self.packets.count == 1:
            self.own[level.name] = chunk
            self._receive_iteration(number)
            return
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = _name(level)
        with self.inside(body):
            self.own[level.name] = body.args[0]
            self._receive_iteration(number)
            self.insert(scf.YieldOp())
        begin, stop = self._bounds(level, chunk)
        self.insert(scf.ForOp(begin, stop, self.index(level.step), [], Region(body)))

    def _receive_iteration(self, number: int) -> None:
        level = self.levels[number]
        self._receive(level.pre)
        if number + 1 < len(self.levels):
            self._receive_loop(number + 1, None)
        self._receive(level.post)


def _receives(commands: Sequence[Command]) -> bool:
    return any(isinstance(move, Receive) for command in commands for move in command.moves)


def _name(level: Level) -> str:
    """Of the counter of a loop, which may go through blocks of another."""
    return f"{level.name}_in" if level.of else level.name
