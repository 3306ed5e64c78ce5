"""``axiloom spec from-rtl``: the draft is sound, and each guess is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main

HARDWARE = Path(__file__).parents[2] / "examples" / "hardware"
PAIRS = str(HARDWARE / "two_streams" / "multiply_pairs.v")
START = str(HARDWARE / "start_matmul" / "matmul_start.v")


def test_two_streams_are_the_operands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", PAIRS, "--top", "multiply_pairs", "--kernel", "linalg.mul", "-o", str(out)]
    assert main(words) == 0
    spec = isa.load(out)
    assert spec.rtl.inputs == {"A": "a_", "B": "b_"}
    by_hand = isa.load(HARDWARE / "two_streams" / "multiply_pairs.json")
    for same in ("kernel", "tile", "dims", "data", "opcodes", "stream_width", "rtl"):
        assert getattr(spec, same) == getattr(by_hand, same)
    said = capsys.readouterr().err
    assert "note: stream c_* of 32 bits, no TLAST" in said
    assert "guess: a tile of 64 (n)" in said


def test_registers_are_named_as_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", START, "--top", "matmul_start", "--tile", "8,8,8", "-o", str(out)]
    assert main(words) == 0
    assert isa.load(out).tile.size == (8, 8, 8)
    assert "AXI4-Lite port s_axi_control_*: name the registers" in capsys.readouterr().err


def test_a_master_gets_pointers_where_hls_lays_them_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, vadd = tmp_path / "draft.json", HARDWARE / "vadd_m_axi"
    words = ["spec", "from-rtl", str(vadd / "vadd.v"), "--top", "vadd", "--kernel", "linalg.add"]
    assert main([*words, "--tile", "500", "-o", str(out)]) == 0
    drafted, by_hand = isa.load(out), isa.load(vadd / "vadd.json")
    assert list(drafted.rtl.registers.values()) == list(by_hand.rtl.registers.values())
    assert drafted.opcodes["all"].carried == by_hand.opcodes["all"].carried
    assert "AXI4 master m_axi_gmem_* of 32 bits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--kernel", "linalg.nope"], "no kernel `linalg.nope`"),
        (["--kernel", "linalg.abs"], "has 2 input streams (a_, b_), and linalg.abs has 1 operands (A)"),
        (["--kernel", "linalg.mul", "--tile", "4,4"], "--tile has 2 sizes, and linalg.mul has the dims n"),
    ],
)
def test_refusals(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "from-rtl", PAIRS, "--top", "multiply_pairs", *more]) == 2
    assert message in capsys.readouterr().err
