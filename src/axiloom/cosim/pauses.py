"""A run that is repeated under pauses: is it the same?

The wrapper holds up each channel at random (``rtl/axl_watch.v``): the streams between DMA and device, the
registers, and the ports to memory. A device that keeps the rules gives the same result, later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from axiloom.cosim.job import Job, Result, Stalled
from axiloom.cosim.system import STALLS, Stall

SEEDS = range(1, 5)
"""If none is asked for; each but the first as long as there are cycles left."""
LEAST_CYCLES = 50_000
"""Fabric cycles for the repeated runs, however short the first was."""
LEAST_S = 60.0
"""Wall time that one of them has at least; it has twice that of the first."""

Array = np.ndarray[Any, Any]


def seeds(stall: Stall) -> Sequence[int]:
    if isinstance(stall, range):
        return stall
    return SEEDS if stall == STALLS else ()


def goes_on(result: Result, stall: Stall) -> bool:
    """Whether there is a run with the next seed. Where nobody asked for seeds, all together have no more
    cycles than the run itself, or `LEAST_CYCLES` where it was shorter. What decides does not depend on how
    busy the machine is."""
    before = result.stalled
    if before is None:
        return not result.failed
    room = max(LEAST_CYCLES, int(result.simulation["rtl_cycles"]))
    mean = before.cycles // len(before.seeds)
    fits = isinstance(stall, range) or before.cycles + mean <= room
    return fits and not (before.fault or result.breaches or before.stopped)


def limit_s(result: Result) -> float:
    return max(LEAST_S, 2 * result.simulation["wall_s"])


def compared(result: Result, held: Result, job: Job) -> Result:
    """`result` with what the run under pauses, `held`, gave."""
    assert job.stall is not None
    before = result.stalled or Stalled(())
    wall = held.simulation["wall_s"]
    stalled = replace(
        before,
        seeds=(*before.seeds, job.stall),
        cycles=before.cycles + int(held.simulation["rtl_cycles"]),
    )
    if held.hang is not None and held.stopped is not None and held.stopped.reason:  # the time is over
        words = [run.fabric["words_in"] + run.fabric["words_out"] for run in (held, result)]
        text = f"seed {job.stall} was stopped after {wall:.0f} s, with {words[0]:,} of {words[1]:,} words"
        stalled = replace(stalled, stopped=text)
    elif held.hang or held.fault:
        stalled = replace(stalled, fault=held.hang or held.fault or "", hangs=held.hang is not None)
    elif different := ", ".join(_differences(result.outputs, held.outputs)):
        stalled = replace(stalled, fault=f"the result is another: {different}")
    known = {_rule(line) for line in result.breaches}
    new = [f"{line}, {stalled.name}" for line in held.breaches if _rule(line) not in known]
    return replace(result, stalled=stalled, breaches=[*result.breaches, *new])


def _rule(line: str) -> str:
    """The line without its numbers."""
    return re.sub(r"(, [\d,]+ times, first|,)? at fabric cycle .*|0x[0-9A-F]+", "", line)


def _differences(first: Mapping[str, Array], second: Mapping[str, Array]) -> Iterator[str]:
    for symbol, array in first.items():
        other = second[symbol]
        bytes_ = [np.frombuffer(both.tobytes(), np.uint8) for both in (array, other)]
        where = np.flatnonzero(bytes_[0] != bytes_[1]) // array.dtype.itemsize
        if where.size:
            element = int(where[0])
            index = ", ".join(str(int(part)) for part in np.unravel_index(element, array.shape))
            yield (
                f"{np.unique(where).size:,} of {array.size:,} elements of {symbol}, first [{index}]: "
                f"{other.reshape(-1)[element]}, not {array.reshape(-1)[element]}"
            )
