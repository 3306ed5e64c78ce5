"""The RTL of a text, a command after the other, for all data: what holds, and what a fault in it says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from axiloom.cli import main
from axiloom.device.rtl import DeviceRtl, device
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.texts import Prover
from axiloom.prove.verdict import Answer

SIZES = {"X": 2, "W": 2, "MACS": 1, "DRAM": 64}


@cache
def units() -> tuple[InstructionSet, DeviceRtl]:
    """Memories of a few vectors, and what moves and pools."""
    isa = read(targets()["flexasr_units"], SIZES)
    return isa, device(isa)


def proved(verilog: str = "", wanted: tuple[str, ...] = ("store", "pool")) -> dict[str, tuple[Answer, str]]:
    isa, made = units()
    prover = Prover(isa, replace(made, verilog=verilog or made.verilog), 20, 3)
    prover.isa = replace(isa, instructions={name: isa.instructions[name] for name in wanted})
    return {one.name: (one.answer, one.text) for one in prover.run(lambda _: None)}


@pytest.mark.slow
def test_units_of_flexasr() -> None:
    found = proved()
    assert {name: answer for name, (answer, _) in found.items()} == dict.fromkeys(
        ("rest", "store", "pool"), Answer.HOLDS
    )
    assert re.match(r"3 of \d+ commands, \d{3} values compared, for all data", found["pool"][1])


@pytest.mark.slow
def test_a_fault() -> None:
    """A vector that goes to the row behind its own."""
    place = "pool_target <= { 1'h0, command_payload[41:32] };"
    verilog = units()[1].verilog
    count, verilog = verilog.count(place), verilog.replace(place, place.replace("command", "~command"))
    assert count == 1
    answer, text = proved(verilog, ("pool",))["pool"]
    assert answer is Answer.VIOLATED
    assert re.search(r"pool n \d, row \d, out \d: x\[\d\] lane 0 is another", text)


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "rtl", "--isa", "flexasr_units", "--accel", "v3"]) == 2
    assert "--accel: is about a specification, not about --isa" in capsys.readouterr().err
    assert main(["prove", "rtl", "--accel", "v3", "-D", "X=4"]) == 2
    assert "-D: is of an instruction set with meaning: give --isa too" in capsys.readouterr().err
