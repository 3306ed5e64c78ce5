"""The same in RTL: the printed Verilog in Icarus, with its own checks on."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from tests.nest.icarus import run_icarus
from tests.nests.fuzz.circuits import Built, smaller

from axiloom.nest.run import NestError
from axiloom.nests import timing


def check(rng: Random, built: Built, counts: Counter[str]) -> None:
    """Values, cycles, and the fill of each FIFO; and one FIFO with one place fewer."""
    fitted = built.fitted
    outcome = run_icarus(fitted.circuit, built.memories)
    assert not (wrong := built.wrong(outcome.memories)), f"wrong in RTL: {wrong}"
    assert (outcome.cycles, outcome.peaks) == (fitted.cycles, dict(fitted.largest))
    counts["in RTL"] += 1
    counts["in RTL with FIFOs of data"] += any(each.bits for each in fitted.circuit.fifos)
    if not fitted.one_fewer:
        return
    name, cycles = rng.choice([*fitted.one_fewer.items()])
    circuit = smaller(fitted.circuit, name)
    if cycles is None:
        with pytest.raises(NestError, match="not done"):
            run_icarus(circuit, built.memories)
        counts["in RTL, one fewer never ends"] += 1
        return
    outcome = run_icarus(circuit, built.memories)
    predicted = timing.cycles(circuit)
    assert (outcome.cycles, outcome.peaks) == (cycles, predicted.largest)
    assert not built.wrong(outcome.memories)
    counts["in RTL, one fewer stalls"] += 1
