"""Accelerators as people write them, each on the simulated SoC: `pytest examples/hardware`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from axiloom.base.errors import DriverError, HangError

HERE = Path(__file__).parent
STREAM, START, PAIRS, GAIN, VHDL, VADD, FIR = (
    HERE / name
    for name in (
        *("stream_matmul", "start_matmul", "two_streams", "gain16", "add_vhdl"),
        *("vadd_m_axi", "fir16"),
    )
)
needs_ghdl = pytest.mark.skipif(shutil.which("ghdl") is None, reason="needs ghdl")


def test_streaming_matmul_that_starts_on_tlast(soc) -> None:
    files = [STREAM / "matmul_stream.sv", STREAM / "multiply.sv"]
    chip = soc(STREAM / "matmul_stream.json", rtl=files, top="matmul_stream")
    assert chip.matmul(4, 8, 6, pipeline="published")["result"]["matches"]


def test_matmul_with_start_and_sizes_in_registers(soc) -> None:
    chip = soc(START / "matmul_start.json", rtl=[START / "matmul_start.v"], top="matmul_start")
    assert chip.matmul(8, 8, 9)["result"]["matches"]


@pytest.mark.slow
def test_without_its_start_it_hangs(soc, tmp_path: Path) -> None:
    text = (START / "matmul_start.json").read_text()
    assert "write(control, 1), " in text
    spec = tmp_path / "never.json"
    spec.write_text(text.replace("write(control, 1), ", ""))
    chip = soc(spec, rtl=[START / "matmul_start.v"], top="matmul_start", watchdog_cycles=20_000)
    with pytest.raises(HangError, match="stalls"):
        chip.matmul(8, 8, 8)


@pytest.mark.slow
def test_two_streams_without_tlast(soc) -> None:
    chip = soc(PAIRS / "multiply_pairs.json", rtl=[PAIRS / "multiply_pairs.v"], top="multiply_pairs")
    assert chip.mlir(PAIRS / "multiply_pairs.mlir")["result"]["matches"]


@pytest.mark.slow
def test_streams_of_16_bits_and_a_gain_in_a_register(soc) -> None:
    chip = soc(GAIN / "gain16.json", rtl=[GAIN / "gain16.v"], top="gain16")
    assert chip.mlir(GAIN / "gain16.mlir")["result"]["matches"]


@pytest.mark.slow
def test_another_gain_is_another_result(soc, tmp_path: Path) -> None:
    text = (GAIN / "gain16.json").read_text()
    spec = tmp_path / "wrong.json"
    spec.write_text(text.replace("write(gain, 3)", "write(gain, 2)"))
    chip = soc(spec, rtl=[GAIN / "gain16.v"], top="gain16")
    assert not chip.mlir(GAIN / "gain16.mlir")["result"]["matches"]


def test_a_device_that_reads_and_writes_memory_itself(soc) -> None:
    chip = soc(VADD / "vadd.json", rtl=[VADD / "vadd.v"], top="vadd")
    report = chip.mlir(VADD / "vadd.mlir")
    assert report["result"]["matches"]
    assert (report["fabric"]["words_in"], report["fabric"]["words_out"]) == (5120, 2560)
    assert report["stale"] == []
    assert report["limit"]["cycles"] == 5120


@pytest.mark.slow
def test_its_operands_may_go_through_windows(soc, tmp_path: Path) -> None:
    """A tile that is no whole cache line is copied."""
    spec, problem = tmp_path / "vadd.json", tmp_path / "vadd.mlir"
    spec.write_text((VADD / "vadd.json").read_text().replace("[512]", "[500]"))
    problem.write_text((VADD / "vadd.mlir").read_text().replace("2560", "1000"))
    chip = soc(spec, rtl=[VADD / "vadd.v"], top="vadd")
    report = chip.mlir(problem)
    assert report["result"]["matches"]
    assert (report["stale"], report["outside"]) == ([], [])


@pytest.mark.slow
def test_a_burst_of_another_kind_ends_the_run(soc, tmp_path: Path) -> None:
    text = (VADD / "vadd.v").read_text()
    assert "m_axi_gmem_ARBURST = 2'b01" in text
    fixed = tmp_path / "vadd.v"
    fixed.write_text(text.replace("m_axi_gmem_ARBURST = 2'b01", "m_axi_gmem_ARBURST = 2'b00"))
    chip = soc(VADD / "vadd.json", rtl=[fixed], top="vadd")
    with pytest.raises(DriverError, match="begins a read burst of kind FIXED with beats of 4 bytes"):
        chip.mlir(VADD / "vadd.mlir")


@pytest.mark.slow
def test_a_master_need_not_say_how_its_bursts_go_on(soc, tmp_path: Path) -> None:
    lines = (VADD / "vadd.v").read_text().splitlines(keepends=True)
    told = re.compile(r"m_axi_gmem_A[RW](SIZE|BURST)\b")
    assert sum(bool(told.search(line)) for line in lines) == 8
    short = tmp_path / "vadd.v"
    short.write_text("".join(line for line in lines if not told.search(line)))
    chip = soc(VADD / "vadd.json", rtl=[short], top="vadd")
    assert chip.mlir(VADD / "vadd.mlir")["result"]["matches"]


@pytest.mark.slow
def test_coefficients_in_registers(soc) -> None:
    chip = soc(FIR / "fir16.json", rtl=[FIR / "fir16.v"], top="fir16")
    assert chip.mlir(FIR / "fir16.mlir")["result"]["matches"]


@needs_ghdl
def test_vhdl(soc) -> None:
    chip = soc(VHDL / "add_blocks.json", rtl=[VHDL / "add_blocks.vhd"], top="add_blocks")
    assert chip.mlir(VHDL / "add_blocks.mlir")["result"]["matches"]


@needs_ghdl
@pytest.mark.slow
def test_vhdl_that_subtracts(soc, tmp_path: Path) -> None:
    text = (VHDL / "add_blocks.vhd").read_text()
    assert " + unsigned(s_axis_tdata)" in text
    wrong = tmp_path / "add_blocks.vhd"
    wrong.write_text(text.replace(" + unsigned(s_axis_tdata)", " - unsigned(s_axis_tdata)"))
    chip = soc(VHDL / "add_blocks.json", rtl=[wrong], top="add_blocks")
    assert not chip.mlir(VHDL / "add_blocks.mlir")["result"]["matches"]
