"""Circuits in Verilator do what their docstring says, in as many cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiloom.hw.nest.circuit import Circuit, Storage
from axiloom.nest import NestError, Pauses, run, runs

from . import circuits, model


def data(circuit: Circuit, seed: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    memories = {
        each.name: rng.integers(0, 1 << each.bits, (each.banks, each.depth), np.uint64)
        for each in circuit.memories
        if each.external
    }
    inputs = {
        port.fifo: rng.integers(0, 1 << circuit.fifo(port.fifo).bits, port.elements, np.uint64)
        for port in circuit.inputs
    }
    return memories, inputs


ALL = [
    circuits.one_pipe(),
    circuits.triangular(),
    circuits.shared_unit(),
    circuits.stalled_shared_unit(),
    circuits.fifo(3, 2),
    circuits.fifo(1, 1),
    circuits.fifo(100, 3),
    circuits.tokens(),
    circuits.streams(),
    circuits.dynamic_banks(),
    circuits.accumulate(Storage.BLOCK),
    circuits.accumulate(Storage.DISTRIBUTED),
    circuits.accumulate(Storage.REGISTERS),
]


@pytest.mark.parametrize("circuit", ALL, ids=lambda circuit: circuit.name)
def test_as_the_model(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    outcome = run(circuit, memories, inputs, find=model.plain)
    model.compare(circuit, outcome, expected)
    assert outcome.peaks == expected.peaks
