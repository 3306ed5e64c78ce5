"""2mm with both products at once, in Verilator: results, cycles, the fill of FIFOs, and one place fewer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.nests.lower.programs import banks, random_values, raw
from tests.nests.timing.test_timing import deeper

import axiloom.nests.schedule.primitives  # noqa: F401  (registers them)
from axiloom.nest import run as run_rtl
from axiloom.nests import timing
from axiloom.nests.affine import oracle
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import Lowered, lower
from axiloom.nests.program import Program
from axiloom.nests.read.c import read
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import Depths

POLYBENCH = Path(__file__).parents[3] / "benchmarks" / "polybench"
SIZES = {"NI": "7", "NJ": "24", "NK": "5", "NL": "11"}


def small() -> tuple[Program, Lowered, Depths]:
    program = read(POLYBENCH / "2mm.c", defines=SIZES).program
    text = (POLYBENCH / "schedules" / "2mm.stream.sched").read_text().replace(" 30", " 3")
    schedule = replay(program, text)
    lowered = lower(schedule, plan(schedule))
    return program, lowered, timing.fit(lowered.circuit)


def test_the_smallest_depths_are_few() -> None:
    _, lowered, fitted = small()
    assert [each.name for each in fitted.circuit.fifos] == ["tmp_0", "tmp_1", "tmp_2"]
    depths = {each.depth for each in fitted.circuit.fifos}
    assert len(depths) == 1
    assert fitted.largest == {each.name: each.depth for each in fitted.circuit.fifos}
    assert fitted.cycles == timing.cycles(lowered.circuit).cycles
    assert all(each is None or each > fitted.cycles for each in fitted.one_fewer.values())


@pytest.mark.slow
def test_in_verilator() -> None:
    program, lowered, fitted = small()
    values = random_values(program)
    expected = oracle.execute(program, values)
    memories = banks(lowered, program, values)
    outcome = run_rtl(fitted.circuit, memories)
    assert (outcome.cycles, outcome.peaks) == (fitted.cycles, fitted.largest)
    found = lowered.layouts["D"].from_banks(outcome.memories["D"].astype(np.uint32))
    np.testing.assert_array_equal(found, raw(expected["D"]))
    depth = fitted.circuit.fifo("tmp_0").depth
    smaller = deeper(fitted.circuit, *fitted.largest, depth=depth - 1)
    predicted = timing.cycles(smaller)
    outcome = run_rtl(smaller, memories)
    assert (outcome.cycles, outcome.peaks) == (predicted.cycles, predicted.largest)
    assert outcome.cycles == fitted.one_fewer["tmp_0"] > fitted.cycles
