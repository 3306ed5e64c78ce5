"""The Verilog of operators against their references, for many operands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.hw.nest.operators.vectors import compare, operands
from tests.hw.nest.operators.verilated import simulated

from axiloom.hw.nest.operators import operator

CASES = (
    *(("add", "float32", "float32", latency) for latency in (4, 5, 3)),
    *(("sub", "float32", "float32", 4), ("mul", "float32", "float32", 4), ("mul", "float32", "float32", 3)),
    *(
        ("div", "float32", "float32", 10),
        ("sqrt", "float32", "float32", 10),
        ("exp", "float32", "float32", 9),
    ),
    *(("max", "float32", "float32", 1), ("lt", "float32", "bool", 1)),
    *(("convert", "float32", "int32", 3), ("convert", "int32", "float32", 3)),
    *(("mul", "int32", "int32", 3), ("div", "int16", "int16", 10), ("mul", "fixed<16,8>", "fixed<16,8>", 3)),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]} {case[3]}")
def test_a_hundred_thousand(case: tuple[str, str, str, int], tmp_path: Path) -> None:
    one = operator(*case)
    kinds = 5 if one.number == "float32" else 1  # `operands` makes so many of each kind
    chosen = operands(one, np.random.default_rng(11), 100_000 // kinds)
    compare(one, chosen, simulated(one, chosen, tmp_path))
