"""Distances found by isl against those of all iterations: never larger, and equal in boxes."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.polybench import sizes

from axiloom.nests.lower import explain, lower
from axiloom.nests.lower.slots import carried
from axiloom.nests.lower.slots.distances import Distances
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule

SMALL = 6
BOXES = ("gemm", "2mm", "floyd-warshall", "seidel-2d")
"""All loops have constant bounds, in all phases."""
OTHERS = ("trmm", "syrk", "nussinov")
SLOW = ("symm", "lu", "durbin", "jacobi-2d", "fdtd-2d")


def pairs(kernel: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, int | None]]:
    """Both distances of all accesses of the kernel as it is written."""
    found: list[tuple[int | None, int | None]] = []
    enumerated = carried.Carried._least

    def both(self: Any, first: Any, second: Any, where: Any, guard: Any, same: bool) -> int | None:
        exact = enumerated(self, first, second, where, guard, same)
        found.append((exact, Distances(self.space).least(first[0], second[0], where, guard, same)))
        return exact

    monkeypatch.setattr(carried.Carried, "_least", both)
    defines = {name: str(3 if name.startswith("T") else SMALL) for name in sizes.MINI[kernel]}
    lower(Schedule.of(c.read(sizes.source(kernel), defines=defines).program))
    assert found
    return found


@pytest.mark.parametrize(
    "kernel", [*BOXES, *OTHERS, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)]
)
def test_never_too_large(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for exact, bound in pairs(kernel, monkeypatch):
        assert (exact is None) == (bound is None)
        if exact is not None and bound is not None:
            assert bound == exact if kernel in BOXES else bound <= exact


def test_a_large_triangle_keeps_its_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """symm, too large to enumerate: the recurrence of temp2, as for small ones."""
    monkeypatch.setattr(carried, "MOST_POINTS", 100)
    program = c.read(sizes.source("symm"), defines={"M": "9", "N": "8"}).program
    lowered = lower(Schedule.of(program))
    assert lowered.circuit.pipes[0].interval == 4
    assert "read temp2 -> add (3) -> write temp2\n  (distances are lower bounds" in explain(lowered)
    monkeypatch.undo()
    assert "lower bounds" not in explain(lowered)
