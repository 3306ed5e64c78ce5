"""Names to operators, and what operators cost."""

from __future__ import annotations

import pytest

from axiloom.base.errors import UsageError
from axiloom.hw.nest.operators import Cost, costs, latencies, operator


def test_the_default_latency_is_the_first() -> None:
    assert operator("add", "float32", "float32").latency == latencies("add", "float32", "float32")[0] == 4
    assert operator("max", "int32", "int32", 0).latency == 0


def test_an_unknown_operator_is_refused_with_what_there_is() -> None:
    with pytest.raises(
        UsageError, match=r"no operator `pow` from float32 to float32; there are\n(.*\n)*  mul: float32"
    ):
        operator("pow", "float32", "float32")
    with pytest.raises(UsageError, match="no operator `add` from int32 to int16"):
        latencies("add", "int32", "int16")
    with pytest.raises(
        UsageError, match="`add` from int32 to int32 has no latency of 7 cycles; there are 1, 0"
    ):
        operator("add", "int32", "int32", 7)


def test_costs_come_from_the_table_or_from_two_widths_of_it() -> None:
    assert operator("mul", "float32", "float32").cost.dsp == 2
    assert operator("add", "float32", "float32").cost.lut <= 330
    narrow, between, wide = (
        operator("add", number, number, 0).cost for number in ("int16", "int24", "int32")
    )
    assert narrow.lut < between.lut < wide.lut
    one = operator("add", "uint32", "uint32").cost
    assert one == Cost(0, wide.lut, 32)
    assert operator("convert", "int8", "int32").cost == Cost()


def test_a_cost_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_table", dict)
    with pytest.raises(UsageError, match="cost of operator `div float32 float32 10` is not in costs"):
        operator("div", "float32", "float32").cost  # noqa: B018
