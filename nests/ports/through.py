"""A schedule behind ports: its arrays become local, filled from one stream and drained to another.

The plain form, in program and schedule: copy statements of all inputs, in the order of the packet, in the
first nest; the nests of the user; copy statements of the results in the last nest. A copy statement takes a
beat an iteration, its lanes unrolled::

    alpha = stream[0][0]
    for i:  for b:  for lane (unrolled):
        A[i][2*b + lane] = stream[1 + 205*i + b][lane]

Arrays that are used in blocks of rows come after all others, block by block, each in an iteration of the
outermost loop. A stream is an array of beats by lanes here, each element once and in order: :mod:`.streams`
makes FIFOs and ports of it in the circuit. There is one for each format, as a copy converts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from axiloom.errors import CompileError
from axiloom.isa.affine import Affine
from axiloom.nests.ports.packet import Packet, Part, packets
from axiloom.nests.program import Array, Load, Program, Role, Statement
from axiloom.nests.schedule import Cyclic, Layout, Placed, Schedule

LOOP = "port"
"""Loops of copies are port0, port1, ... by position, and portlane."""
LANE = f"{LOOP}lane"
TAKE, GIVE = "take_", "give_"
"""Before an array's name: its copy statement."""


@dataclass(frozen=True)
class Ported:
    """`inputs` and `outputs` are the streams' arrays, each with its packet."""

    schedule: Schedule
    sent: Packet
    received: Packet
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def packets(self) -> tuple[Packet, Packet]:
        return self.sent, self.received


def through_ports(
    schedule: Schedule, width: int = 64, blocks: Mapping[str, int] | None = None, first: Sequence[str] = ()
) -> Ported:
    """`schedule` with one stream in and one out, `width` bits each. Raises CompileError for what cannot pass.

    `blocks`: rows in a block of each array that comes in blocks; there are as many blocks of each. `first`:
    arrays that come before the others.
    """
    program = schedule.program
    sent, received = packets(program, width)
    sent = _in_order(sent, blocks or {}, first)
    for packet, what in ((sent, "is given"), (received, "is a result")):
        sizes = {part.bits: part.array for part in packet.parts}
        if len(sizes) > 1:
            one, other = list(sizes.values())[:2]
            raise CompileError(
                f"{program.name}: {one.name} of {one.number} and {other.name} of {other.number}: all that "
                f"{what} passes one port, and must have elements of as many bits"
            )
    taken = {each.name for each in program.arrays} | {each.name for each in program.statements}
    copies_in = _copies(sent, _fresh("stream_in", taken), True)
    copies_out = _copies(received, _fresh("stream_out", taken), False)
    rows = blocks or {}
    before = len(copies_in.statements)
    kept = tuple(
        replace(each, place=(each.place[0] + before, *each.place[1:])) for each in program.statements
    )
    behind = max((each.place[0] for each in kept), default=before) + 1
    new_in = tuple(_at(each, number) for number, each in enumerate(copies_in.statements))
    new_out = tuple(_at(each, behind + number) for number, each in enumerate(copies_out.statements))
    arrays = (
        *copies_in.arrays,
        *copies_out.arrays,
        *(replace(each, role=Role.LOCAL) for each in program.arrays),
    )
    statements = (*new_in, *kept, *new_out)
    whole = Program(program.name, arrays, statements)

    numbers = [each.number for each in schedule.nests]
    end = max(numbers, default=0) + 2
    by_name = {each.name: each for each in kept}
    placed = (
        *(_placed(each, number, 0, copied(each) in rows) for number, each in enumerate(new_in)),
        *(
            replace(
                each,
                statement=by_name[each.statement.name],
                order=(int(each.order[0]) + 1, *each.order[1:]),
            )
            for each in schedule.statements
        ),
        *(_placed(each, number, end) for number, each in enumerate(new_out)),
    )
    lanes = {
        each.name: Layout(Cyclic((1, each.shape[1]))) for each in (*copies_in.arrays, *copies_out.arrays)
    }
    ported = Schedule(
        whole,
        placed,
        schedule.unrolled | {LANE},
        {number + 1: interval for number, interval in schedule.intervals.items()},
        {**schedule.layouts, **lanes},
        schedule.streams,
        tuple(frozenset(number + 1 for number in each) for each in schedule.shared),
        (*schedule.log, f"ports({width})"),
    )
    return Ported(
        ported,
        sent,
        received,
        tuple(each.name for each in copies_in.arrays),
        tuple(each.name for each in copies_out.arrays),
    )


def _in_order(sent: Packet, blocks: Mapping[str, int], first: Sequence[str]) -> Packet:
    """`first`, the other whole arrays, and then blocks in turn."""
    whole = [part for part in sent.parts if part.array.name not in blocks]
    whole.sort(key=lambda part: first.index(part.array.name) if part.array.name in first else len(first))
    cut = [part for part in sent.parts if part.array.name in blocks]
    count = {-(-part.array.shape[0] // blocks[part.array.name]) for part in cut}
    if len(count) > 1:
        raise CompileError(f"blocks in turn: there must be as many of each array, not {sorted(count)}")
    pieces = []
    for block in range(next(iter(count), 0)):
        for part in cut:
            size = blocks[part.array.name]
            start = block * size
            pieces.append(replace(part, first=start, count=min(size, part.array.shape[0] - start)))
    return Packet((*whole, *pieces))


@dataclass(frozen=True)
class _Copies:
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]


def _copies(packet: Packet, stream: str, is_input: bool) -> _Copies:
    """Between the arrays of a packet and its streams: one of each format. All blocks of an array are one
    statement."""
    formats = list(dict.fromkeys(part.array.number for part in packet.parts))
    names = {number: stream if len(formats) == 1 else f"{stream}_{number}" for number in formats}
    role = Role.IN if is_input else Role.OUT
    shape = (packet.beats, packet.parts[0].lanes)
    cut = [part for part in packet.parts if part.count is not None]
    period = sum(part.beats for part in cut if part.first == 0)
    statements = []
    start = 0
    for part in packet.parts:
        if part.first == 0:
            copy = _Copy(part, names[part.array.number], start, period)
            statements.append(copy.statement(is_input))
        start += part.beats
    if cut and sum(part.beats for part in cut) % period and len({part.array.name for part in cut}) > 1:
        raise CompileError("blocks of several arrays in turn must be whole: their last ones are shorter")
    return _Copies(tuple(Array(names[number], shape, number, role) for number in formats), tuple(statements))


@dataclass(frozen=True)
class _Copy:
    """Of an array whose first beat in a packet is `start`; blocks begin `period` beats after each other."""

    part: Part
    stream: str
    start: int
    period: int

    def statement(self, is_input: bool) -> Statement:
        """Its iterators are the block, the rows' indices (the first of them in its block), the beat of a row,
        and the lane."""
        part, array = self.part, self.part.array
        name = f"{TAKE if is_input else GIVE}{array.name}"
        if not array.shape:
            here = Load(array.name, (), array.number)
            there = Load(self.stream, (Affine.of(self.start), Affine.of(0)), array.number)
            return Statement(name, (), (), *((here, there) if is_input else (there, here)), (0,))
        rows = tuple(f"r{i}" for i in range(len(array.shape) - 1))
        beat, lane = Affine.name("beat"), Affine.name("lane")
        subscripts = [*map(Affine.name, rows), beat * part.lanes + lane]
        position = Affine.of(self.start) + beat
        size = part.row_beats
        for row, extent in zip(reversed(rows), reversed(part.shape[:-1]), strict=True):
            position = position + Affine.name(row) * size
            size *= extent
        extents = [
            *((Affine.name(row), extent) for row, extent in zip(rows, part.shape, strict=False)),
            *((beat, part.row_beats), (lane, part.lanes)),
        ]
        domain = []
        if not part.in_place:
            domain.append(part.columns - 1 - subscripts[-1])
        if part.count is not None:
            block = Affine.name("block")
            subscripts[0] = subscripts[0] + block * part.count
            position = position + block * self.period
            extents.insert(0, (block, -(-array.shape[0] // part.count)))
            if array.shape[0] % part.count:
                domain.append(array.shape[0] - 1 - subscripts[0])
        here = Load(array.name, tuple(subscripts), array.number)
        there = Load(self.stream, (position, lane), array.number)
        target, value = (here, there) if is_input else (there, here)
        iterators = (*(("block",) if part.count is not None else ()), *rows, "beat", "lane")
        place = (0,) * (len(iterators) + 1)
        return Statement(name, iterators, (*_between(extents), *domain), target, value, place)


def _between(extents: Sequence[tuple[Affine, int]]) -> list[Affine]:
    return [form for value, extent in extents for form in (value, extent - 1 - value)]


def _at(statement: Statement, place: int) -> Statement:
    return replace(statement, place=(place, *statement.place[1:]))


def _placed(statement: Statement, number: int, nest: int, in_blocks: bool = False) -> Placed:
    """All copies of a packet stand in one nest, one after the other: its outermost loop is the block."""
    outer = f"{LOOP}0"
    loops = [f"{LOOP}{i + (not in_blocks)}" for i in range(len(statement.iterators))]
    if loops:
        loops[-1] = LANE
    below = loops[in_blocks:] or [f"{LOOP}1"]  # scalars too, or several would share an iteration
    order: list[int | str] = [nest, outer, number]
    for loop in below:
        order += [loop, 0]
    instance = tuple(map(Affine.name, loops))
    values = dict(zip(statement.iterators, instance, strict=True))
    only = [] if in_blocks else [Affine.name(outer)]
    only += [] if loops else [Affine.name(below[0])]
    domain = (
        *(form for one in only for form in (one, -one)),
        *(form.substitute(values) for form in statement.domain),
    )
    return Placed(statement, tuple(order), instance, domain)


def copied(statement: Statement) -> str:
    """The array that a copy statement takes or gives."""
    return statement.name.removeprefix(TAKE).removeprefix(GIVE)


def _fresh(name: str, taken: set[str]) -> str:
    while any(each == name or each.startswith(f"{name}_") for each in taken):
        name += "0"
    return name
