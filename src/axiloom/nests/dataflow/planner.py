"""`decide`: from a schedule to a plan: which nests run at once, and what they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from axiloom.base.errors import CompileError
from axiloom.nests.dataflow.fifos import NoPassageError, Passage, passage
from axiloom.nests.dataflow.iterations import Visits, forms, visits
from axiloom.nests.dataflow.ports import arrival, departure
from axiloom.nests.dataflow.tokens import Wait, conflicts, waits
from axiloom.nests.poly.dependences import Dependence, dependences
from axiloom.nests.program import Array, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Edge, Order, Plan, Readers, Stream


@dataclass(frozen=True)
class Note:
    """What became of `array` between two nests: ``fifo``, ``tokens``, ``end``; and why no FIFO."""

    array: str
    producer: int
    consumer: int
    kind: str
    why: str = ""


@dataclass(frozen=True)
class Dataflow:
    """`plan`, with a place for each element and token: nothing ever waits for a place. ``timing.fit`` of the
    circuit finds the smallest depths. `notes` say what was decided for each array between two nests."""

    plan: Plan
    notes: tuple[Note, ...]


def plan(schedule: Schedule) -> Plan:
    return decide(schedule).plan


def decide(schedule: Schedule) -> Dataflow:
    """Raises CompileError if an array of ``schedule.streams`` cannot pass through a FIFO."""
    nests = {
        nest.number: tuple(visit for visit in visits(schedule, nest) if not visit.iterations.is_empty())
        for nest in schedule.nests
    }
    notes: list[Note] = []
    streams = [
        Stream(array.name, passage.entries, producer, consumer, passage.push, passage.pop)
        for array, producer, consumer, passage in _passages(schedule, nests, notes)
    ]
    streams += _border(schedule, nests)
    passed = {stream.array for stream in streams}
    orders: list[Order] = []
    ordered = [
        dependence for dependence in dependences(schedule.program).all if dependence.array not in passed
    ]
    apart: set[tuple[str, str]] = set()
    for first, second in combinations(nests, 2):
        if _in_one_pipe(schedule, first, second):
            continue
        for earlier in nests[first]:
            for later in nests[second]:
                needed = _waits(earlier, later, ordered, notes)
                apart |= {(earlier.name, later.name) for wait in needed if wait.level < 0}
                orders += [
                    Order(_name(earlier, later, n, len(needed)), wait.after, wait.before, wait.tokens)
                    for n, wait in enumerate(needed)
                ]
    readers = tuple(
        several
        for array in schedule.program.arrays
        if array.name not in passed and (several := _readers(schedule, nests, array.name, apart)).count > 1
    )
    return Dataflow(Plan(tuple(streams), tuple(orders), (), readers), tuple(dict.fromkeys(notes)))


def _in_one_pipe(schedule: Schedule, first: int, second: int) -> bool:
    return any({first, second} <= group for group in schedule.shared)


# --- FIFOs --------------------------------------------------------------------------------------------------


def _passages(
    schedule: Schedule, nests: dict[int, tuple[Visits, ...]], notes: list[Note]
) -> Iterator[tuple[Array, int, int, Passage]]:
    for array in schedule.program.arrays:
        users = _users(nests, array.name)
        if array.role is not Role.LOCAL or len(users) != 2:
            if array.name in schedule.streams and array.role is Role.LOCAL:
                raise CompileError(
                    f"array {array.name} cannot be a stream: {len(users)} nests use it, and a FIFO joins two"
                )
            continue
        producer, consumer = users
        try:
            if _in_one_pipe(schedule, producer, consumer):
                raise NoPassageError("its nests share a pipe")
            stream = passage(array.name, nests[producer], nests[consumer])
        except NoPassageError as error:
            if array.name in schedule.streams:
                raise CompileError(f"array {array.name} cannot be a stream: {error}") from None
            notes.append(Note(array.name, producer, consumer, "tokens", str(error)))
            continue
        notes.append(Note(array.name, producer, consumer, "fifo"))
        yield array, producer, consumer, stream


def _border(schedule: Schedule, nests: dict[int, tuple[Visits, ...]]) -> Iterator[Stream]:
    """Streams of the circuit itself: only those that are asked for."""
    for array in schedule.program.arrays:
        if array.name not in schedule.streams or array.role is Role.LOCAL:
            continue
        users = _users(nests, array.name)
        try:
            if len(users) != 1 or array.role is Role.INOUT:
                raise NoPassageError(f"{len(users)} nests use it as {array.role}, a port goes one way to one")
            if array.role is Role.IN:
                border = arrival(array.name, nests[users[0]])
                yield Stream(array.name, border.entries, None, users[0], None, border.pop)
            else:
                border = departure(array.name, nests[users[0]])
                yield Stream(array.name, border.entries, users[0], None, border.push, None)
        except NoPassageError as error:
            raise CompileError(f"array {array.name} cannot be a stream: {error}") from None


def _users(nests: dict[int, tuple[Visits, ...]], array: str) -> list[int]:
    return [n for n, nest in nests.items() if any(v.reads(array) or v.writes(array) for v in nest)]


# --- tokens -------------------------------------------------------------------------------------------------


def _waits(earlier: Visits, later: Visits, ordered: Sequence[Dependence], notes: list[Note]) -> list[Wait]:
    pairs = conflicts(earlier, later, ordered)
    written = earlier.placed.statement.target.array
    if later.writes(written):
        notes.append(Note(written, earlier.nest, later.nest, "end", "both write it, and a bank has one port"))
        return [after_end(earlier, later)]
    return [] if pairs is None else waits(earlier, later, pairs)


def after_end(earlier: Visits, later: Visits) -> Wait:
    """The first iteration of `later` waits for the last of `earlier`."""
    (before,) = forms(later.iterations.lexmin(), later.loops, later.iterations)
    (after,) = forms(earlier.iterations.lexmax(), earlier.loops, earlier.iterations)
    return Wait(Edge(earlier.name, after), Edge(later.name, before), 1, -1)


def _name(earlier: Visits, later: Visits, number: int, count: int) -> str:
    return f"{earlier.name}_{later.name}" + (f"_{number}" if count > 1 else "")


# --- ports --------------------------------------------------------------------------------------------------


def _readers(
    schedule: Schedule, nests: dict[int, tuple[Visits, ...]], array: str, apart: set[tuple[str, str]]
) -> Readers:
    """Places for the nests that read `array`: the first at which no other reads at the same time."""
    reading = {n: [v for v in nest if v.reads(array)] for n, nest in nests.items()}
    pipes: list[list[int]] = []
    for number in (n for n, readers in reading.items() if readers):
        mine = next((pipe for pipe in pipes if _in_one_pipe(schedule, pipe[0], number)), None)
        if mine is None:
            pipes.append([number])
        else:
            mine.append(number)

    def at_once(pipe: list[int], other: list[int]) -> bool:
        pairs = [(min(pair), max(pair)) for pair in product(pipe, other)]
        return any(
            (s.name, t.name) not in apart
            for first, second in pairs
            for s in reading[first]
            for t in reading[second]
        )

    places: list[list[list[int]]] = []
    for pipe in pipes:
        free = (there for there in places if not any(at_once(pipe, other) for other in there))
        if (place := next(free, None)) is None:
            places.append([pipe])
        else:
            place.append(pipe)
    assigned = [(n, number) for number, there in enumerate(places) for pipe in there for n in pipe]
    return Readers(array, tuple(sorted(assigned)))
