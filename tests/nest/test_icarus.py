"""Icarus, the second simulator, agrees with the model; the linter has nothing to say."""

from __future__ import annotations

import pytest
from tests.nest import model
from tests.nest.icarus import run_icarus
from tests.nest.test_run import ALL, FEW, data

from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.verilog.nest import emit_nest


@pytest.mark.every(3)
@pytest.mark.parametrize("circuit", [*ALL, *FEW], ids=lambda circuit: circuit.name)
def test_as_the_model(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    outcome = run_icarus(circuit, memories, inputs, find=model.plain)
    model.compare(circuit, outcome, expected)
    assert outcome.peaks == expected.peaks


@pytest.mark.every(4)
@pytest.mark.parametrize("circuit", [*ALL, *FEW], ids=lambda circuit: circuit.name)
def test_lint_is_clean(circuit: Circuit) -> None:
    verilog = emit_nest(circuit, model.plain)
    assert lint(verilog.text, verilog.top) == []
