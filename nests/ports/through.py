"""A schedule behind ports: its arrays become local, filled from one stream and drained to another.

The plain form, in program and schedule: copy statements of all inputs, in the order of the packet, in the
first nest; the nests of the user; copy statements of the results in the last nest. A copy statement takes a
beat an iteration, its lanes unrolled::

    for n:  for i:  for b:  for lane (unrolled):
        n == 1:  A[i][2*b + lane] = stream[1 + 205*i + b][lane]

A stream is an array of beats by lanes here, each element once and in order: :mod:`.streams` makes FIFOs and
ports of it in the circuit. There is one for each format, as a copy converts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from axiloom.errors import CompileError
from axiloom.isa.affine import Affine
from axiloom.nests.ports.packet import Packet, Part, packets
from axiloom.nests.program import Array, Load, Program, Role, Statement
from axiloom.nests.schedule import Cyclic, Layout, Placed, Schedule

LOOP = "port"
"""Loops of copies are port0, port1, ... by position, and portlane."""
LANE = f"{LOOP}lane"


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


def through_ports(schedule: Schedule, width: int = 64) -> Ported:
    """`schedule` with one stream in and one out, `width` bits each. Raises CompileError for what cannot pass."""
    program = schedule.program
    sent, received = packets(program, width)
    for packet, what in ((sent, "is given"), (received, "is a result")):
        sizes = {part.bits: part.array for part in packet.parts}
        if len(sizes) > 1:
            one, other = list(sizes.values())[:2]
            raise CompileError(
                f"{program.name}: {one.name} of {one.number} and {other.name} of {other.number}: all that {what} "
                "passes one port, and must have elements of as many bits"
            )
    taken = {each.name for each in program.arrays} | {each.name for each in program.statements}
    copies_in = _copies(sent, _fresh("stream_in", taken), True)
    copies_out = _copies(received, _fresh("stream_out", taken), False)
    first, last = len(copies_in.statements), len(program.statements)
    kept = tuple(
        replace(each, place=(each.place[0] + first, *each.place[1:])) for each in program.statements
    )
    behind = max((each.place[0] for each in kept), default=first) + 1
    new_in = tuple(_at(each, number) for number, each in enumerate(copies_in.statements))
    new_out = tuple(_at(each, behind + number) for number, each in enumerate(copies_out.statements))
    arrays = (
        *copies_in.arrays,
        *copies_out.arrays,
        *(replace(each, role=Role.LOCAL) for each in program.arrays),
    )
    statements = (*new_in, *kept, *new_out)
    assert len(statements) == first + last + len(new_out)
    whole = Program(program.name, arrays, statements)

    numbers = [each.number for each in schedule.nests]
    end = max(numbers, default=0) + 2
    by_name = {each.name: each for each in kept}
    placed = (
        *(_placed(each, number, 0) for number, each in enumerate(new_in)),
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
    lanes = {each.name: Layout(Cyclic((1, each.shape[1]))) for each in (*copies_in.arrays, *copies_out.arrays)}
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


@dataclass(frozen=True)
class _Copies:
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]


def _copies(packet: Packet, stream: str, is_input: bool) -> _Copies:
    """Between the arrays of a packet and its streams: one of each format."""
    formats = list(dict.fromkeys(part.array.number for part in packet.parts))
    names = {number: stream if len(formats) == 1 else f"{stream}_{number}" for number in formats}
    role = Role.IN if is_input else Role.OUT
    shape = (packet.beats, packet.parts[0].lanes)
    starts = accumulate((part.beats for part in packet.parts), initial=0)
    return _Copies(
        tuple(Array(names[number], shape, number, role) for number in formats),
        tuple(
            _copy(part, names[part.array.number], start, is_input)
            for part, start in zip(packet.parts, starts, strict=False)
        ),
    )


def _copy(part: Part, stream: str, start: int, is_input: bool) -> Statement:
    """Its iterators are the rows' indices, the beat of a row, and the lane."""
    array = part.array
    name = f"{'take' if is_input else 'give'}_{array.name}"
    if not array.shape:
        here = Load(array.name, (), array.number)
        there = Load(stream, (Affine.of(start), Affine.of(0)), array.number)
        return Statement(name, (), (), *((here, there) if is_input else (there, here)), (0,))
    rows = tuple(f"r{i}" for i in range(len(array.shape) - 1))
    beat, lane = Affine.name("beat"), Affine.name("lane")
    column = beat * part.lanes + lane
    position = Affine.of(start) + beat
    size = part.row_beats
    for row, extent in zip(reversed(rows), reversed(array.shape[:-1]), strict=True):
        position = position + Affine.name(row) * size
        size *= extent
    domain = [
        *_between([(Affine.name(row), extent) for row, extent in zip(rows, array.shape, strict=False)]),
        *_between([(beat, part.row_beats), (lane, part.lanes)]),
    ]
    if not part.in_place:
        domain.append(part.columns - 1 - column)
    here = Load(array.name, (*map(Affine.name, rows), column), array.number)
    there = Load(stream, (position, lane), array.number)
    target, value = (here, there) if is_input else (there, here)
    iterators = (*rows, "beat", "lane")
    return Statement(name, iterators, tuple(domain), target, value, (0,) * (len(iterators) + 1))


def _between(extents: Sequence[tuple[Affine, int]]) -> list[Affine]:
    return [form for value, extent in extents for form in (value, extent - 1 - value)]


def _at(statement: Statement, place: int) -> Statement:
    return replace(statement, place=(place, *statement.place[1:]))


def _placed(statement: Statement, number: int, nest: int) -> Placed:
    """All copies of a packet stand in one nest: its outermost loop is the number of the copy."""
    outer = f"{LOOP}0"
    loops = [f"{LOOP}{i + 1}" for i in range(len(statement.iterators))]
    if loops:
        loops[-1] = LANE
    order: list[int | str] = [nest, outer, 0]
    for loop in loops:
        order += [loop, 0]
    instance = tuple(map(Affine.name, loops))
    values = dict(zip(statement.iterators, instance, strict=True))
    this = Affine.name(outer) - number
    domain = (this, -this, *(form.substitute(values) for form in statement.domain))
    return Placed(statement, tuple(order), instance, domain)


def _fresh(name: str, taken: set[str]) -> str:
    while any(each == name or each.startswith(f"{name}_") for each in taken):
        name += "0"
    return name
