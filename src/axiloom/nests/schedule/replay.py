"""Schedules as text: a primitive a line, as in a schedule's log. ``tile S2 i j 4 16``; # begins a comment.

Words are names, whole numbers are numbers, ``name=word`` is an option. Nothing is evaluated.
"""

from __future__ import annotations

import re

from axiloom.nests.program import Program
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.loops import unknown
from axiloom.nests.schedule.schedule import Schedule, primitives

_NUMBER = re.compile(r"[+-]?\d+")
_OPTION = re.compile(r"([A-Za-z_]\w*)=(.+)")


def replay(start: Program | Schedule, text: str, source: str = "schedule") -> Schedule:
    """The schedule after all lines. Raises ScheduleError with `source` and the line's number."""
    schedule = start if isinstance(start, Schedule) else Schedule.of(start)
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            schedule = _applied(schedule, words)
        except LegalityError as fault:
            raise LegalityError(f"{source}:{number}: {fault}", fault.alternative, fault.refused) from None
        except ScheduleError as fault:
            raise ScheduleError(f"{source}:{number}: {fault}") from None
    return schedule


def text(schedule: Schedule) -> str:
    """What `replay` reads."""
    return "".join(f"{line}\n" for line in schedule.log)


def _applied(schedule: Schedule, words: list[str]) -> Schedule:
    name, *rest = words
    if name not in primitives():
        raise ScheduleError(unknown("primitive", name, list(primitives())))
    args: list[str | int] = []
    options: dict[str, str | int] = {}
    for word in rest:
        option = _OPTION.fullmatch(word)
        if option:
            options[option[1]] = _value(option[2])
        elif options:
            raise ScheduleError(f"{' '.join(words)}: {word} comes after an option: options come last")
        else:
            args.append(_value(word))
    return primitives()[name](schedule, *args, **options)


def _value(word: str) -> str | int:
    return int(word) if _NUMBER.fullmatch(word) else word
