"""Functions of texts as logic, beside the text's own arithmetic: `functions.py`."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from axiloom.base.errors import SpecError
from axiloom.hw.command.decode import shape_of
from axiloom.hw.command.functions import Functions
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State


@pytest.mark.parametrize("name", ["value", "fixed", "packed", "larger", "sigmoid", "tanh"])
def test_flexasr_s_functions(name: str) -> None:
    isa = target("flexasr_units")
    function = isa.functions[name]
    m = Module()
    given = [Signal(shape_of(kind), name=f"given_{one}") for one, kind in function.parameters.items()]
    result = Signal(shape_of(function.result))
    m.d.comb += result.eq(Functions(m, "f").call(function, given))
    dice, reference = np.random.default_rng(1), Reference(isa, State(isa))
    cases = []
    for case in range(300):
        ends = [(kind.low, kind.high) for kind in function.parameters.values()]
        drawn = [int(dice.integers(low, high, endpoint=True)) for low, high in ends]
        cases.append([end[case % 2] for end in ends] if case < 2 else [v >> case % 12 for v in drawn])
    found = []

    async def bench(context: object) -> None:
        for case in cases:
            for signal, value in zip(given, case, strict=True):
                context.set(signal, value)  # type: ignore[attr-defined]
            found.append(context.get(result))  # type: ignore[attr-defined]

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == [reference.call(function, case) for case in cases]
    assert len(set(found)) > 20


def test_an_external_function_has_no_logic() -> None:
    isa = target("qkv")
    name = next(name for name, one in isa.functions.items() if one.external)
    with pytest.raises(SpecError, match=f"`{name}` is external"):
        Functions(Module(), "f").call(isa.functions[name], [])
