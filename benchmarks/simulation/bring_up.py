"""The bring-up ladder on the simulated SoC: with every built-in accelerator, and with each fault that it has
to find, injected into what is simulated: hardware or driver.

Ends with 1 if one does not pass, or a fault is not found where it should be."""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from axiloom import boards, isa
from axiloom.bringup import ladder as bring_up
from axiloom.cosim.build import emitted
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import SendLiteral

SPEC = isa.builtin("v3", 4)
LITERALS = isa.builtin("v3", 4, encoding="literals")
BOARD = boards.load("pynq-z2")
WATCHDOG = 1_000_000
ACCELERATORS = tuple(name for kernel in isa.KERNELS for name in isa.builtins(kernel))


def with_dma(spec: AcceleratorSpec, **changes: Any) -> AcceleratorSpec:
    return spec.replace(dma=replace(spec.link.dma, **changes))


def with_swapped_loads(spec: AcceleratorSpec) -> AcceleratorSpec:
    """sA with the opcode word of sB, and the reverse."""
    opcodes = dict(spec.opcodes)
    first, second = opcodes["sA"], opcodes["sB"]
    assert first.literal is not None
    assert second.literal is not None
    for opcode, literal in ((first, second.literal), (second, first.literal)):
        opcodes[opcode.name] = replace(opcode, host=(SendLiteral(literal), *opcode.host[1:]))
    return spec.replace(opcodes=opcodes)


def _connection(instance: str, signal: str) -> str:
    """Matches up to where `instance` has `signal` at a port, whatever that is called."""
    return rf"(\b{instance} \([^;]*?\.\w+\(){signal}\)"


@dataclass(frozen=True)
class Fault:
    """What is wrong: the driver's specification, what it is compiled with, or the top module's Verilog."""

    step: int
    why: str
    hardware: AcceleratorSpec = SPEC
    driver: AcceleratorSpec = SPEC
    defines: dict[str, object] = field(default_factory=dict)
    verilog: tuple[tuple[str, str], ...] = ()
    """Patterns and what takes the place of their first match."""
    console: str = ""


FAULTS = {
    "wrong address": Fault(
        1, "wrong address", driver=with_dma(SPEC, address=0x4041_0000), console="there is a DMA at 0x40400000"
    ),
    "DMA held in reset": Fault(
        1,
        "read of 0x40400000|write of 0x40400000",
        verilog=((_connection("dma", "rst"), r"\g<1>1'b1)"),),
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
            (_connection("accelerator", "debug_out_tlast"), r"\g<1>)"),
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
            (_connection("accelerator", "debug_error"), r"\g<1>)"),
            ("endmodule", "assign debug_error = 0;\nendmodule"),
        ),
        console="MM2S (to the accelerator): DMACR 0x00010003 (run)",
    ),
    "stuck stream": Fault(
        3,
        "its stream is stuck",
        verilog=(
            (_connection("accelerator", "debug_in_tready"), r"\g<1>)"),
            (_connection("accelerator", "debug_in_tvalid"), r"\g<1>1'b0)"),
            ("endmodule", "assign debug_in_tready = 0;\nendmodule"),
        ),
        console="MM2S (to the accelerator): DMACR 0x00010003 (run)",
    ),
}


def climb(fault: Fault, folder: Path) -> bring_up.Ladder:
    """Build hardware and program with the fault, and run."""
    elf = bring_up.build(fault.driver, folder, BOARD, **fault.defines)
    with _verilog(fault.verilog):
        return bring_up.run(elf, Soc(System(fault.hardware, BOARD, watchdog_cycles=WATCHDOG)))


@contextmanager
def _verilog(replacements: tuple[tuple[str, str], ...]) -> Iterator[None]:
    """While it is open, hardware is generated with `replacements` in its top module."""
    emit = emitted.sources

    def patched(*arguments: Any) -> tuple[tuple[str, str], ...]:
        return tuple((file, patch(text, replacements)) for file, text in emit(*arguments))

    with mock.patch.object(emitted, "sources", patched):
        yield


def patch(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    """In the module at the top, which is the first."""
    for old, new in replacements:
        text, count = re.subn(old, new, text, count=1)
        assert count, f"the top module has no {old}"
    return text


def main() -> None:
    unexpected = []
    for name in ACCELERATORS:
        spec = isa.builtin(name)
        with tempfile.TemporaryDirectory() as folder:
            ladder = bring_up.run(bring_up.build(spec, Path(folder), BOARD), Soc(System(spec, BOARD)))
        print(f"{name} on {BOARD.name}: {ladder}", flush=True)
        if not ladder.passed:
            unexpected.append(name)
    for name, fault in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            ladder = climb(fault, Path(folder))
        right = ladder.step == fault.step and any(part in ladder.why for part in fault.why.split("|"))
        print(f"{name}{'' if right else ' (NOT as expected)'}")
        print(textwrap.fill(str(ladder), 110, initial_indent="    ", subsequent_indent="    "), flush=True)
        if not right:
            unexpected.append(name)
    if unexpected:
        sys.exit(f"not as expected: {', '.join(unexpected)}")
    print("all as expected")
