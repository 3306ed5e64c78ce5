"""Verilog of devices of rows."""

from __future__ import annotations

import re

from tests.accelerators.qkv.rtl.device_bench import TOP, Bench

from axiloom.device.rtl import device
from axiloom.hw.numbers.registry import function
from axiloom.hw.verilog.functions import module_of
from axiloom.isa.instructions.library import target


def test_lanes_share_the_modules_of_functions() -> None:
    """Those that the text's instructions need, and no others."""
    text = Bench("qkv", 8, 2).verilog
    used = ("float32.add", "float32.mul of bfloat16", "float32.to_bfloat16", "bfloat16.exp", "bfloat16.div")
    for name in used:
        assert text.count(f"\nmodule {module_of(TOP, function(name))} (") == 1
    assert text.count(f"\nmodule {TOP}_number_") == len(used)
    assert text.count("number_float32_mul_of_bfloat16 product_row_0_lane_") == 2


def test_two_devices_can_be_in_one_design() -> None:
    """No module of one has the name of a module of the other, and each has what it instantiates."""
    names = []
    for text in ("qkv", "rows64"):
        made = device(target(text), 8)
        own = set(re.findall(r"^module (\S+) \(", made.verilog, re.MULTILINE))
        assert len(own) > 5
        assert all(f"_number_{one}" in made.verilog for one in ("float32_add", "float32_to_bfloat16"))
        assert not re.search(r"\bnumber_", made.verilog)
        names.append(own)
    assert not names[0] & names[1]
