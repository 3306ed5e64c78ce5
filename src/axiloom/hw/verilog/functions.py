"""Prints a device as Verilog whose units share functions of numbers: its core, and each function once."""

from __future__ import annotations

import re
from functools import lru_cache

from amaranth.lib import wiring

from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.registry import FUNCTIONS
from axiloom.hw.numbers.unit import Unit, module_name
from axiloom.hw.verilog.emit import convert


def emit_with_functions(device: wiring.Component, top: str) -> str:
    """Verilog of `device` with clock ``aclk`` and reset ``aresetn`` (synchronous, active low); the same bytes
    for the same text and lanes. All modules' names begin with `top`, so two devices can be in one design."""
    core = convert(device, top)
    used = [name for name, function in FUNCTIONS.items() if re.search(rf"\b{module_name(function)}\b", core)]
    text = "\n".join([core, *map(_function, used)])
    for name in used:
        text = re.sub(rf"\b{module_name(FUNCTIONS[name])}\b", module_of(top, FUNCTIONS[name]), text)
    return text


def module_of(top: str, function: Function) -> str:
    """The module of `function` in the Verilog of `top`."""
    return f"{top}_{module_name(function)}"


@lru_cache(maxsize=len(FUNCTIONS))
def _function(name: str) -> str:
    return convert(Unit(FUNCTIONS[name]), module_name(FUNCTIONS[name]))
