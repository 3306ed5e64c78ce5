"""Circuits of plans compute what programs say; predicted cycles and depths are those that are executed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st
from tests.nests.dataflow.programs import chains, initial, schedules, sequential
from tests.nests.lower.programs import operation, raw
from tests.nests.timing.test_timing import deeper

from axiloom.base.errors import CompileError
from axiloom.nests import timing
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import Lowered, lower
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing import DeadlockError, Depths
from axiloom.nests.timing.execute import execute

FOUND = (Phase.explicit, Phase.reuse, Phase.generate)


def contents(lowered: Lowered, schedule: Schedule) -> dict[str, np.ndarray]:
    """All arrays at the start, by memory."""
    memories = {each.name for each in lowered.circuit.memories}
    found = {}
    for array in schedule.program.arrays:
        if array.name in memories:
            values = np.fromfunction(
                np.vectorize(lambda *at, name=array.name: initial(name, tuple(map(int, at)))), array.shape
            )
            found[array.name] = lowered.layouts[array.name].to_banks(raw(values.astype(np.int32)))
    return found


def computes_the_same(schedule: Schedule) -> tuple[Lowered, Depths]:
    """With the smallest FIFOs; raises CompileError for what is not lowered."""
    found = plan(schedule)
    lowered = lower(schedule, found)
    fitted = timing.fit(lowered.circuit)
    done = execute(fitted.circuit, contents(lowered, schedule), operation)
    predicted = timing.cycles(fitted.circuit)
    assert (done.cycles, dict(done.largest)) == (predicted.cycles, predicted.largest)
    expected = sequential(schedule)
    streamed = {each.array for each in found.streams}
    for (name, element), value in expected.items():
        if name not in streamed:
            layout = lowered.layouts[name]
            bank, address = layout.indices()
            assert int(done.memories[name][bank[element], address[element]]) == value % 2**32, (name, element)
    return lowered, fitted


def one_place_fewer(fitted: Depths) -> None:
    for name, cycles in fitted.one_fewer.items():
        assert fitted.largest[name] == fitted.circuit.fifo(name).depth
        smaller = deeper(fitted.circuit, name, depth=fitted.circuit.fifo(name).depth - 1)
        if cycles is None:
            with pytest.raises(DeadlockError):
                timing.cycles(smaller)
        else:
            assert timing.cycles(smaller).cycles == cycles > fitted.cycles


def check(schedule: Schedule) -> None:
    try:
        lowered, fitted = computes_the_same(schedule)
    except CompileError as error:
        event(f"refused: {str(error)[:60]}")
        return
    one_place_fewer(fitted)
    event(f"{sum(each.bits > 0 for each in lowered.circuit.fifos)} FIFOs")
    alone = timing.cycles(lower(schedule).circuit).cycles
    event("sooner" if fitted.cycles < alone else "as soon" if fitted.cycles == alone else "later")


@given(chains())
@settings(max_examples=15, deadline=None, phases=FOUND)
def test_chains(schedule: Schedule) -> None:
    check(schedule)


@given(schedules())
@settings(max_examples=15, deadline=None, phases=FOUND)
def test_random_programs(schedule: Schedule) -> None:
    check(schedule)


@pytest.mark.slow
@given(st.one_of(chains(), schedules()))
@settings(max_examples=100, deadline=None, phases=FOUND)
def test_many(schedule: Schedule) -> None:
    check(schedule)
