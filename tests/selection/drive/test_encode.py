"""Fields as words, against words that people wrote, and back through the simulator's decoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.program.program import Command

QKV, VTA = Encoder(target("qkv")), Encoder(target("vta"))


def test_by_hand() -> None:
    assert QKV.words(Command("mov", {"n": 64, "row": 0, "out": 64})) == 5 | 64 << 4 | 64 << 20
    assert (
        QKV.words(Command("load_rm", {"n": 3, "out": 9, "base": 0x1234}))
        == 1 | 3 << 4 | 9 << 12 | 0x1234 << 32
    )
    load = {"sram": 5, "base": 7, "rows": 2, "count": 3, "stride": 4, "left": 1}
    word = 2 << 7 | 5 << 10 | 7 << 26 | 2 << 64 | 3 << 80 | 4 << 96 | 1 << 120
    assert VTA.words(Command("load_inp", load)) == word
    alu = {"op": 3, "immediate": 1, "constant": -2}
    assert VTA.words(Command("alu", alu)) == 4 | 3 << 108 | 1 << 111 | 0xFFFE << 112
    assert (QKV.bits, VTA.bits) == (64, 128)


@given(st.integers(0, 64), st.integers(0, 64), st.integers(0, 64))
def test_what_is_encoded_is_decoded(n: int, row: int, out: int) -> None:
    fields = {"n": n, "row": min(row, 64 - n), "out": out}
    inputs = QKV.inputs(Command("mov", fields))
    reference = Reference(QKV.isa, State(QKV.isa))
    instruction = QKV.isa.instructions["mov"]
    assert [one.name for one in QKV.isa.instructions.values() if reference.enabled(one, inputs)] == ["mov"]
    assert {let.name: reference.value(let.value, inputs) for let in instruction.fields} == fields


@pytest.mark.parametrize(
    ("encoder", "command", "message"),
    [
        (QKV, Command("add", {}), "qkv has no instruction add; there are load_rm, "),
        (QKV, Command("mov", {"rows": 1}), "mov has no field rows; there are n, row, out"),
        (QKV, Command("mov", {"n": 256}), "mov: n = 256 does not fit its 8 bits"),
        (VTA, Command("alu", {"constant": 1 << 15}), "alu: constant = 32768 does not fit its 16 bits"),
        (QKV, Command("mov", {"n": 65}), r"not row \+ n <= N"),
        (
            VTA,
            Command("load_inp", {"rows": 1, "count": 2, "width": 5}),
            "load_inp: width is 2 with rows = 1, ",
        ),
    ],
)
def test_what_no_words_say_is_refused(encoder: Encoder, command: Command, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        encoder.inputs(command)
