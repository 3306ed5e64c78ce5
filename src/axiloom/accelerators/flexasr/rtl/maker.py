"""`MAKER`: vectors of 16 AdaptivFloat bytes as a device, of ``flexasr_units.isa`` and what is like it."""

from __future__ import annotations

from axiloom.accelerators.flexasr.rtl.cycles import Cycles
from axiloom.accelerators.flexasr.rtl.device import Device
from axiloom.accelerators.flexasr.rtl.meanings import LANES, machine
from axiloom.base.errors import UsageError
from axiloom.device.rtl import DEFAULT_LANES, DeviceRtl, Maker
from axiloom.hw.verilog.emit import convert
from axiloom.isa.instructions.tree import InstructionSet


def _make(isa: InstructionSet, lanes: int, stream_width: int, rows: int) -> DeviceRtl:
    units = machine(isa)
    if (lanes, rows) != (DEFAULT_LANES, 1):
        raise UsageError(f"{isa.name}: a vector has {LANES} elements: no --lanes, no --product-rows")
    top = f"device_{isa.name}"
    try:
        component = Device(units, stream_width)
    except ValueError as error:
        raise UsageError(f"{isa.name}: {error}") from None
    cycles = Cycles(units, stream_width)
    return DeviceRtl(isa, top, convert(component, top), stream_width, LANES, cycles.program)


MAKER = Maker("vectors of bytes", _make)
