"""A schedule behind ports: its arrays become local, filled from one stream and drained to another.

The plain form, in program and schedule: copy statements of all inputs, in the order of the packet, in the
first nest; the nests of the user; copy statements of the results in the last nest. A copy statement takes a
beat an iteration, its lanes unrolled::

    alpha = stream[0][0]
    for i:  for b:  for lane (unrolled):
        A[i][2*b + lane] = stream[1 + 205*i + b][lane]

Arrays that are used in blocks of rows come after all others, block by block, each in an iteration of the
outermost loop. A stream is an array of beats by lanes here, each element once and in order: :mod:`.streams`
makes FIFOs and ports of it in the circuit. There is one for each format, with as many lanes as a beat has of
its elements: a copy converts nothing but a bool, which travels as a byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from axiloom.base.affine import Affine
from axiloom.nests.ports.packet import Packet, Part, packets
from axiloom.nests.program import Array, Load, Program, Role, Statement
from axiloom.nests.program.typed import convert
from axiloom.nests.schedule import Cyclic, Layout, Placed, Schedule

LOOP = "port"
"""Loops of copies are port0, port1, ... by position, and portlane."""
LANE = f"{LOOP}lane"
TAKE, GIVE = "take", "give"
"""``take_A`` copies A, ``take1_A`` its blocks that the first one cannot."""


@dataclass(frozen=True)
class Ported:
    """`inputs` and `outputs` are the streams' arrays, each with its packet. `turns`: where the loop of the
    nest that takes arrays stands at an array's first block."""

    schedule: Schedule
    sent: Packet
    received: Packet
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    turns: Mapping[str, int]

    @property
    def packets(self) -> tuple[Packet, Packet]:
        return self.sent, self.received


def through_ports(
    schedule: Schedule,
    width: int = 64,
    blocks: Mapping[str, int] | None = None,
    first: Sequence[str] = (),
    groups: Mapping[str, int] | None = None,
    sets: Sequence[Sequence[str]] = (),
) -> Ported:
    """`schedule` with one stream in and one out, `width` bits each. Raises CompileError for what cannot pass.

    `blocks`: rows in a block of each array that comes or goes in blocks; there are as many blocks of each.
    `groups`: rows in a group of each array that comes whole between the first blocks, a group at a time.
    `first`: arrays that come before the others. `sets`: of those in blocks and groups, which come in turn.
    """
    program = schedule.program
    blocks, groups = blocks or {}, groups or {}
    sent, received = packets(program, width)
    back = [part.array.name for part in received.parts if part.array.name in blocks]
    sent = _in_order(sent, blocks, first, groups, sets)
    received = _in_order(received, blocks, first, {}, [back] if back else [])
    taken = {array.name for array in program.arrays} | {statement.name for statement in program.statements}
    copies_in = _copies(sent, _fresh("stream_in", taken), True, groups, sets)
    copies_out = _copies(received, _fresh("stream_out", taken), False, {}, [back])
    before = len(copies_in.statements)
    kept = tuple(
        replace(statement, place=(statement.place[0] + before, *statement.place[1:]))
        for statement in program.statements
    )
    behind = max((statement.place[0] for statement in kept), default=before) + 1
    new_in = tuple(_at(statement, number) for number, statement in enumerate(copies_in.statements))
    new_out = tuple(_at(statement, behind + number) for number, statement in enumerate(copies_out.statements))
    arrays = (
        *copies_in.arrays,
        *copies_out.arrays,
        *(replace(array, role=Role.LOCAL) for array in program.arrays),
    )
    statements = (*new_in, *kept, *new_out)
    whole = Program(program.name, arrays, statements)

    numbers = [nest.number for nest in schedule.nests]
    end = max(numbers, default=0) + 2
    by_name = {statement.name: statement for statement in kept}
    placed = (
        *(_placed(statement, number, 0, copies_in.outer[number]) for number, statement in enumerate(new_in)),
        *(
            replace(
                statement,
                statement=by_name[statement.statement.name],
                order=(int(statement.order[0]) + 1, *statement.order[1:]),
            )
            for statement in schedule.statements
        ),
        *(
            _placed(statement, number, end, copies_out.outer[number])
            for number, statement in enumerate(new_out)
        ),
    )
    lanes = {
        array.name: Layout(Cyclic((1, array.shape[1]))) for array in (*copies_in.arrays, *copies_out.arrays)
    }
    ported = Schedule(
        whole,
        placed,
        schedule.unrolled | {LANE},
        {number + 1: interval for number, interval in schedule.intervals.items()},
        {**schedule.layouts, **lanes},
        schedule.streams,
        tuple(frozenset(number + 1 for number in group) for group in schedule.shared),
        (*schedule.log, f"ports({width})"),
    )
    return Ported(
        ported,
        sent,
        received,
        tuple(array.name for array in copies_in.arrays),
        tuple(array.name for array in copies_out.arrays),
        first_turns(sent, sets, groups),
    )


def _in_order(
    packet: Packet,
    blocks: Mapping[str, int],
    first: Sequence[str],
    groups: Mapping[str, int],
    sets: Sequence[Sequence[str]],
) -> Packet:
    """`first`, the other whole arrays, and then blocks in turn: `groups` between those of the first turn."""
    cut = {name for names in sets for name in names}
    whole = [part for part in packet.parts if part.array.name not in cut]
    whole.sort(key=lambda part: first.index(part.array.name) if part.array.name in first else len(first))
    by_name = {part.array.name: part for part in packet.parts}
    pieces: list[Part] = []
    for names in sets:
        turns = {name: _cut(by_name[name], blocks[name]) for name in names if name in blocks}
        for block in range(max(map(len, turns.values()))):
            for name in names:
                if name in turns:
                    pieces.append(turns[name][block])
                elif block == 0:
                    pieces += _cut(by_name[name], groups[name])
    return Packet((*whole, *pieces))


def _cut(part: Part, size: int) -> list[Part]:
    rows = part.array.shape[0]
    return [replace(part, first=at, count=min(size, rows - at)) for at in range(0, rows, size)]


@dataclass(frozen=True)
class _Copies:
    """`outer`: where the outermost loop stands when a statement's first block is copied, and whether it is
    the statement's loop over blocks."""

    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    outer: tuple[tuple[int, bool], ...]


def first_turns(packet: Packet, sets: Sequence[Sequence[str]], groups: Container[str]) -> dict[str, int]:
    """Where the outermost loop stands at the first block, or group, of an array: sets follow each other."""
    counts = Counter(part.array.name for part in packet.parts if part.count is not None)
    turns, at = {}, 0
    for names in sets:
        turns.update(dict.fromkeys(names, at))
        at += max((counts[name] for name in names if name not in groups), default=0)
    return turns


def _copies(
    packet: Packet, stream: str, is_input: bool, groups: Container[str], sets: Sequence[Sequence[str]]
) -> _Copies:
    """Between the arrays of a packet and its streams: one of each format. Blocks of an array that follow each
    other at the same distance are one statement."""
    formats = {part.travels: part.lanes for part in packet.parts}
    names = {number: stream if len(formats) == 1 else f"{stream}_{number}" for number in formats}
    role = Role.IN if is_input else Role.OUT
    turns = first_turns(packet, sets, groups)
    first = {part.array.name: part for part in reversed(packet.parts)}
    # A run goes on if its next block is where a turn of whole blocks, and nothing else, takes it.
    periods = {
        name: first[name].beats
        if name in groups
        else sum(first[name].beats for name in names_of if name not in groups)
        for names_of in sets
        for name in names_of
    }
    runs: list[_Copy] = []  # in the order of the packet: so they stand in each turn
    last: dict[str, int] = {}
    seen: Counter[str] = Counter()
    start = 0
    for part in packet.parts:
        name = part.array.name
        number = seen[name]
        seen[name] += 1
        run = runs[last[name]] if name in last else None
        if run and run.part.count == part.count and start == run.start + run.number * run.period:
            runs[last[name]] = replace(run, number=run.number + 1)
        else:
            in_blocks = part.count is not None and name not in groups
            outer = (turns.get(name, 0) + (number if in_blocks else 0), in_blocks)
            index = run.index + 1 if run else 0
            size = run.size if run else part.count or 0
            last[name] = len(runs)
            stream_of = names[part.travels]
            runs.append(_Copy(part, stream_of, start, periods.get(name, 0), 1, size, outer, index))
        start += part.beats
    return _Copies(
        tuple(Array(names[number], (packet.beats, lanes), number, role) for number, lanes in formats.items()),
        tuple(run.statement(is_input) for run in runs),
        tuple(run.outer for run in runs),
    )


@dataclass(frozen=True)
class _Copy:
    """Of an array, or of `number` blocks like `part`, whose first beat in a packet is `start`; blocks begin
    `period` beats and `size` rows after each other. It is the array's statement number `index`."""

    part: Part
    stream: str
    start: int
    period: int
    number: int
    size: int
    outer: tuple[int, bool]
    index: int

    def statement(self, is_input: bool) -> Statement:
        """Its iterators are the block, the rows' indices (the first of them in its block), the beat of a row,
        and the lane."""
        part, array = self.part, self.part.array
        name = f"{TAKE if is_input else GIVE}{self.index or ''}_{array.name}"
        if not array.shape:
            here = Load(array.name, (), array.number)
            there = Load(self.stream, (Affine.of(self.start), Affine.of(0)), part.travels)
            target, value = (here, there) if is_input else (there, here)
            return Statement(name, (), (), target, convert(value, target.number), (0,))
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
            # A shorter block alone counts on as if it were whole: places of all blocks have one form.
            subscripts[0] = subscripts[0] + block * self.size + part.first
            position = position + block * self.period
            extents.insert(0, (block, self.number))
        here = Load(array.name, tuple(subscripts), array.number)
        there = Load(self.stream, (position, lane), part.travels)
        target, value = (here, there) if is_input else (there, here)
        iterators = (*(("block",) if part.count is not None else ()), *rows, "beat", "lane")
        place = (0,) * (len(iterators) + 1)
        domain = [*_between(extents), *domain]
        return Statement(name, iterators, (*domain,), target, convert(value, target.number), place)


def _between(extents: Sequence[tuple[Affine, int]]) -> list[Affine]:
    return [form for value, extent in extents for form in (value, extent - 1 - value)]


def _at(statement: Statement, place: int) -> Statement:
    return replace(statement, place=(place, *statement.place[1:]))


def _placed(statement: Statement, number: int, nest: int, turn: tuple[int, bool]) -> Placed:
    """All copies of a packet stand in one nest, one after the other: its outermost loop is the block, or
    stands still at what `turn` says."""
    outer = f"{LOOP}0"
    first, in_blocks = turn
    loops = [f"{LOOP}{i + (not in_blocks)}" for i in range(len(statement.iterators))]
    if loops:
        loops[-1] = LANE
    below = loops[in_blocks:] or [f"{LOOP}1"]  # scalars too, or several would share an iteration
    order: list[int | str] = [nest, outer, number]
    for loop in below:
        order += [loop, 0]
    instance = [Affine.name(loop) for loop in loops]
    if in_blocks:
        instance[0] = instance[0] - first
    values = dict(zip(statement.iterators, instance, strict=True))
    only = [] if in_blocks else [Affine.name(outer) - first]
    only += [] if loops else [Affine.name(below[0])]
    domain = (
        *(form for bound in only for form in (bound, -bound)),
        *(form.substitute(values) for form in statement.domain),
    )
    return Placed(statement, tuple(order), tuple(instance), domain)


def _fresh(name: str, taken: set[str]) -> str:
    while any(other == name or other.startswith(f"{name}_") for other in taken):
        name += "0"
    return name
