"""Random programs under random schedules, against enumeration: ``python -m tests.nests.schedule.fuzz``.

No illegal schedule may be accepted, no legal one refused for its order; each accepted one executes the same
instances and computes the same; each witness is a pair that does swap, and each alternative is legal.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

from tests.nests.schedule.enumeration import memory, scheduled_order, swapped, written_order

from axiloom.isa.affine import Affine
from axiloom.nests.program import Array, Expression, Literal, Load, Op, Program, Role, Statement
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.legality import swap
from axiloom.nests.schedule.replay import replay, text

NUMBER = "int32"
ARRAYS = (
    Array("A", (32, 32), NUMBER, Role.INOUT),
    Array("B", (32,), NUMBER, Role.INOUT),
    Array("s", (), NUMBER, Role.INOUT),
)
NAMES = ("i", "j", "k")
MOST_STATEMENTS, MOST_INSTANCES = 3, 200


def random_program(rng: random.Random) -> Program:
    """One to three statements in a random tree of loops, some with triangular bounds."""
    statements: list[Statement] = []

    def body(loops: tuple[str, ...], forms: tuple[Affine, ...], place: tuple[int, ...]) -> None:
        for number in range(rng.choice((1, 1, 2, 3))):
            if len(statements) == MOST_STATEMENTS:
                return
            here = (*place, number)
            if len(loops) == len(NAMES) or (loops and rng.random() < 0.4):
                statements.append(random_statement(rng, f"S{len(statements) + 1}", loops, forms, here))
            else:
                name = NAMES[len(loops)]
                body((*loops, name), (*forms, *random_bounds(rng, name, loops)), here)

    body((), (), ())
    if not statements:
        return random_program(rng)
    return Program("random", ARRAYS, tuple(statements))


def random_bounds(rng: random.Random, name: str, outer: tuple[str, ...]) -> tuple[Affine, Affine]:
    low, extent = Affine.of(rng.choice((0, 0, 1, -1))), rng.randint(1, 4)
    high = low + extent
    if outer and rng.random() < 0.3:
        low, high = rng.choice(
            ((Affine.name(rng.choice(outer)), high), (low, Affine.name(rng.choice(outer))))
        )
    return Affine.name(name) - low, high - Affine.name(name)


def random_statement(
    rng: random.Random, name: str, loops: tuple[str, ...], forms: tuple[Affine, ...], place: tuple[int, ...]
) -> Statement:
    value: Expression = Literal(1, NUMBER)
    for _ in range(rng.randint(0, 3)):
        value = Op("add", (value, random_access(rng, loops)), NUMBER)
    return Statement(name, loops, forms, random_access(rng, loops), value, place)


def random_access(rng: random.Random, loops: tuple[str, ...]) -> Load:
    array = rng.choice(ARRAYS[:2] * 3 + ARRAYS)
    return Load(array.name, tuple(random_form(rng, loops) for _ in array.shape), NUMBER)


def random_form(rng: random.Random, loops: tuple[str, ...]) -> Affine:
    factor = rng.choice((1, 1, 1, 1, 2, -1))
    form = Affine.name(rng.choice(loops)) * factor if rng.random() < 0.9 else Affine.of(0)
    if rng.random() < 0.25:
        form = form + Affine.name(rng.choice(loops)) * rng.choice((1, -1))
    return form + rng.choice((0, 0, 0, 1, 2, -1))


def random_line(rng: random.Random, schedule: Schedule) -> str:
    placed = rng.choice(schedule.statements)
    name, loops = placed.statement.name, list(placed.loops)
    other = rng.choice(schedule.statements)
    loop, again = rng.choice(loops), rng.choice(loops)
    some = rng.sample(loops, min(len(loops), rng.randint(1, 3)))
    return rng.choice(
        (
            f"split {name} {loop} {rng.randint(1, 4)}",
            f"tile {name} {' '.join(some)} {' '.join(str(rng.randint(1, 3)) for _ in some)}",
            f"interchange {name} {loop} {again}",
            f"reorder {name} {' '.join(some)}",
            f"skew {name} {loop} {again} {rng.choice((1, 2, -1))}",
            f"shift {name} {loop} {rng.choice((1, 2, -1, -2))}",
            f"fuse {name} {other.statement.name} {rng.choice(other.loops)} {rng.choice(('after', 'before'))}",
            f"fuse {name} {other.statement.name} {rng.choice(other.loops)}",
            f"fuse {name} {other.statement.name}",
            f"sink {name} {other.statement.name} {other.loops[-1]} {rng.choice(('first', 'last', 1))}",
            f"fission {name} {loop}",
            f"unroll {name} {loop} {rng.choice((0, 2, 3))}",
        )
    )


def check(rng: random.Random, counts: Counter[str]) -> None:
    program = random_program(rng)
    order = written_order(program)
    if not order or len(order) > MOST_INSTANCES:
        counts["too small or too large"] += 1
        return
    meant = memory(program, order)
    schedule = Schedule.of(program)
    assert scheduled_order(schedule) == order
    for _ in range(rng.randint(1, 5)):
        line = random_line(rng, schedule)
        try:
            schedule = replay(schedule, line)
            counts["accepted"] += 1
        except LegalityError as fault:
            counts["refused for order"] += 1
            refused_rightly(program, schedule, line, fault, counts)
            continue
        except ScheduleError:
            counts["refused for form"] += 1
            continue
        done = scheduled_order(schedule)
        assert sorted(done) == sorted(order), f"instances lost or doubled by {line}"
        assert not swapped(program, done), f"illegal, but accepted: {line}"
        assert memory(program, done) == meant
    assert replay(program, text(schedule)) == schedule


def refused_rightly(
    program: Program, schedule: Schedule, line: str, fault: LegalityError, counts: Counter[str]
) -> None:
    assert fault.refused is not None
    pairs = swapped(program, scheduled_order(fault.refused))
    assert pairs, f"legal, but refused: {line}"
    witness = swap(fault.refused)
    assert witness is not None
    pair = (witness.source, witness.source_at), (witness.sink, witness.sink_at)
    assert pair in pairs, f"{witness} does not happen in {line}"
    if fault.alternative:
        counts["with an alternative"] += 1
        instead = replay(schedule, "\n".join(fault.alternative))
        assert not swapped(program, scheduled_order(instead)), f"illegal alternative: {fault.alternative}"


def run(count: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        try:
            check(rng, counts)
        except Exception:
            print(f"fault in program {number} of seed {seed}", file=sys.stderr)
            raise
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="programs, each with up to five primitives")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    started = time.monotonic()
    counts = run(asked.count, asked.seed)
    found = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    print(f"{asked.count} programs, seed {asked.seed}: {found}; {time.monotonic() - started:.0f} s, no fault")


if __name__ == "__main__":
    main()
