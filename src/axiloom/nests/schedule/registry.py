"""The primitives by name: functions from a schedule and plain values to a schedule.

Whoever writes one puts it in a file of ``primitives/`` and marks it with :func:`primitive`; then schedules
have it as a method, and text files as a line (``tile S2 i j 4 16``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Concatenate, ParamSpec

from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import tidy
from axiloom.nests.schedule.schedule import PRIMITIVES, Schedule

P = ParamSpec("P")


def primitive(
    function: Callable[Concatenate[Schedule, P], Schedule],
) -> Callable[Concatenate[Schedule, P], Schedule]:
    """Registers it, and adds a line to the log of what it returns."""
    name = function.__name__
    signature = inspect.signature(function)

    @functools.wraps(function)
    def logged(schedule: Schedule, /, *args: P.args, **options: P.kwargs) -> Schedule:
        asked = line(name, args, options)
        try:
            signature.bind(schedule, *args, **options)
        except TypeError as fault:
            raise ScheduleError(f"{asked}: {fault}; {usage(name)}") from None
        return replace(tidy(function(schedule, *args, **options)), log=(*schedule.log, asked))

    PRIMITIVES[name] = logged
    return logged


def usage(name: str) -> str:
    """``use: split STATEMENT LOOP FACTOR [outer=] [inner=]``"""
    words = []
    for parameter in list(inspect.signature(PRIMITIVES[name]).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"{parameter.name.upper()}...")
        elif parameter.kind is parameter.VAR_KEYWORD:
            words.append(f"[{parameter.name.upper()}...]")
        elif parameter.default is parameter.empty:
            words.append(parameter.name.upper())
        else:
            words.append(f"[{parameter.name}={parameter.default}]")
    return f"use: {' '.join([name, *words])}"


def line(name: str, args: tuple[object, ...], options: Mapping[str, object]) -> str:
    return " ".join([name, *map(str, args), *(f"{key}={value}" for key, value in options.items())])
