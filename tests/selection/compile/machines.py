"""Machines with rows of 8, which are derived in milliseconds; the built-in ones have rows of 64."""

from __future__ import annotations

from functools import cache

from tests.accelerators.qkv.rtl.device_bench import small, text_of

from axiloom.isa.instructions.read import parse
from axiloom.selection.compile.target import Target
from axiloom.selection.machine.derive import Meanings

N = 8
NAMES = ("qkv", "qkv_double")


@cache
def machine(name: str) -> Target:
    isa = parse(small(text_of(name), N), f"{name}.isa", name)
    meanings = Meanings(isa)
    meanings.at([N])
    return Target(isa, meanings)
