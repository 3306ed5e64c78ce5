"""Icarus, the second simulator, agrees with the model, and reads what the linter reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nest import circuits, model
from tests.nest.test_run import ALL, data

from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.rtl_files import verilator
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nest.icarus import run_icarus


@pytest.mark.parametrize("circuit", ALL, ids=lambda circuit: circuit.name)
def test_as_the_model(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    outcome = run_icarus(circuit, memories, inputs, find=model.plain)
    model.compare(circuit, outcome, expected)
    assert outcome.peaks == expected.peaks


@pytest.mark.parametrize("circuit", [circuits.tokens(), circuits.dynamic_banks()], ids=lambda circuit: circuit.name)
def test_verilator_has_nothing_to_say_of_it(circuit: Circuit, tmp_path: Path) -> None:
    (tmp_path / "design.v").write_text(emit_nest(circuit, model.plain).text)
    done = verilator.run(["--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-MULTITOP", "design.v"], tmp_path)
    told = {line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("%")}
    assert told <= {"%Warning-UNUSEDSIGNAL"}, done.stderr
