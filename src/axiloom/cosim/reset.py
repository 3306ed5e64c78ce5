"""Is a module that hangs held in reset? It is asked: does it give a result with the other polarity?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from axiloom.cosim import diagnosis
from axiloom.cosim.job import Job, Result

if TYPE_CHECKING:
    from axiloom.cosim.system import System

WATCHDOG = 20_000
"""Fabric cycles without progress in the run with the other polarity."""
TIMEOUT_S = 20.0


def may_be_wrong(system: System, job: Job, result: Result) -> bool:
    """A user's module with a reset hangs, and no word of a result has come."""
    rtl = system.user_rtl
    return bool(
        result.hang and job.reset and rtl is not None and rtl.resets and not result.fabric["words_out"]
    )


def turned(job: Job, result: Result) -> Job:
    terminal = job.terminal.again(result.taken)
    again = replace(job, invert_reset=True, layers=(), terminal=terminal, gdb=None)
    return replace(again, watchdog_cycles=WATCHDOG, timeout_s=TIMEOUT_S)


def told(system: System, result: Result, other: Result) -> Result:
    """`result` with what the run with the other polarity, `other`, says of it."""
    rtl, stopped = system.user_rtl, result.stopped
    if not other.fabric["words_out"] or rtl is None or stopped is None:
        return result
    name, low = next(iter(rtl.resets.items()))
    level = "high" if low else "low"
    says = f'"reset": "{name}", "reset_active_low": {str(not low).lower()}'
    text = (
        f"the module is held in reset: {name} is taken for active {'low' if low else 'high'}, and results "
        f"come if it is active {level} (`rtl`: {{{says}}})"
    )
    stopped = replace(stopped, reset=text)
    return replace(result, stopped=stopped, hang=diagnosis.hang_message(stopped))
