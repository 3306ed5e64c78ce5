"""The bring-up ladder: it passes; with each of eight faults it stops at the right step, with the cause."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from axiloom import boards, bring_up, isa
from axiloom.cosim import emitted
from axiloom.cosim.soc import Soc
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.types import SendLiteral

SPEC = isa.builtin("v3", 4)
LITERALS = isa.builtin("v3", 4, encoding="literals")
A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")
WATCHDOG = 1_000_000


def with_dma(spec: AcceleratorSpec, **changes: int) -> AcceleratorSpec:
    return spec.replace(dma=replace(spec.dma, **changes))


def with_swapped_loads(spec: AcceleratorSpec) -> AcceleratorSpec:
    """sA with the opcode word of sB, and the reverse."""
    opcodes = dict(spec.opcodes)
    first, second = opcodes["sA"], opcodes["sB"]
    assert first.literal is not None
    assert second.literal is not None
    for one, literal in ((first, second.literal), (second, first.literal)):
        opcodes[one.name] = replace(one, host=(SendLiteral(literal), *one.host[1:]))
    return spec.replace(opcodes=opcodes)


@dataclass(frozen=True)
class Fault:
    """What is wrong: the driver's specification, what it is compiled with, or the top module's Verilog."""

    step: int
    why: str
    hardware: AcceleratorSpec = SPEC
    driver: AcceleratorSpec = SPEC
    defines: dict[str, object] = field(default_factory=dict)
    verilog: tuple[tuple[str, str], ...] = ()
    console: str = ""


FAULTS = {
    "wrong address": Fault(
        1, "wrong address", driver=with_dma(SPEC, address=0x4041_0000), console="there is a DMA at 0x40400000"
    ),
    "DMA held in reset": Fault(
        1,
        "read of 0x40400000|write of 0x40400000",
        verilog=((".rst(rst),\n    .s2mm_busy", ".rst(1'b1),\n    .s2mm_busy"),),
        console="or the DMA is held in reset",
    ),
    "LENGTH too narrow": Fault(
        1,
        "LENGTH is narrower than the driver was compiled for",
        hardware=with_dma(SPEC, length_width=14),
        console="LENGTH holds 0x3fff of 0x3ffffff",
    ),
    "missing TLAST": Fault(
        4,
        "TLAST",
        verilog=(
            (".m_axis_tlast(debug_out_tlast)", ".m_axis_tlast()"),
            ("endmodule", "assign debug_out_tlast = 0;\nendmodule"),
        ),
    ),
    "swapped operands": Fault(
        5, "the operands are swapped", hardware=LITERALS, driver=with_swapped_loads(LITERALS)
    ),
    "missing flush": Fault(3, "missing flush", defines={"AXL_DMA_CACHED": 1, "AXL_DMA_COHERENT": 1}),
    "wrong encoding": Fault(3, "UNKNOWN_OPCODE", driver=LITERALS),
    "wrong encoding, without the simulator's eye": Fault(
        3,
        "wrong encoding, the driver is of another specification",
        driver=LITERALS,
        verilog=(
            (".debug_error(debug_error)", ".debug_error()"),
            ("endmodule", "assign debug_error = 0;\nendmodule"),
        ),
        console="MM2S (to the accelerator): DMACR 0x00010003 (run)",
    ),
    "stuck stream": Fault(
        3,
        "its stream is stuck",
        verilog=(
            (".s_axis_tready(debug_in_tready)", ".s_axis_tready()"),
            (".s_axis_tvalid(debug_in_tvalid)", ".s_axis_tvalid(1'b0)"),
            ("endmodule", "assign debug_in_tready = 0;\nendmodule"),
        ),
        console="MM2S (to the accelerator): DMACR 0x00010003 (run)",
    ),
}


@pytest.mark.slow  # builds a C library, and hardware with faults
@pytest.mark.parametrize("board", [A9, A53], ids=lambda board: str(board.architecture))
def test_passes(tmp_path: Path, board: boards.Board) -> None:
    ladder = bring_up.run(bring_up.build(SPEC, tmp_path, board), Soc(SPEC, board=board))
    assert ladder.passed, ladder
    assert str(ladder) == "all 6 steps are passed"
    assert ladder.console.count("step ") == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_fault(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    emit = emitted.sources

    def patched(*given: object) -> tuple[tuple[str, str], ...]:
        return tuple((file, patch(text, fault.verilog)) for file, text in emit(*given))  # type: ignore[arg-type]

    if fault.verilog:
        monkeypatch.setattr(emitted, "sources", patched)
    elf = bring_up.build(fault.driver, tmp_path, A9, **fault.defines)
    ladder = bring_up.run(elf, Soc(fault.hardware, board=A9, watchdog_cycles=WATCHDOG))
    assert ladder.step == fault.step, ladder
    assert any(part in ladder.why for part in fault.why.split("|")), ladder
    assert fault.console in ladder.console


def patch(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    """In the module at the top, which is the first."""
    for old, new in replacements:
        assert old in text, f"the top module has no {old}"
        text = text.replace(old, new, 1)
    return text


def test_other_kernels_are_refused() -> None:
    with pytest.raises(UsageError, match="conv_v3: the ladder is written for matmul accelerators"):
        bring_up.sources(isa.builtin("conv_v3"))


def test_sources_say_what_the_specification_says() -> None:
    files = bring_up.sources(LITERALS)
    config = files["ladder_config.h"]
    assert "#define LADDER_DMA 0x40400000u" in config
    assert "#define LADDER_LOAD {0x22u, 0x0u," in config
    assert config.count("0x0u") == 16
    assert set(files) == {
        *("ladder_tile.c", "ladder_tile.h", "ladder_kernel.c", "ladder_kernel.h", "ladder_config.h")
    }
    assert "LADDER_TILE_H" in files["ladder_tile.h"]
    v1 = bring_up.sources(isa.builtin("v1", 4))["ladder_config.h"]
    assert "#define LADDER_LOAD {0x0u}" in v1
