# amaranth: UnusedElaboratable=no
"""Functions as modules of their own."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal

from axiloom.hw.numbers.registry import FUNCTIONS, function
from axiloom.hw.numbers.unit import Unit, module_name, placed, ports


def test_each_function_is_another_module() -> None:
    assert len({module_name(one) for one in FUNCTIONS.values()}) == len(FUNCTIONS)
    assert module_name(function("float32.mul of bfloat16")) == "number_float32_mul_of_bfloat16"


def test_ports_are_the_operands() -> None:
    one = function("bfloat16.div")
    assert ports(one) == {"a": 16, "b": 16}
    assert [len(getattr(Unit(one), name)) for name in ("a", "b", "y")] == [16, 16, 16]


def test_an_instance_has_the_functions_result() -> None:
    m = Module()
    result = placed(m, "total", function("float32.add"), Signal(32), Signal(32))
    assert len(result) == 32
    assert [*m._named_submodules] == ["total_unit"]


def test_operands_of_other_widths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"float32.add takes operands of \(32, 32\) bits, not \(32, 16\)"):
        placed(Module(), "total", function("float32.add"), Signal(32), Signal(16))
