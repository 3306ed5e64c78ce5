"""The smallest FIFOs that cost no cycle: one place fewer does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from tests.nests.timing.circuits import circuits
from tests.nests.timing.test_timing import deeper, fork, pair

from axiloom.hw.nest.circuit import Circuit
from axiloom.nests import timing
from axiloom.nests.timing import DeadlockError


@given(circuits())
@settings(max_examples=80, deadline=None)
def test_no_place_is_spare(circuit: Circuit) -> None:
    try:
        found = timing.fit(circuit)
    except DeadlockError:
        endless = replace(circuit, fifos=tuple(replace(f, depth=500) for f in circuit.fifos))
        with pytest.raises(DeadlockError):
            timing.cycles(endless)
        return
    result = timing.cycles(found.circuit)
    assert result.cycles == found.cycles
    assert result.largest == found.largest
    for fifo in found.circuit.fifos:
        if found.largest[fifo.name] > 1:
            assert found.largest[fifo.name] == fifo.depth
        if fifo.name not in found.one_fewer:
            assert fifo.depth == max(fifo.initial, 1)
            continue
        try:
            fewer = timing.cycles(deeper(found.circuit, fifo.name, depth=fifo.depth - 1)).cycles
            assert fewer > found.cycles
        except DeadlockError:
            fewer = None
        assert fewer == found.one_fewer[fifo.name]


@given(circuits())
@settings(max_examples=40, deadline=None)
def test_more_places_never_cost_a_cycle(circuit: Circuit) -> None:
    try:
        cycles = timing.cycles(circuit).cycles
    except DeadlockError:
        return
    assume(all(each.interval == 1 for each in circuit.pipes))
    for fifo in circuit.fifos:
        assert timing.cycles(deeper(circuit, fifo.name, depth=fifo.depth + 1)).cycles <= cycles


def test_depths_of_a_pair_and_of_a_fork() -> None:
    found = timing.fit(pair(1))
    assert (found.circuit.fifo("f").depth, found.cycles, found.one_fewer) == (6, 15, {"f": 16})
    assert found.bits == 48
    found = timing.fit(fork(1))
    assert {each.name: each.depth for each in found.circuit.fifos} == {"short": 2, "long": 6, "end": 1}
    assert found.one_fewer == {"short": 21, "long": None}
