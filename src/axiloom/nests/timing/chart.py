"""`chart`: a Gantt chart of a circuit's pipes and the occupancy of its FIFOs as plain data, for reports.

    {"cycles": 96,
     "pipes": [{"name", "interval", "iterations", "last_slot",
                "runs": [[from, to, iterations], ...],   cycles of the first and the last issue, both included
                "busy": ..., "stalls": [{"fifo", "why", "cycles"}, ...]}, ...],
     "ports": [{"fifo", "runs": ...}, ...],
     "fifos": [{"name", "bits", "depth", "initial", "largest", "steps": [[cycle, places], ...]}, ...]}

A run is what is issued without a stall. Where there are more than `most` runs or steps, neighbours are put
together: a run then spans stalls, and a step shows the most places taken until the next one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from axiloom.nests.timing.occupancy import Occupancy
from axiloom.nests.timing.solver import Issues
from axiloom.nests.timing.timing import Timing

Json = dict[str, Any]


def chart(timing: Timing, most: int = 400) -> Json:
    """What the module says, with at most `most` runs a pipe and `most` steps a FIFO."""
    return {
        "cycles": timing.cycles,
        "pipes": [
            {
                "name": name,
                "interval": pipe.track.interval,
                "iterations": pipe.track.iterations,
                "last_slot": pipe.track.last_slot,
                "runs": runs(pipe, most),
                "busy": round(pipe.track.iterations * pipe.track.interval / max(timing.cycles, 1), 4),
                "stalls": [
                    {"fifo": fifo, "why": why, "cycles": cycles}
                    for (fifo, why), cycles in sorted(pipe.stalls.items())
                ],
            }
            for name, pipe in timing.pipes.items()
        ],
        "ports": [{"fifo": fifo, "runs": runs(port, most)} for fifo, port in timing.ports.items()],
        "fifos": [
            {
                "name": name,
                "bits": fifo.bits,
                "depth": fifo.depth,
                "initial": fifo.initial,
                "largest": timing.occupancy(name).largest,
                "steps": steps(timing.occupancy(name), most),
            }
            for name, fifo in timing.fifos.items()
        ],
    }


def runs(issues: Issues, most: int) -> list[list[int]]:
    """``[first issue, last issue, iterations]`` in order; the shortest gaps are closed first."""
    count = issues.track.iterations
    if not count:
        return []
    rises = np.diff(issues.base, prepend=issues.start)
    starts = issues.events[rises > 0]
    gaps = rises[rises > 0]
    if len(starts) >= most:
        keep = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
        starts = starts[keep]
    begins = np.unique(np.concatenate([np.zeros(1, np.int64), starts]))
    ends = np.append(begins[1:], count) - 1
    columns = (issues.at(begins), issues.at(ends), ends - begins + 1)
    return [[int(number) for number in row] for row in zip(*columns, strict=True)]


def steps(occupancy: Occupancy, most: int) -> list[list[int]]:
    """``[cycle, places]`` in order, each until the next."""
    cycles, taken = occupancy.cycles, occupancy.taken
    if len(cycles) > most:
        heads = np.linspace(0, len(cycles), most, endpoint=False).astype(np.int64)
        cycles, taken = cycles[heads], np.maximum.reduceat(taken, heads)
    return [[int(cycle), int(places)] for cycle, places in zip(cycles, taken, strict=True)]


def text(timing: Timing, width: int = 72) -> str:
    """The chart for a terminal: a line a pipe, ``#`` where it issues most of the time, ``.`` where it waits
    between issues, and a line a FIFO with tenths of its depth."""
    edges = np.linspace(1, timing.cycles + 1, width + 1)
    labels = [*timing.pipes, *timing.fifos]
    margin = max((len(label) for label in labels), default=0)
    lines = []
    for name, pipe in timing.pipes.items():
        times = timing.issue_times(name)
        counts, _ = np.histogram(times, edges)
        full = np.diff(edges) / pipe.track.interval
        begun, ended = np.searchsorted(edges, times[[0, -1]], "right") - 1
        marks = [
            "#" if counts[n] * 2 > full[n] else "+" if counts[n] else "." if begun <= n <= ended else " "
            for n in range(width)
        ]
        lines.append(f"{name:>{margin}} |{''.join(marks)}|")
    for name, fifo in timing.fifos.items():
        steps = timing.occupancy(name)
        marks = []
        for low, high in pairwise(edges):
            begin = max(0, int(np.searchsorted(steps.cycles, low, "right")) - 1)
            end = max(begin + 1, int(np.searchsorted(steps.cycles, high, "left")))
            most = int(steps.taken[begin:end].max())
            marks.append(" " if not most else str(min(9, most * 10 // max(fifo.depth, 1))))
        lines.append(f"{name:>{margin}} |{''.join(marks)}| {steps.largest} of {fifo.depth}")
    return "\n".join(lines)
