"""The bring-up ladder: it passes; with each of eight faults it stops at the right step, with the cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.simulation.bring_up import FAULTS, LITERALS, SPEC, climb, patch

from axiloom import boards, isa
from axiloom.bringup import ladder as bring_up
from axiloom.cosim.build import emitted
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")


@pytest.mark.slow  # builds a C library, and hardware with faults
@pytest.mark.parametrize("board", [A9, A53], ids=lambda board: str(board.architecture))
def test_passes(tmp_path: Path, board: boards.Board) -> None:
    ladder = bring_up.run(bring_up.build(SPEC, tmp_path, board), Soc(System(SPEC, board=board)))
    assert ladder.passed, ladder
    assert str(ladder) == "all 6 steps are passed"
    assert ladder.console.count("step ") == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data_type", "more"),
    [
        ("loopback", "int32", {}),
        ("identity", "int32", {"stream_width": 64}),
        ("v1_4", "int8", {}),
        ("v2_4", "int16", {"encoding": "literals"}),
        ("v4_16", "int8", {"post": True}),
        ("conv_v3", "int8", {}),
        ("conv_v4", "int32", {"stream_width": 128}),
    ],
)
def test_every_kind_passes(tmp_path: Path, name: str, data_type: str, more: dict[str, Any]) -> None:
    changes = {"stream_width": more.pop("stream_width")} if "stream_width" in more else {}
    spec = isa.revise(isa.builtin(name, data_type=data_type, **more), **changes)
    ladder = bring_up.run(bring_up.build(spec, tmp_path, A9), Soc(System(spec, board=A9)))
    assert ladder.passed, ladder
    assert ladder.console.count("step ") == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_fault(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    ladder = climb(fault, tmp_path)
    assert ladder.step == fault.step, ladder
    assert any(part in ladder.why for part in fault.why.split("|")), ladder
    assert fault.console in ladder.console


def test_faults_of_the_hardware_have_a_place_in_it() -> None:
    """Each is a change of the top module, whose ports may be called otherwise one day."""
    (_, text), *_ = emitted.sources((SPEC,), "soc", None)
    for name, fault in FAULTS.items():
        if fault.verilog and fault.hardware is SPEC:
            assert patch(text, fault.verilog) != text, name


@pytest.mark.slow
def test_sources_say_what_the_specification_says() -> None:
    files = bring_up.sources(LITERALS)
    config = files["ladder_config.h"]
    assert "#define LADDER_DMA 0x40400000u" in config
    assert "#define LADDER_LOAD {0x22u}" in config
    assert "#define LADDER_LOAD_WORDS 17u" in config
    assert set(files) == {
        "ladder_config.h",
        *bring_up.C_FILES,
        *(name.replace(".c", ".h") for name in bring_up.C_FILES),
    }
    assert "LADDER_TILE_H" in files["ladder_tile.h"]
    assert "#define LADDER_BEAT 1u" in config
    wide = bring_up.sources(isa.revise(LITERALS, stream_width=128))["ladder_config.h"]
    assert "#define LADDER_BEAT 4u" in wide
    assert "#define LADDER_LOAD {0x22u, 0x0u, 0x0u, 0x0u}" in wide  # filled up to a beat
    assert "#define LADDER_LOAD_WORDS 20u" in wide
    v1 = bring_up.sources(isa.builtin("v1", 4))["ladder_config.h"]
    assert "#define LADDER_LOAD {0x0u}" in v1
    assert "#define LADDER_LOAD_WORDS 16u" in v1
    assert '#define LADDER_LOAD_WHAT "A, its first operand: there are no opcodes"' in v1
    conv = bring_up.sources(isa.builtin("conv_v4"))["ladder_config.h"]
    assert "#define LADDER_LOAD {0x1u, 0x1405040u, 0x0u}" in conv  # ic, ih, iw; padding
