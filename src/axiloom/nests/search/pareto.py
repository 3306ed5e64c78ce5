"""The Pareto front: cycles against DSP slices and LUTs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import CompileError
from axiloom.base.processes import EndedError, ended_after
from axiloom.nests.program import Program
from axiloom.nests.search.best import Progress, SearchResult, auto
from axiloom.nests.search.exact import Exact
from axiloom.nests.search.limits import Limits


def front(points: Iterable[Exact]) -> list[Exact]:
    """Those of which no other is as good in cycles, DSP slices and LUTs; the fastest first."""
    built = {point.text: point for point in points if point.cycles is not None}.values()
    ordered = sorted(built, key=lambda point: (_costs(point), point.text))
    kept: list[Exact] = []
    for candidate in ordered:
        if not any(
            all(a <= b for a, b in zip(_costs(other), _costs(candidate), strict=True)) for other in kept
        ):
            kept.append(candidate)
    return kept


def _costs(point: Exact) -> tuple[int, int, int]:
    assert point.cycles is not None
    return (point.cycles, point.amount.dsp, point.amount.lut)


def pareto(
    program: Program,
    limits: Limits,
    *,
    points: Path | None = None,
    progress: Progress | None = None,
    seconds: float | None = None,
) -> tuple[SearchResult, list[Exact]]:
    """The best under `limits`, and the front of what is found under halves of its lanes, down to one; what is
    found in `seconds`, where they are fewer."""
    end = None if seconds is None else time.monotonic() + seconds
    fewer = (1 << power for power in range((limits.lanes - 1).bit_length()))
    results: list[SearchResult] = []
    try:
        for lanes in (limits.lanes, *fewer):
            with ended_after(None if end is None else end - time.monotonic()):
                within = replace(limits, lanes=lanes)
                results.append(auto(program, within, points=points, progress=progress))
            if results[-1].stopped:
                break
    except EndedError:
        if not results:
            raise CompileError(f"{program.name}: nothing was tried in {seconds:g} s") from None
    tried = [point for result in results for point in (*result.points, result.best)]
    return results[0], front(point for point in tried if point.amount.fits(limits.amount))
