"""What a text does of a command, on terms."""

from __future__ import annotations

import pytest

from axiloom.isa.formal import symbolic
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.texts.drawn import Case
from axiloom.prove.rtl.texts.of_text import Text
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.program.program import Command


def vta() -> InstructionSet:
    sizes = {"BLOCK": 2, "UOPS": 4, "INPS": 4, "WGTS": 4, "ACCS": 4, "DRAM": 4096}
    return read(targets()["vta"], sizes)


def case(isa: InstructionSet, name: str, **fields: int) -> Case:
    command = Command(name, fields)
    encoder = Encoder(isa)
    return Case(command, encoder.inputs(command), encoder.words(command), (), ())


def test_what_a_command_leaves() -> None:
    """A row of zeros before one that is loaded, of two bytes each."""
    isa = vta()
    text = Text(isa, ("inp",))
    does = text.does(case(isa, "load_inp", rows=1, count=1, above=1))
    assert (does.changes, does.kinds) == (4, {"inp: a number", "inp: data"})
    assert does.short
    assert text.does(case(isa, "load_inp", rows=1)).changes == 0
    assert not text.drawn


def test_addresses_are_drawn_where_the_text_needs_them() -> None:
    isa = vta()
    gemm = case(isa, "gemm", reset=1, last=1, outer=1, inner=1)
    with pytest.raises(symbolic.UnknownError, match="an address of"):
        Text(isa, ("acc",)).after(gemm)
    text = Text(isa, ("acc", "uop"))
    assert text.does(gemm).kinds == {"acc: a number", "out: data"}
    assert [*text.drawn] == ["uop"]


def test_a_long_command() -> None:
    isa = vta()
    long = case(isa, "alu", last=4, outer=100, inner=100, immediate=1, op=2, constant=1)
    does = Text(isa, ("uop", "acc")).does(long)
    assert does.steps is None
    assert not does.useful


def test_registers_hold_what_was_left_there() -> None:
    isa = vta()
    text = Text(isa, ())
    assert text.after(case(isa, "finish")).state["done"].as_long() == 1
    assert str(text.after(case(isa, "load_inp")).state["done"]) == "done before"
