"""Schedules against enumeration.

No illegal schedule may be accepted, no legal one refused for its order; each accepted one executes the same
instances and computes the same; each witness is a pair that does swap, and each alternative is legal.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from tests.nests.fuzz.lines import order_line
from tests.nests.schedule.enumeration import memory, scheduled_order, swapped, written_order

from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.legality import swap
from axiloom.nests.schedule.replay import replay, text


def check(rng: Random, program: Program, counts: Counter[str]) -> Schedule:
    """Up to five lines; gives what was accepted of them."""
    order = written_order(program)
    meant = memory(program, order)
    schedule = Schedule.of(program)
    assert scheduled_order(schedule) == order
    for _ in range(rng.randint(1, 5)):
        line = order_line(rng, schedule)
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
    return schedule


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
