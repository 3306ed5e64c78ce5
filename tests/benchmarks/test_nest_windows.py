"""Windows: one new element and one point a cycle, in RTL, and not without them."""

from __future__ import annotations

import pytest
from benchmarks.nest.nest_windows import KERNELS, measure, scheduled

from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.schedule.replay import replay

IN_RTL = ("conv3x3",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [each if each in IN_RTL else pytest.param(each, marks=pytest.mark.slow) for each in KERNELS]
)
def test_one_read_and_one_point_a_cycle(kernel: str) -> None:
    row = measure(kernel, KERNELS[kernel].small)
    assert row.equal
    assert row.predicted == row.simulated
    assert (row.reads, row.interval) == (1, 1)


@pytest.mark.every(3)
@pytest.mark.parametrize("kernel", KERNELS)
def test_without_windows_the_port_is_the_limit(kernel: str) -> None:
    each = KERNELS[kernel]
    _, windowed = scheduled(kernel, each.small)
    lines = [line for line in each.schedule.splitlines() if "reuse" not in line]
    # (Banks would be another way; here there is one.)
    for array in {line.split()[1] for line in each.schedule.splitlines() if "reuse" in line}:
        lines.append(
            f"partition {array} cyclic " + " ".join("1" for _ in windowed.program.array(array).shape)
        )
    without = replay(each.program(**each.small), "\n".join(lines), kernel)
    plain = max(pipe.interval for pipe in lower(without, plan(without)).circuit.pipes)
    best = max(pipe.interval for pipe in lower(windowed, plan(windowed)).circuit.pipes)
    assert plain >= 3
    assert best == 1
