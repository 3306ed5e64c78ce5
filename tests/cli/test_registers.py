"""An accelerator with registers of its own: what cannot have them yet is refused, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main

START = Path(__file__).parents[2] / "examples" / "hardware" / "start_matmul"
SPEC = ["--spec", str(START / "matmul_start.json")]
RTL = ["--rtl", str(START / "matmul_start.v"), "--top", "matmul_start"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["run", "matmul:8x8x8", *RTL, "--pipeline", "copying"],
            2,
            "which no pass may move: take `published`",
        ),
        (["run", "matmul:8x8x8", *RTL, "--os", "linux"], 2, "Linux programs do not reach them yet"),
        (["run", "matmul:8x8x8", "--rtl", "model"], 2, "which only RTL of yours has: give it"),
        (["run", "matmul:8x8x8"], 2, "which only RTL of yours has: give it"),
        (["verilog"], 3, "engines of ours have no registers"),
        (
            ["board", "new", "pynq-z2", *RTL, "--dma", "xilinx", "-o", "never"],
            2,
            "Xilinx' DMA has no room for the accelerator's own registers",
        ),
        (
            ["board", "new", "ulx3s", *RTL, "-o", "never"],
            2,
            "its open flow has no room for the accelerator's own registers",
        ),
    ],
)
def test_refusals(
    words: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, *SPEC]) == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_driver_writes_and_waits(capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes and start before the words, done behind the result."""
    assert main(["compile", "matmul:8x8x8", *SPEC, *RTL]) == 0
    text = capsys.readouterr().out
    order = [
        "dma_device_write(32784, 8)",
        "dma_device_write(32768, 1)",
        "dma_start_send(",
        "dma_get_tile_i32(",
        "dma_device_wait(32768, 2)",
    ]
    places = [text.index(one) for one in order]
    assert places == sorted(places)


HARDWARE = START.parent


def ordered(text: str, *calls: str) -> bool:
    places = [text.index(one) for one in calls]
    return places == sorted(places)


def test_elements_go_to_registers_before_the_stream(capsys: pytest.CaptureFixture[str]) -> None:
    fir = HARDWARE / "fir16"
    assert main(["compile", str(fir / "fir16.mlir"), "--spec", str(fir / "fir16.json")]) == 0
    text = capsys.readouterr().out
    assert ordered(
        text, "dma_put_block_i16(H,", "dma_device_elements(32768, 9, 16, 0)", "dma_start_send(36, 0)"
    )


def test_tiles_of_whole_lines_are_read_and_written_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    vadd = HARDWARE / "vadd_m_axi"
    assert main(["compile", str(vadd / "vadd.mlir"), "--spec", str(vadd / "vadd.json")]) == 0
    text = capsys.readouterr().out
    assert ordered(
        text,
        "dma_device_reads_at(32784, &A[n], 512)",
        "dma_device_reads_at(32796, &B[n], 512)",
        "dma_device_writes_at(32808, &C[n], 512)",
        "dma_device_write(32768, 1)",
        "dma_device_wait(32768, 2)",
        "dma_device_wrote_at(&C[n], 512)",
    )
    assert "dma_start" not in text


def test_other_tiles_go_through_the_windows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """B lies on a beat of the widest port behind A; nothing goes through the DMA."""
    vadd, spec, problem = HARDWARE / "vadd_m_axi", tmp_path / "vadd.json", tmp_path / "vadd.mlir"
    spec.write_text((vadd / "vadd.json").read_text().replace("[512]", "[500]"))
    problem.write_text((vadd / "vadd.mlir").read_text().replace("2560", "2500"))
    assert main(["compile", str(problem), "--spec", str(spec)]) == 0
    text = capsys.readouterr().out
    assert ordered(
        text,
        "dma_device_reads(32784, 500, 0)",
        "dma_device_reads(32796, 500, 512)",
        "dma_device_writes(32808, 500, 0)",
        "dma_device_write(32768, 1)",
        "dma_device_wait(32768, 2)",
        "dma_device_wrote(500, 0)",
        "dma_get_block_i32(",
    )
    assert "dma_start" not in text


@pytest.mark.slow
def test_a_board_folder_joins_the_master_to_memory_and_its_lint_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vadd, out = HARDWARE / "vadd_m_axi", tmp_path / "board"
    words = [
        "board",
        "new",
        "pynq-z2",
        "--problem",
        str(vadd / "vadd.mlir"),
        "--spec",
        str(vadd / "vadd.json"),
    ]
    assert main([*words, "--rtl", str(vadd / "vadd.v"), "--top", "vadd", "-o", str(out)]) == 0
    assert "axiloom_soc_0/m_axi_user" in next(out.rglob("block_design.tcl")).read_text()

    check = ["board", "check", str(out), "--only", "verilator"]
    assert main(check) == 0
    said = capsys.readouterr().out
    assert "6 warnings" in said
    assert "vadd.v:53:49: Signal is not used: 'm_axi_gmem_RLAST'" in said
    waivers = tmp_path / "mine.vlt"
    waivers.write_text('`verilator_config\nlint_off -rule UNUSEDSIGNAL -file "*vadd.v"\n')
    assert main([*check, "--waivers", str(waivers)]) == 0
    assert "warnings" not in capsys.readouterr().out
    assert main(["board", "check", str(out), "--only", "yosys", "--waivers", str(waivers)]) == 2
    assert "for Verilator's linter, which --only leaves out" in capsys.readouterr().err
