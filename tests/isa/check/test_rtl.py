"""Registers and streams of Verilog of one's own: read, written, and each fault with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.isa.files.grammar import GrammarError, parse_opcode_map, parse_opcodes

START = Path(__file__).parents[3] / "examples" / "hardware" / "start_matmul" / "matmul_start.json"


def loaded(folder: Path, old: str = "", new: str = "", **changes: Any) -> isa.AcceleratorSpec:
    document = json.loads(START.read_text())
    body = document["accelerators"][0] | changes
    if old:
        assert old in body["opcode_map"]
        body["opcode_map"] = body["opcode_map"].replace(old, new)
    path = folder / "spec.json"
    path.write_text(json.dumps({"accelerators": [body]}))
    return isa.load(path)


def test_a_file_reads_back(tmp_path: Path) -> None:
    spec = loaded(tmp_path)
    (opcode,) = spec.opcodes.values()
    assert [str(one) for one in opcode.before][-1] == "write(control, 1)"
    assert [str(one) for one in opcode.after] == ["wait(control, 2)"]
    path = tmp_path / "again.json"
    path.write_text(isa.dumps(spec))
    assert isa.load(path) == spec


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("write(rows, m)", "write(row, m)", "write(row, m): unknown register `row`, did you mean `rows`?"),
        ("write(rows, m)", "write(rows, x)", "write(rows, x): unknown dim `x`; there are"),
        ("wait(control, 2)", "wait(control, 0)", "wait(control, 0): 0 is no mask of 32 bits"),
    ],
)
def test_faults_of_accesses(tmp_path: Path, old: str, new: str, fault: str) -> None:
    with pytest.raises(SpecError) as raised:
        loaded(tmp_path, old, new)
    assert fault.split(",")[0] in str(raised.value)


@pytest.mark.parametrize(
    ("rtl", "fault"),
    [
        ({"registers": {"control": 2}}, "rtl.registers.control: 0x2 is no offset of a word below 0x8000"),
        ({"registers": {}, "inputs": {"D": "d_"}}, "rtl.inputs: `D` is no operand that is sent"),
        ({"registers": {}, "clok": "c"}, "unknown key `clok`"),
    ],
)
def test_faults_of_rtl(tmp_path: Path, rtl: dict[str, Any], fault: str) -> None:
    with pytest.raises(SpecError) as raised:
        loaded(tmp_path, rtl=rtl)
    assert fault in str(raised.value)


def test_accesses_stand_before_or_behind_all_words() -> None:
    with pytest.raises(GrammarError, match="`write` and `wait` stand before or behind all that is sent"):
        parse_opcodes("<x = [send(A), write(r, 1), recv(C)]>")
    with pytest.raises(GrammarError, match="are for a specification's opcode_map"):
        parse_opcode_map("<x = [write(r, 1), send(A)]>")


VADD = START.parents[1] / "vadd_m_axi" / "vadd.json"
FIR = START.parents[1] / "fir16" / "fir16.json"


@pytest.mark.parametrize("file", [VADD, FIR], ids=["pointers", "elements"])
def test_operands_that_registers_carry_read_back(file: Path, tmp_path: Path) -> None:
    spec = isa.load(file)
    (opcode,) = spec.opcodes.values()
    assert spec.has_registers
    assert spec.has_pointers == (file == VADD)
    assert parse_opcodes(f"opcode_map<{opcode}>", spec.operands)["all"].carried == opcode.carried
    again = tmp_path / "again.json"
    again.write_text(isa.dumps(spec))
    read = isa.load(again)
    assert (read.opcodes, read.link.rtl) == (spec.opcodes, spec.link.rtl)


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (
            VADD,
            "send(B, b)",
            "send(B)",
            "a device that reads memory itself has no streams; here is send(B)",
        ),
        (VADD, "send(B, b)", "send(B, d)", "opcode_map.all: B: unknown register `d`; `rtl.registers` has"),
        (FIR, "write(taps, H)", "write(tap, H)", "opcode_map.all: H: unknown register `tap`"),
        (FIR, '"taps": "0x00"', '"taps": "0x7ff0"', "9 registers from 0x7ff0 leave 0x8000"),
    ],
)
def test_faults_of_operands_that_registers_carry(
    file: Path, old: str, new: str, fault: str, tmp_path: Path
) -> None:
    text = file.read_text()
    assert old in text
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text.replace(old, new))
    with pytest.raises(SpecError) as raised:
        isa.load(wrong)
    assert fault in str(raised.value)
