"""`MAKER`: rows of bfloat16 as a device, of ``qkv.isa`` and what is like it."""

from __future__ import annotations

from axiloom.accelerators.qkv.rtl.cycles import Cycles
from axiloom.accelerators.qkv.rtl.device import Device
from axiloom.accelerators.qkv.rtl.meanings import machine
from axiloom.base.errors import UsageError
from axiloom.device.rtl import DeviceRtl, Maker
from axiloom.hw.verilog.functions import emit_with_functions
from axiloom.isa.instructions.tree import InstructionSet


def _make(isa: InstructionSet, lanes: int, stream_width: int, rows: int) -> DeviceRtl:
    units = machine(isa)
    top = f"device_{isa.name}"
    try:
        component = Device(units, lanes, stream_width, rows)
    except ValueError as error:
        raise UsageError(f"{isa.name}: {error}") from None
    cycles = Cycles(units, lanes, stream_width, rows)
    verilog = emit_with_functions(component, top)
    return DeviceRtl(isa, top, verilog, stream_width, lanes * rows, cycles.program)


MAKER = Maker("rows of bfloat16", _make)
