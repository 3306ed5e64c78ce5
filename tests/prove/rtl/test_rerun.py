"""A command on numbers, in the RTL and in the text."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from axiloom.base.errors import BuildError
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.prove.rtl.terms.machine import read as machine_of
from axiloom.prove.rtl.texts import rerun as module
from axiloom.prove.rtl.texts.drawn import Case, chosen
from axiloom.prove.rtl.texts.of_text import Text
from axiloom.prove.rtl.texts.rerun import Rerun
from axiloom.prove.rtl.texts.rows import words_of


@cache
def units() -> DeviceRtl:
    """FlexASR's, with memories of two vectors."""
    return device(read(targets()["flexasr_units"], {"X": 2, "W": 2, "MACS": 1, "DRAM": 64}))


@cache
def rerun(verilog: str = "") -> Rerun:
    made = replace(units(), verilog=verilog or units().verilog)
    words = words_of(machine_of(((f"{made.top}.v", made.verilog),), made.top), made.isa)
    return Rerun(made, Text(made.isa, words), words)


def case(name: str, **fields: int) -> Case:
    """The first command with these fields."""
    cases, _ = chosen(units().isa.instructions[name], units().isa, 40)
    return next(one for one in cases if fields.items() <= one.command.fields.items())


@pytest.mark.slow
def test_both_are_the_same_on_any_numbers() -> None:
    source, run = random.Random(1), rerun()
    for one in (case("load", n=1), case("store", n=2), case("pool", n=1), case("activate", operation=9)):
        names = {*(f"{m}@{at}" for m in ("x", "unit", "mac", "w") for at in range(64))}
        values = {name: source.getrandbits(8) for name in names}
        values |= {f"dram@{at}": source.getrandbits(8) for at in range(64)}
        found = run(one, {}, values)
        assert all(ours == theirs for ours, theirs in found.values()), one
        assert len(found) == 16 * (2 + 2 + 4 + 1) + len(one.writes)


@pytest.mark.slow
def test_a_fault_is_seen() -> None:
    """A vector that is pooled to the row behind its own."""
    right = "pool_target <= { 1'h0, command_payload[41:32] };"
    wrong = units().verilog.replace(right, right.replace("command", "~command"))
    found = rerun(wrong)(case("pool", n=1, out=0), {}, {"x@3": 0x23, "x@19": 0x24})
    assert found["x[0] lane 3"] == (0x23, 0x24)
    assert found["x[1] lane 3"] == (0x24, 0x24)


@pytest.mark.slow
def test_a_command_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CYCLES", 5)
    with pytest.raises(BuildError, match=r"^device_flexasr_units: load .* does not end within 5 cycles$"):
        rerun()(case("load", n=1), {}, {})
