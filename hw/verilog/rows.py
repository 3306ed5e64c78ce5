"""Prints a device of rows as Verilog: its core, and each function of numbers in it once."""

from __future__ import annotations

import re
from functools import lru_cache

from axiloom.hw.qkv.device import Device
from axiloom.hw.qkv.numbers.registry import FUNCTIONS
from axiloom.hw.qkv.numbers.unit import Unit, module_name
from axiloom.hw.verilog.emit import convert


def emit_rows(device: Device, top: str) -> str:
    """Verilog of `device` with clock ``aclk`` and reset ``aresetn`` (synchronous, active low); the same bytes
    for the same text and lanes."""
    core = convert(device, top)
    used = [name for name, one in FUNCTIONS.items() if re.search(rf"\b{module_name(one)}\b", core)]
    return "\n".join([core, *map(_function, used)])


@lru_cache(maxsize=len(FUNCTIONS))
def _function(name: str) -> str:
    return convert(Unit(FUNCTIONS[name]), module_name(FUNCTIONS[name]))
