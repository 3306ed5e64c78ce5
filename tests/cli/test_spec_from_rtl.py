"""``axiloom spec from-rtl``: the draft is sound, and each guess is named."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from axiloom import drivergen, isa
from axiloom.base.errors import SpecError, UsageError
from axiloom.cli import main

HARDWARE = Path(__file__).parents[2] / "examples" / "hardware"
PAIRS = str(HARDWARE / "two_streams" / "multiply_pairs.v")
START = str(HARDWARE / "start_matmul" / "matmul_start.v")


def test_two_streams_are_the_operands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", PAIRS, "--top", "multiply_pairs", "--kernel", "linalg.mul", "-o", str(out)]
    assert main(words) == 0
    spec = isa.load(out)
    assert spec.link.rtl.inputs == {"A": "a_", "B": "b_"}
    by_hand = isa.load(HARDWARE / "two_streams" / "multiply_pairs.json")
    for same in ("kernel", "tile", "dims", "data", "opcodes"):
        assert getattr(spec, same) == getattr(by_hand, same)
    assert (spec.link.stream_width, spec.link.rtl) == (by_hand.link.stream_width, by_hand.link.rtl)
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
    assert list(drafted.link.rtl.registers.values()) == list(by_hand.link.rtl.registers.values())
    assert drafted.opcodes["all"].carried == by_hand.opcodes["all"].carried
    assert "AXI4 master m_axi_gmem_* of 32 bits" in capsys.readouterr().err


def test_what_does_not_fit_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", PAIRS, "--top", "multiply_pairs", "--kernel", "linalg.abs", "-o", str(out)]
    assert main(words) == 0
    assert json.loads(out.read_text())["accelerators"][0]["kernel"] == "linalg.abs"
    said = capsys.readouterr().err
    assert "to do: multiply_pairs has 2 input streams (a_, b_), and linalg.abs has 1 operands (A)" in said


def test_a_large_tile_gets_a_large_window(tmp_path: Path) -> None:
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", START, "--top", "matmul_start", "--tile", "128,128,128", "-o", str(out)]
    assert main(words) == 0
    assert isa.load(out).link.dma.input_buffer_size == 2 * 128 * 128 * 4


def test_registers_by_the_comments_of_hls(tmp_path: Path) -> None:
    names = ("Control signals", "Data signal of rows", "Data signal of ap_return")
    comments = "".join(f"// 0x{8 * number:02x} : {name}\n" for number, name in enumerate(names))
    (tmp_path / "start.v").write_text(comments + Path(START).read_text())
    out = tmp_path / "draft.json"
    words = ["spec", "from-rtl", str(tmp_path / "start.v"), "--top", "matmul_start", "-o", str(out)]
    assert main(words) == 0
    spec = isa.load(out)
    assert spec.link.rtl.registers == {"control": 0, "rows": 8}
    assert [str(one) for one in spec.opcodes["all"].before] == ["write(control, 1)"]
    assert [str(one) for one in spec.opcodes["all"].after] == ["wait(control, 2)"]


def test_a_module_that_looks_at_tlast_starts_on_it(tmp_path: Path) -> None:
    """And what was guessed is marked in reports, until somebody takes the mark away."""
    out, folder = tmp_path / "draft.json", HARDWARE / "stream_matmul"
    files = [str(folder / "matmul_stream.sv"), str(folder / "multiply.sv")]
    assert main(["spec", "from-rtl", *files, "--top", "matmul_stream", "-o", str(out)]) == 0
    spec = isa.load(out)
    assert spec.link.rtl.starts_on_tlast
    assert drivergen.default_pipeline(spec) == "published"
    assert "macs" in spec.link.guessed
    mlir = drivergen.parse_workload("matmul:8x8x8").mlir
    with pytest.raises(UsageError, match=r"coalesce would join packets, .*--pipeline published"):
        drivergen.compile_mlir(mlir, spec, pipeline="coalesce")


@pytest.mark.slow
def test_what_is_advised_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A draft without its RTL is refused with what is missing; that helps, and so does each remedy then."""
    out, told, folder = tmp_path / "draft.json", tmp_path / "run.json", HARDWARE / "stream_matmul"
    files = [str(folder / "matmul_stream.sv"), str(folder / "multiply.sv")]
    assert main(["spec", "from-rtl", *files, "--top", "matmul_stream", "-o", str(out)]) == 0
    run = ["run", "matmul:8x8x8", "--spec", str(out), "--quiet"]
    capsys.readouterr()
    assert main(run) == SpecError.exit_code
    (line,) = capsys.readouterr().err.splitlines()
    assert "no engine of ours computes linalg.matmul by these instructions and tiles" in line
    model, rtl = sorted(re.findall(r"--rtl [^)]+", line), key=len)
    assert main([*run, *model.split()]) == 0
    run += rtl.replace("FILE", shlex.join(files)).replace("NAME", "matmul_stream").split()
    assert main([*run, "--json", str(told)]) == 0
    remedies = {text for loss in json.loads(told.read_text())["losses"] for text in loss["remedies"]}
    assert remedies
    assert not any("coalesce" in text for text in remedies)
    for remedy in remedies:
        assert main([*run, *shlex.split(remedy)]) == 0, remedy


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--kernel", "linalg.nope"], "no kernel `linalg.nope`"),
        (["--kernel", "linalg.mul", "--tile", "4,4"], "--tile has 2 sizes, and linalg.mul has the dims n"),
    ],
)
def test_refusals(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "from-rtl", PAIRS, "--top", "multiply_pairs", *more]) == 2
    assert message in capsys.readouterr().err
