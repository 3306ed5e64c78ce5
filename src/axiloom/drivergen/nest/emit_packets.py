"""Iterations of loops become one packet: one send, however many opcodes.

The first receive is armed before the first send and each further one as soon as the tile before it is there,
so that however many tiles a packet makes the device send, it never waits for one that is armed too late. The
words are the same as of blocking transfers, in the same order.

Large iterations travel in parts. If the window cannot hold two iterations of the innermost loop, each
tile is a packet in a place of its own. Then the driver packs one tile while another is sent.

What is kept is packed, and cleaned, in the first iterations of the loops that leave it alone; what else is
packed is cleaned at once, too. Packets that are late are sent while the next one is packed, and what they
bring back is taken behind that. While the CPU packs a place, the packet that lies there was sent:
`accel.wait_queued` leaves at most the last one in flight, and that lies elsewhere. No wait can be for ever: a
packet that waits for its turn is started while tiles are waited for, and every tile of a packet is taken
before the next but one is queued.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel, channels
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.emit import NO_VIEWS, Emitter, Opcode, comment
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.isa.contract.types import WORD_BITS, DmaConfig
from axiloom.plan import Command, Level, Plan, Receive, Send, Window
from axiloom.plan.packets import Piece, parts, pieces, stage_words
from axiloom.plan.tree import lines

KEPT = "Stays where it is for the iterations that follow."
OVERLAPS = "Packed while the packet before this one is sent."
LATE = "What the packet before this one brings back."


def fit(plan: Plan, dma: DmaConfig) -> bool:
    """Are all tiles that come back of one size, and have two of them a place each in the output window?"""
    sizes = {item.move.words for item in plan.items if isinstance(item.move, Receive)}
    words = max(sizes, default=0)
    return len(sizes) < 2 and (lines(words) + words) * WORD_BITS // 8 <= dma.output_buffer_size


def emit(op: linalg.GenericOp, trait: Trait, plan: Plan, *, join: bool = False) -> None:
    """The plan of an annotated op, whose transport is a window, in front of it. `join`: as of emit.emit."""
    Emitter(op, trait, join=join).commands(plan.before)
    assert isinstance(plan.transport, Window)
    _Packed(op, trait, plan, plan.transport).build()


class _Around(NamedTuple):
    """A loop around packets."""

    level: Level
    step: int
    trips: int
    name: str
    """Of its counter."""


class _Packed(Emitter):
    """Packing and unpacking part ways: what is sent of a packet, then what comes back."""

    def __init__(self, op: linalg.GenericOp, trait: Trait, plan: Plan, window: Window) -> None:
        super().__init__(op, trait)
        self.title = comment(trait)
        self.plan, self.levels, self.packets = plan, plan.levels, window.packets
        self.loops.update((level.name, level) for level in self.levels)
        self.tiles = [item for item in plan.items if isinstance(item.move, Receive)]
        """Those that come back."""
        self.around = list(self._around())
        self.late = window.late and bool(self.around)
        self.copies = self.packets.copies if self.late else 1
        self.parts = parts(self.levels[self.packets.level].pre) if self.packets.parts else []
        self.suffix = self.packets.level
        """Loops behind whose inner ones something is staged at times; always, it belongs to the last part."""
        while self.parts and self.suffix and all(loop.trips == 1 for loop in self.around[self.suffix :]):
            self.suffix -= 1
            self.parts[-1].extend(self.levels[self.suffix].post)
        self.keeps = window.keep and any(
            piece.first
            for number, commands in self._staged()
            for piece in pieces(plan, self.packets, number, commands)
        )
        loops = [number for number, loop in enumerate(self.around) if self.late and loop.trips > 1]
        self.carried = [number for number in loops if self._is_carried(number)]
        """Loops around packets whose counters the next packet gets."""
        names = [f"{self.around[number].name}_sent" for number in self.carried]
        self.names = [*names, "place"] if self.copies > 1 else names
        self.own: dict[str, SSAValue] = {}
        """Counters of the loops alone, without those whose blocks they go through."""
        self.outer: list[SSAValue] = []
        """Counters of the loops around a packet."""

    def _around(self) -> Iterator[_Around]:
        packets = self.packets
        for level in self.levels[: packets.level]:
            yield _Around(level, level.step, level.trips, _name(level))
        if packets.chunks > 1:
            level = self.levels[packets.level]
            name = _name(level) if packets.count == 1 else f"{_name(level)}_packet"
            yield _Around(level, level.step * packets.count, packets.chunks, name)

    @property
    def chunk(self) -> SSAValue | None:
        """Where a packet's iterations begin; None: it has all of its loop."""
        return self.outer[-1] if self.packets.chunks > 1 else None

    def build(self) -> None:
        top = Block()
        with self.inside(top):
            if self.tiles:
                count = sum(prod(self.plan.trips[: item.level + 1]) for item in self.tiles)
                self.insert(channels.ExpectOp(count, self.tiles[0].move.words))
            ends = self._loops(0, [self.index(0)] * len(self.names))
            if self.late:
                with self._sent(ends):
                    self._receives()
                self.insert(channels.WaitSentOp())
        ops = list(top.ops)
        for op in ops:
            op.detach()  # type: ignore[no-untyped-call]
        ops[0].attributes["comment"] = StringAttr(self.title)
        Rewriter.insert_op(ops, InsertPoint.before(self.op))

    @contextmanager
    def inside(self, block: Block, views: Mapping[Placed, SSAValue] = NO_VIEWS) -> Iterator[None]:
        own, self.own = self.own, dict(self.own)
        with super().inside(block, views):
            yield
        self.own = own

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

    def _loops(self, number: int, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Those from one on; behind them, what is carried to the next packet."""
        if number == len(self.around):
            return self._packet(carried)
        loop = self.around[number]
        body = _body([loop.name, *self.names])
        with self.inside(body):
            counter, *values = body.args
            if number < self.packets.level:
                self.own[loop.level.name] = counter
            self.outer.append(counter)
            self.insert(scf.YieldOp(*self._loops(number + 1, values)))
            self.outer.pop()
        bounds = (self.index(0), self.index(loop.level.end), self.index(loop.step))
        results = self.insert(scf.ForOp(*bounds, carried, Region(body))).results
        for result, name in zip(results, self.names, strict=True):
            result.name_hint = name
        return results

    # --- one packet -----------------------------------------------------------------------------------

    def _packet(self, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """Gives what is carried to the next one."""
        if self.late:
            free = self.insert(channels.WaitQueuedOp())
            free.attributes["comment"] = StringAttr(OVERLAPS)
        place = carried[-1] if self.copies > 1 else self.index(0)
        wait = self._send(*self._pack(place))
        if not self.late:
            self._receives()
            self.insert(wait)
            return []
        self._receive_later(carried)
        following = [self.outer[number] for number in self.carried]
        if self.copies > 1:
            following.append(self.insert(arith.SubiOp(self.index(self.packets.room), place)).result)
        return following

    def _send(self, begin: SSAValue, end: SSAValue) -> Operation:
        """Gives what waits until the place is free again."""
        if not self.late and not self.keeps:
            return accel.WaitOp(self.insert(accel.StartSendOp(begin, end)).token)
        if not self.keeps:
            self.insert(channels.CleanOp(begin, end))
        self.insert(channels.QueueSendOp(begin, end))
        return channels.WaitQueuedOp() if self.late else channels.WaitSentOp()

    def _pack(self, place: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Stage a packet; its begin and end. Of its parts all but the last one are sent."""
        packets, levels = self.packets, self.levels
        first = begin = self._begin(place)
        words = 0
        for number in reversed(range(packets.level)):
            words += (own := stage_words(levels[number].pre))
            if not own:
                continue
            condition = self._edge(number, last=False)
            at = self._add(place, packets.base - words)
            begin = at if condition is None else self._select(condition, at, begin)
            with self._where(condition):
                self._stage(number, levels[number].pre, at)
        if self.parts:
            begin, end = self._stage_parts(first, begin)
        else:
            end = self._stage_loop(packets.level, first, self.chunk)
        finish = end
        for number in reversed(range(self.suffix)):
            own = stage_words(levels[number].post)
            if not own:
                continue
            condition = self._edge(number, last=True)
            with self._where(condition):
                self._stage(number, levels[number].post, end)
            end = self._add(end, own)
            finish = end if condition is None else self._select(condition, end, finish)
        return begin, finish

    def _begin(self, place: SSAValue) -> SSAValue:
        """Where the iterations of a packet begin."""
        packets = self.packets
        if self.chunk is None or not packets.apart:
            return self._add(place, packets.base)
        number = self.insert(arith.DivUIOp(self.chunk, self.index(self.around[-1].step))).result
        offset = self.insert(arith.MuliOp(number, self.index(packets.stride))).result
        start = self._add(offset, packets.base)  # where packets lie apart, no places take turns
        start.name_hint = "packet"
        return start

    def _add(self, offset: SSAValue, words: int) -> SSAValue:
        return self.insert(arith.AddiOp(offset, self.index(words))).result if words else offset

    def _select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.insert(arith.SelectOp(condition, yes, no)).result

    def _edge(self, number: int, *, last: bool) -> SSAValue | None:
        """Are all the loops inside loop `number` at their first (last) iteration? None: always."""
        inside = zip(self.outer[number + 1 :], self.around[number + 1 :], strict=True)
        return self._joined(
            arith.AndIOp,
            (
                self._is(counter, "eq", loop.step * (loop.trips - 1) if last else 0)
                for counter, loop in inside
                if loop.trips > 1
            ),
        )

    def _is(self, counter: SSAValue, how: str, value: int) -> SSAValue:
        return self.insert(arith.CmpiOp(counter, self.index(value), how)).result

    def _joined(
        self, kind: type[arith.AndIOp | arith.OrIOp], conditions: Iterable[SSAValue]
    ) -> SSAValue | None:
        joined: SSAValue | None = None
        for condition in conditions:
            joined = condition if joined is None else self.insert(kind(joined, condition)).result
        return joined

    @contextmanager
    def _where(
        self, condition: SSAValue | None, comment: str = "", views: Mapping[Placed, SSAValue] = NO_VIEWS
    ) -> Iterator[None]:
        """Under a condition; None: always. `views`: those that are known there."""
        if condition is None:
            yield
            return
        block = Block()
        with self.inside(block, views):
            yield
            self.insert(scf.YieldOp())
        branch = self.insert(scf.IfOp(condition, [], Region(block)))
        if comment:
            branch.attributes["comment"] = StringAttr(comment)

    # --- what is staged -------------------------------------------------------------------------------

    def _staged(self) -> Iterator[tuple[int, Sequence[Command]]]:
        """Commands whose words lie one behind the other, and the number of their loop."""
        for number, level in enumerate(self.levels):
            if number == self.packets.level and self.parts:
                yield from ((number, part) for part in self.parts)
            elif number >= self.packets.level and not self._stages(number + 1):
                yield number, level.all
            else:
                yield number, level.pre
                yield number, level.post

    def _stages(self, number: int) -> bool:
        """Is anything sent in loop `number`, or in the loops inside it?"""
        return any(stage_words(level.all) for level in self.levels[number:])

    def _stage(self, number: int, commands: Sequence[Command], at: SSAValue) -> SSAValue:
        """What they send in loop `number`; the offset behind it."""
        opcodes = [Opcode(self, command) for command in commands]
        if not self.keeps:
            for opcode in opcodes:
                at = opcode.stage(at)
            return at
        for piece in pieces(self.plan, self.packets, number, commands):
            views = {region: self.view(region) for region in self._needs(piece)} if piece.first else {}
            condition = self._are_first(piece.first)
            end = self._add(at, piece.words) if piece.first else None
            with self._where(condition, KEPT, views):
                begin = at
                for index, move in piece.moves:
                    at = opcodes[index].stage(at, [move])
                self.insert(channels.CleanOp(begin, end or self._add(begin, piece.words)))
            at = end or at
        return at

    def _needs(self, piece: Piece) -> Iterator[Placed]:
        """Tiles that are sent; counters, too, are computed where all of a packet may use them."""
        for _, move in piece.moves:
            if isinstance(move, Send):
                yield placed(move)
            else:
                for name in move.loops:
                    self.counter(name, "sends the index of")

    def _are_first(self, loops: Sequence[int]) -> SSAValue | None:
        """Is the place that is packed now packed for the first time in these loops around a packet?"""
        copies = self.packets.copies

        def conditions() -> Iterator[SSAValue]:
            for number in loops:
                counter, loop = self.outer[number], self.around[number]
                if number != loops[-1] or copies == 1:
                    yield self._is(counter, "eq", 0)
                elif loop.trips > copies:
                    yield self._is(counter, "ult", copies * loop.step)

        return self._joined(arith.AndIOp, conditions())

    def _stage_loop(self, number: int, at: SSAValue, chunk: SSAValue | None) -> SSAValue:
        """Stage what loop `number` and the loops inside it send; the offset behind it."""
        level = self.levels[number]
        if not self._stages(number):
            return at
        if chunk is not None and self.packets.count == 1:
            self.own[level.name] = chunk
            return self._stage_iteration(number, at)
        body = _body([_name(level), "at"])
        with self.inside(body):
            self.own[level.name] = body.args[0]
            self.insert(scf.YieldOp(self._stage_iteration(number, body.args[1])))
        begin, stop = self._bounds(level, chunk)
        loop = self.insert(scf.ForOp(begin, stop, self.index(level.step), [at], Region(body)))
        loop.results[0].name_hint = "at"
        return loop.results[0]

    def _stage_iteration(self, number: int, at: SSAValue) -> SSAValue:
        level = self.levels[number]
        if not self._stages(number + 1):
            return self._stage(number, level.all, at)
        at = self._stage_loop(number + 1, self._stage(number, level.pre, at), None)
        return self._stage(number, level.post, at)

    def _stage_parts(self, first: SSAValue, begin: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Stage an iteration of the innermost loop, and send all parts but the last; its begin and end."""
        number = self.packets.level
        level = self.levels[number]
        self.own[level.name] = self.index(0) if self.chunk is None else self.chunk
        end = begin
        for index, (start, part) in enumerate(zip(self.packets.starts, self.parts, strict=True)):
            if index:
                self.insert(self._send(begin, end))
                begin = self._add(first, start)
            end = self._stage(number, part, begin if index else first)
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

    def _is_carried(self, number: int) -> bool:
        """Is the counter of a loop around packets needed for what comes back a packet later?"""
        level, count = self.packets.level, self.packets.count
        return any(
            number in item.moved or number > item.level or (number == level and count > 1)
            for item in self.tiles
        )

    def _receive_later(self, carried: Sequence[SSAValue]) -> None:
        """Behind every packet but the first."""
        pairs = zip(self.outer, self.around, strict=True)
        begun = (self._is(counter, "ne", 0) for counter, loop in pairs if loop.trips > 1)
        if self.tiles and (condition := self._joined(arith.OrIOp, begun)) is not None:
            with self._where(condition, LATE), self._sent(carried):
                self._receives()

    @contextmanager
    def _sent(self, carried: Sequence[SSAValue]) -> Iterator[None]:
        """Counters are those of the packet before."""
        now = self.outer, self.own, self.counters, self.lengths
        self.outer = [self.index(0)] * len(self.around)
        for number, value in zip(self.carried, carried, strict=False):
            self.outer[number] = value
        pairs = zip(self.around[: self.packets.level], self.outer, strict=False)
        self.own, self.counters, self.lengths = {loop.level.name: value for loop, value in pairs}, {}, {}
        yield
        self.outer, self.own, self.counters, self.lengths = now

    def _receives(self) -> None:
        """All that a packet brings back."""
        for number in range(self.packets.level):
            self._receive_if(number, self.levels[number].pre, last=False)
        self._receive_loop(self.packets.level, self.chunk)
        for number in reversed(range(self.packets.level)):
            self._receive_if(number, self.levels[number].post, last=True)

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
        body = _body([_name(level)])
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


def _body(names: Sequence[str]) -> Block:
    """Of a loop: its counter, and what it carries."""
    body = Block(arg_types=[IndexType()] * len(names))
    for arg, name in zip(body.args, names, strict=True):
        arg.name_hint = name
    return body


def _receives(commands: Sequence[Command]) -> bool:
    return any(isinstance(move, Receive) for command in commands for move in command.moves)


def _name(level: Level) -> str:
    """Of the counter of a loop, which may go through blocks of another."""
    return f"{level.name}_in" if level.of else level.name
