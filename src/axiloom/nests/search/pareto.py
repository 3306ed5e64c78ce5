"""The Pareto front: cycles against DSP slices and LUTs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

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
) -> tuple[SearchResult, list[Exact]]:
    """The best under `limits`, and the front of what is found under halves of its lanes, down to one."""
    best = auto(program, limits, points=points, progress=progress)
    tried = [*best.points, best.best]
    lanes = 1
    while lanes < limits.lanes:
        tried += _of(auto(program, replace(limits, lanes=lanes), points=points, progress=progress))
        lanes *= 2
    return best, front(point for point in tried if point.amount.fits(limits.amount))


def _of(outcome: SearchResult) -> list[Exact]:
    return [*outcome.points, outcome.best]
