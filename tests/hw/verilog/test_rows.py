"""Verilog of devices of rows."""

from __future__ import annotations

from tests.hw.qkv.device_bench import Bench

from axiloom.hw.qkv.numbers.registry import function
from axiloom.hw.qkv.numbers.unit import module_name


def test_lanes_share_the_modules_of_functions() -> None:
    """Those that the text's instructions need, and no others."""
    text = Bench("qkv", 8, 2).verilog
    used = ("float32.add", "float32.mul of bfloat16", "float32.to_bfloat16", "bfloat16.exp", "bfloat16.div")
    for name in used:
        assert text.count(f"\nmodule {module_name(function(name))} (") == 1
    assert text.count("\nmodule number_") == len(used)
    assert text.count("number_float32_mul_of_bfloat16 product_row_0_lane_") == 2
