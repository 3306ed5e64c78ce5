"""Random circuits: RTL and model agree in every word and in the cycles."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.nest import model
from tests.nest.icarus import run_icarus
from tests.nest.random_circuits import circuits
from tests.nest.test_run import data

from axiloom.hw.nest.circuit import Circuit

QUIET = {
    "deadline": None,
    "database": None,
    "phases": [Phase.generate],  # to shrink takes minutes
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}


@pytest.mark.slow
@settings(max_examples=60, **QUIET)
@given(circuits())
def test_many(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    outcome = run_icarus(circuit, memories, inputs, find=model.plain)
    model.compare(circuit, outcome, expected)
    assert outcome.peaks == expected.peaks
