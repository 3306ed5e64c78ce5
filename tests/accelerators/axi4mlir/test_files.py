"""Configuration files of the paper's form and of the older one become specifications that run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.cli import main
from axiloom.isa.files.other_forms import read_other

A, B = ({"READ": {"dma_fifo_id": 0, "data": one, "offset": 0, "length": 16}} for one in "AB")
COMPUTE = {"COMPUTE": {"kernel_id": 0, "data": "C"}}
SEND = {"SEND": {"dma_fifo_id": 1, "data": "C", "offset": 0, "length": 16}}


def flat(opcodes: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    """A file of the older form; only the keys that are read, and one that is not."""
    return {
        "name": "MM_4x4",
        "memory_layout": {"#A_Buffer": {"size": 16, "data_type": "int32"}},
        "tile_size": 4,
        "data_type": "int32",
        "dims": ["N", "M", "K"],
        "data": {"A": ["N", "K"], "B": ["M", "K"], "C": ["N", "M"]},
        "dma_config": [1600, 1700, 1000, 1800, 1000],
        "ISA": {"instruction_format": {"opcode_length": 32}, "opcodes": opcodes},
        **more,
    }


def combinations(*bits: list[Any]) -> dict[str, list[Any]]:
    words = range(1 << len(bits))
    return {
        str(word): [one for at, bit in enumerate(bits) if word >> at & 1 for one in bit] for word in words
    }


FLAT = {
    "v1": (flat({"-1": [A, B, COMPUTE, SEND]}), ["Ns"], ()),
    "v2": (
        flat(combinations([A], [B], [COMPUTE, SEND]), **{"acc_regmap ": {"0x04": {}}}),
        ["Ns", "As", "Bs"],
        ("sA", "sB", "cCrC"),
    ),
    "v3, two words": (flat({"0": [A, B, COMPUTE], "1": [SEND]}), ["Ns", "Cs"], ()),
    "v4": (
        flat(
            combinations([A], [B], [COMPUTE], [SEND]),
            dma_config=[0x4040_0000, 0x1600_0000, 65536, 0x1640_0000, 65536],
        ),
        ["Ns", "As", "Bs", "Cs"],
        ("sA", "sB", "cC", "rC"),
    ),
}


def written(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("name", FLAT)
def test_older_files(name: str, tmp_path: Path) -> None:
    document, flows, bits = FLAT[name]
    (spec,), remarks = read_other(written(tmp_path, document))
    assert [*spec.flows] == flows
    assert spec.bits == bits
    assert spec.tile.size == (4, 4, 4)
    assert any("data has B as (m, k)" in one for one in remarks)
    assert any("dma_config [1600" in one for one in remarks) == (name != "v4")
    ours = tmp_path / "ours.json"
    ours.write_text(isa.dumps(spec))
    assert isa.check_file(ours) == []


def test_an_imported_accelerator_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs, ours = written(tmp_path, FLAT["v2"][0]), tmp_path / "ours.json"
    assert main(["spec", "check", str(theirs)]) != 0
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"axiloom: {theirs}: an older configuration file of AXI4MLIR: `axiloom spec import {theirs}` reads it"
    ]
    assert main(["spec", "import", str(theirs), "-o", str(ours)]) == 0
    assert f"note: {theirs}: acc_regmap is not read" in capsys.readouterr().err
    assert main(["run", "matmul:8x8x8", "--spec", str(ours)]) == 0
    assert "Result: equal to NumPy in all 64 elements" in capsys.readouterr().out


PAPER: dict[str, Any] = {
    "name": "paper",
    "kernel": "linalg.matmul",
    "accel_size": [4, 4, 4],
    "data_type": "int32",
    "dims": ["m", "n", "k"],
    "data": {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]},
    "opcode_map": "opcode_map<s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(14), op_send(1)], "
    "r=[op_recv(2)], x=[op_send_literal(32)],>",
    "opcode_flow_map": {"As": "(s0 (s1c r))"},
    "selected_flow": "As",
}


def test_the_papers_form(tmp_path: Path) -> None:
    (spec,), remarks = read_other(written(tmp_path, {"accelerators": [PAPER]}))
    assert {name: [str(a) for a in one.device] for name, one in spec.opcodes.items()} == {
        "s0": ["load A"],
        "s1c_r": ["load B", "compute", "store C", "clear C"],
    }
    assert str(spec.flows["As"]) == "(s0 (s1c_r))"
    assert remarks == ["accelerators[0]: no flow uses x: left out"]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"CPU_cache_levels": [128, 32]}, "it describes a board's caches, and no accelerator; here --board"),
        (flat({"1": [{"MOVE": {}}]}), 'ISA.opcodes.1: expected one of READ, COMPUTE, SEND, not {"MOVE": {}}'),
        (flat({"1": [A], "4": [COMPUTE, SEND]}), "ISA.opcodes: no opcode for b"),
        (flat({"1x": [A]}), "ISA.opcodes: `1x` is no opcode word"),
        (flat({"1": [A, B, COMPUTE, SEND], "8": [A, B, COMPUTE, SEND]}), "two words do the same"),
        (flat({}), "ISA.opcodes: expected opcode words"),
        (flat({"-": [A, B, COMPUTE, SEND]}, tile_size="4"), "tile_size: expected the size of a square tile"),
        ({"accelerators": [{**PAPER, "opcode_map": "opcode_map<s0=[op_send_literal(77), op_send(0)]>"}]}, ""),
        ({"accelerators": [{**PAPER, "opcode_map": "opcode_map<s0=(1)>"}]}, "column 15: expected `[`"),
        ({"other": 1}, "no file of another form (an older configuration file of AXI4MLIR;"),
        ([], "no file of another form (an older configuration file of AXI4MLIR;"),
    ],
)
def test_what_is_refused(document: object, fault: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_other(written(tmp_path, document))
    assert fault in str(caught.value)
    assert "theirs.json: " in str(caught.value)


def test_no_published_accelerator_has_the_word(tmp_path: Path) -> None:
    other = {**PAPER, "opcode_map": PAPER["opcode_map"].replace("(14)", "(77)")}
    with pytest.raises(
        SpecError, match=r"opcode_map.s1c_r: no published accelerator has s1c_r = \[send_literal\(77\)"
    ):
        read_other(written(tmp_path, {"accelerators": [other]}))
