"""The RTL of a text: whoever has units for its instructions builds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from axiloom.errors import SpecError, UsageError
from axiloom.hw.flexasr.cycles import Cycles as ByteCycles
from axiloom.hw.flexasr.device import Device as ByteDevice
from axiloom.hw.flexasr.meanings import LANES as BYTES
from axiloom.hw.flexasr.meanings import machine as byte_machine
from axiloom.hw.qkv.cycles import Cycles
from axiloom.hw.qkv.device import Device as RowDevice
from axiloom.hw.qkv.meanings import machine
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.verilog.emit import convert
from axiloom.hw.verilog.rows import emit_rows
from axiloom.hw.vta.cycles import Cycles as BlockCycles
from axiloom.hw.vta.device import Device as BlockDevice
from axiloom.hw.vta.meanings import machine as block_machine
from axiloom.isa import Link
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.link import link
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import Program

DEFAULT_LANES = 16


@dataclass(frozen=True)
class DeviceRtl:
    """`verilog` has the module `top`, with ``s_axis``, ``m_axis``, ``debug_busy`` and ``debug_error``."""

    isa: InstructionSet
    top: str
    verilog: str
    stream_width: int
    multipliers: int
    cycles: Callable[[Iterable[tuple[str, Mapping[str, int]]]], int] | None = None
    """Of commands with their fields, while the streams do not pause; None where nobody has foretold them."""

    @property
    def link(self) -> Link:
        return link(self.isa.name, self.stream_width, self.multipliers)

    def foretold(self, program: Program) -> int | None:
        """Cycles of a program of this device."""
        if self.cycles is None:
            return None
        commands = tokened(program, self.isa).commands
        return self.cycles((one.instruction, one.fields) for one in commands)

    def rtl(self, folder: Path) -> UserRtl:
        """The Verilog in `folder`, as a SoC takes Verilog."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.top}.v"
        file.write_text(self.verilog, encoding="utf-8")
        return UserRtl([file], self.top)


def _rows(isa: InstructionSet, lanes: int, stream_width: int, rows: int) -> DeviceRtl:
    """Rows of bfloat16: QKV and what is like it."""
    found = machine(isa)
    top = f"device_{isa.name}"
    try:
        component = RowDevice(found, lanes, stream_width, rows)
    except ValueError as error:
        raise UsageError(f"{isa.name}: {error}") from None
    cycles = Cycles(found, lanes, stream_width, rows)
    return DeviceRtl(isa, top, emit_rows(component, top), stream_width, lanes * rows, cycles.program)


def _blocks(isa: InstructionSet, lanes: int, stream_width: int, rows: int) -> DeviceRtl:
    """Blocks of int8 by vectors of int8: VTA and what is like it. The text says how many lanes there are."""
    found = block_machine(isa)
    if (lanes, rows) != (DEFAULT_LANES, 1):
        raise UsageError(
            f"{isa.name}: its text says how many multipliers there are: no --lanes, no --product-rows"
        )
    top = f"device_{isa.name}"
    try:
        component = BlockDevice(found, stream_width)
    except ValueError as error:
        raise UsageError(f"{isa.name}: {error}") from None
    cycles = BlockCycles(found, stream_width)
    return DeviceRtl(isa, top, convert(component, top), stream_width, found.block**2, cycles.program)


def _bytes(isa: InstructionSet, lanes: int, stream_width: int, rows: int) -> DeviceRtl:
    """Vectors of 16 AdaptivFloat bytes: FlexASR's units and what is like them."""
    found = byte_machine(isa)
    if (lanes, rows) != (DEFAULT_LANES, 1):
        raise UsageError(f"{isa.name}: a vector has {BYTES} elements: no --lanes, no --product-rows")
    top = f"device_{isa.name}"
    try:
        component = ByteDevice(found, stream_width)
    except ValueError as error:
        raise UsageError(f"{isa.name}: {error}") from None
    cycles = ByteCycles(found, stream_width)
    return DeviceRtl(isa, top, convert(component, top), stream_width, BYTES, cycles.program)


MAKERS: Mapping[str, Callable[[InstructionSet, int, int, int], DeviceRtl]] = {
    "rows of bfloat16": _rows,
    "blocks of int8": _blocks,
    "vectors of bytes": _bytes,
}
"""What they build, to the function that does. A new family of units is one more entry; it raises SpecError
for texts that are none of its."""


def device(
    isa: InstructionSet, lanes: int = DEFAULT_LANES, stream_width: int = 64, rows: int = 1
) -> DeviceRtl:
    """`rows`: of a product at once, `lanes` multipliers each. Raises SpecError with what each maker says
    where none builds it."""
    faults: list[str] = []
    for name, make in MAKERS.items():
        try:
            return make(isa, lanes, stream_width, rows)
        except SpecError as error:
            first, *more = error.faults
            faults.append(f"as {name}: {first}{f' (and {len(more)} more)' if more else ''}")
    raise SpecError(faults)
