"""A folder with RTL of the user's own: all of it is there, and simulations of the folder have it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom import board_folder, isa
from axiloom.base.errors import UsageError
from axiloom.board_folder.trial import user_rtl
from axiloom.boards import hardware
from axiloom.cli import main
from axiloom.hw.rtl_files.user_rtl import UserRtl

EXAMPLE = Path(__file__).parents[2] / "examples" / "verilog_accelerator"
SPEC = EXAMPLE / "rowmul.json"


def written(folder: Path, verilog: Path) -> Path:
    board = folder / "board"
    words = ["board", "new", "pynq-z2", "--spec", str(SPEC), "--rtl", str(verilog), "--top", "rowmul"]
    assert main([*words, "-o", str(board)]) == 0
    return board


def test_what_a_file_includes_is_there_too(tmp_path: Path) -> None:
    (tmp_path / "opcodes.vh").write_text("`define LOAD_B 32'hB10C\n")
    text = (EXAMPLE / "rowmul.v").read_text()
    text = '`include "opcodes.vh"\n' + text.replace("OP_LOAD_B = 32'hB10C", "OP_LOAD_B = `LOAD_B")
    (tmp_path / "rowmul.v").write_text(text)
    board = written(tmp_path, tmp_path / "rowmul.v")
    told = json.loads((board / "board.json").read_text())["rtl"]
    assert told == {"top": "rowmul", "files": ["ip/axiloom_soc/hdl/rowmul.v"]}
    copied = board / "ip" / "axiloom_soc" / "hdl" / "rowmul.v"
    assert "OP_LOAD_B = 32'hB10C" in copied.read_text()
    (tmp_path / "opcodes.vh").unlink()
    found = user_rtl(board)
    assert found is not None
    assert found.files == (copied,)


@pytest.mark.slow
def test_a_simulation_of_the_folder_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RTL that sends no TLAST stops at step 4, where ours would go on."""
    text = (
        (EXAMPLE / "rowmul.v").read_text().replace("m_axis_tlast  = count[2:0] == 3'd7", "m_axis_tlast = 0")
    )
    (tmp_path / "rowmul.v").write_text(text)
    board = written(tmp_path, tmp_path / "rowmul.v")
    subprocess.run(["make", "-s", "ladder", f"PYTHON={sys.executable}"], cwd=board, check=True)
    assert main(["board", "simulate", str(board), str(board / "build" / "ladder")]) == 10
    said = capsys.readouterr().err
    assert "ladder in simulation: " in said
    assert "no TLAST on word 8 of the 8 of C" in said


def test_what_no_file_of_a_folder_would_have() -> None:
    rtl = UserRtl([EXAMPLE / "rowmul.v"], "rowmul")
    small, zynq = hardware.load("ulx3s"), hardware.load("pynq-z2")
    two = isa.place([isa.builtin("v1_4"), isa.builtin("v3_4")])
    with pytest.raises(UsageError, match=r"ulx3s: its open flow builds one accelerator, not v1_4, v3_4"):
        board_folder.make(small, two)
    with pytest.raises(UsageError, match=r"RTL rowmul takes the place of one accelerator"):
        board_folder.make(zynq, two, dma=board_folder.XILINX, user_rtl=rtl)


def test_the_open_flow_takes_it() -> None:
    """The user's file is beside ours, which instantiates its module; the manifest says where it is."""
    rtl = UserRtl([EXAMPLE / "rowmul.v"], "rowmul")
    plan = board_folder.make(hardware.load("ulx3s"), [isa.load(SPEC)], user_rtl=rtl, rebase=True)
    files = board_folder.contents(plan).files
    assert files["openflow/rowmul.v"] == (EXAMPLE / "rowmul.v").read_text()
    assert "rowmul " in files["openflow/axiloom_serial.v"]
    assert json.loads(files["board.json"])["rtl"] == {"top": "rowmul", "files": ["openflow/rowmul.v"]}
