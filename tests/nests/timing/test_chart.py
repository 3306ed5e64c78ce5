"""The chart says what the timing says, as plain data."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from tests.nests.timing.circuits import circuits
from tests.nests.timing.test_timing import pair

from axiloom.hw.nest.circuit import Circuit
from axiloom.nests import timing
from axiloom.nests.timing import DeadlockError
from axiloom.nests.timing.chart import chart, runs, steps, text


def test_a_chart_of_a_pair_is_json() -> None:
    found = chart(timing.cycles(pair(5)))
    assert json.loads(json.dumps(found)) == found
    assert found == {
        "cycles": 16,
        "pipes": [
            {
                "name": "a",
                "interval": 1,
                "iterations": 8,
                "last_slot": 4,
                "runs": [[1, 5, 5], [7, 9, 3]],
                "busy": 0.5,
                "stalls": [{"fifo": "f", "why": "full", "cycles": 1}],
            },
            {
                "name": "b",
                "interval": 1,
                "iterations": 8,
                "last_slot": 2,
                "runs": [[6, 10, 5], [12, 14, 3]],
                "busy": 0.5,
                "stalls": [{"fifo": "f", "why": "empty", "cycles": 6}],
            },
        ],
        "ports": [],
        "fifos": [
            {
                "name": "f",
                "bits": 8,
                "depth": 5,
                "initial": 0,
                "largest": 5,
                "steps": [
                    *([0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [10, 4], [11, 3]),
                    *([13, 2], [14, 1], [15, 0]),
                ],
            }
        ],
    }


@given(circuits())
@settings(max_examples=40, deadline=None)
def test_runs_and_steps_are_those_of_the_timing(circuit: Circuit) -> None:
    try:
        found = timing.cycles(circuit)
    except DeadlockError:
        return
    for name, each in found.pipes.items():
        times = found.issue_times(name)
        spread = [np.arange(first, last + 1, each.track.interval) for first, last, _ in runs(each, 10**6)]
        assert np.array_equal(np.concatenate(spread), times)
        few = runs(each, 3)
        assert len(few) <= 3
        assert sum(count for _, _, count in few) == each.track.iterations
        assert (few[0][0], few[-1][1]) == (times[0], times[-1])
    for name in found.fifos:
        few = steps(found.occupancy(name), 4)
        assert len(few) <= 4
        assert max(taken for _, taken in few) == found.largest[name]


def test_a_chart_for_a_terminal() -> None:
    assert text(timing.cycles(pair(5)), 16) == "\n".join(
        ["a |#####.###       |", "b |     #####.###  |", "f |24689999986642  | 5 of 5"]
    )
