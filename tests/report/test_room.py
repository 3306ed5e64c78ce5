"""What a part is too small for: by counts that synthesis has shown, and in the report of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.commands import main

from axiloom import boards, isa
from axiloom.hw.soc.least import memory_bits, multipliers
from axiloom.report.room import BRAM_BITS, shortage

BOARD = boards.load("pynq-z2")


@pytest.mark.parametrize(
    ("name", "data_type", "macs", "dsp", "bram36"),
    [("v4_16", "int8", 256, 131, 40), ("v3_16", "int32", 64, 192, 0.5), ("conv_v4", "int8", 256, 139, 128.5)],
)
def test_the_least_is_at_most_what_yosys_counts(
    name: str, data_type: str, macs: int, dsp: int, bram36: float
) -> None:
    """Of docs/limits.md; v3's small buffers are LUTs there."""
    spec = isa.revise(isa.builtin(name, data_type=data_type), macs=macs)
    assert 0.9 * dsp < multipliers(spec) <= dsp
    assert memory_bits(spec) / BRAM_BITS <= max(bram36, 2)


def test_two_arrays_of_which_each_fits() -> None:
    conv, product = (
        isa.revise(isa.builtin(name, data_type="int8"), macs=256) for name in ("conv_v4", "v4_16")
    )
    assert shortage([conv], BOARD) is None
    assert shortage([product], BOARD) is None
    assert shortage([conv, product], BOARD) == (
        "simulated as it is, but too large for xc7z020clg400-1: at least 256 of 220 DSP48"
    )
    small = replace(BOARD, resources=replace(BOARD.resources, bram36=64))
    told = shortage([conv], small)
    assert told is not None
    assert told.endswith("at least 86 of 64 BRAM36")


def test_what_has_no_array_needs_nothing_that_is_known() -> None:
    assert shortage([isa.builtin("loopback")], BOARD) is None


@pytest.mark.slow
def test_a_report_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also the two lines of --quiet."""
    profile = (Path(boards.__file__).parent / "pynq-z2" / "profile.toml").read_text()
    for dsp, too_large in ((47, True), (48, False)):
        board = tmp_path / "mine.toml"
        board.write_text(profile.replace("dsp48 = 220", f"dsp48 = {dsp}"))
        command = ["run", "matmul:4x4x4", "--accel", "v3", "--size", "4", "--quiet", "--board", str(board)]
        assert main(command) == 0
        said = "too large for xc7z020clg400-1: at least 48 of 47 DSP48\n"
        assert (said in capsys.readouterr().out) == too_large
