"""Cycles and occupancy are those of the RTL, in Amaranth's simulator."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, assume, event, given, settings
from tests.hw.component_bench import simulate
from tests.nests.timing.circuits import circuits
from tests.nests.timing.test_timing import deeper

from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.core import Core, input_name, output_name, peak_name
from axiloom.nests import timing
from axiloom.nests.timing import DeadlockError

FOUND = (Phase.explicit, Phase.reuse, Phase.generate)
"""No shrinking: an example takes a tenth of a second."""


def none(*_: Any) -> Any:
    raise AssertionError("no operators here")


def simulated(circuit: Circuit, limit: int = 600) -> tuple[int, dict[str, int]] | None:
    """Cycles and peaks; None if the RTL is not done after `limit` cycles."""
    core = Core(circuit, none, checks=True)
    found: list[tuple[int, dict[str, int]] | None] = [None]

    async def bench(ctx: Any) -> None:
        for port in circuit.inputs:
            ctx.set(getattr(core, input_name(port)).tvalid, 1)
        for port in circuit.outputs:
            ctx.set(getattr(core, output_name(port)).tready, 1)
        ctx.set(core.start, 1)
        await ctx.tick()
        ctx.set(core.start, 0)
        for _ in range(limit):
            await ctx.tick()
            if ctx.get(core.done):
                assert not ctx.get(core.debug_error), core.checks[ctx.get(core.debug_error) - 1]
                peaks = {each.name: ctx.get(getattr(core, peak_name(each))) for each in circuit.fifos}
                found[0] = ctx.get(core.cycles), peaks
                return

    simulate(core, bench)
    return found[0]


def as_predicted(circuit: Circuit) -> None:
    try:
        expected = timing.cycles(circuit)
    except DeadlockError:
        event("deadlock")
        assert simulated(circuit) is None
        return
    event("ends")
    assert simulated(circuit) == (expected.cycles, expected.largest)


def smallest(circuit: Circuit) -> None:
    """The smallest depths are the peaks seen, and one place fewer costs cycles or never ends."""
    try:
        fitted = timing.fit(circuit)
    except DeadlockError:
        assume(False)
    assert simulated(fitted.circuit) == (fitted.cycles, fitted.largest)
    for name, cycles in list(fitted.one_fewer.items())[:2]:
        depth = fitted.circuit.fifo(name).depth
        assert fitted.largest[name] == depth
        seen = simulated(deeper(fitted.circuit, name, depth=depth - 1))
        if cycles is None:
            assert seen is None
        else:
            assert seen is not None
            assert seen[0] == cycles > fitted.cycles


@given(circuits(balanced=True))
@settings(max_examples=20, deadline=None, phases=FOUND)
def test_predicted_is_simulated(circuit: Circuit) -> None:
    as_predicted(circuit)


@given(circuits(balanced=True))
@settings(max_examples=5, deadline=None, phases=FOUND)
def test_one_place_fewer_stalls_in_rtl_too(circuit: Circuit) -> None:
    smallest(circuit)


@pytest.mark.slow
@given(circuits(balanced=True))
@settings(max_examples=100, deadline=None, phases=FOUND)
def test_predicted_is_simulated_for_many(circuit: Circuit) -> None:
    as_predicted(circuit)


@pytest.mark.slow
@given(circuits(balanced=True))
@settings(max_examples=40, deadline=None, phases=FOUND)
def test_one_place_fewer_stalls_in_rtl_too_for_many(circuit: Circuit) -> None:
    smallest(circuit)
