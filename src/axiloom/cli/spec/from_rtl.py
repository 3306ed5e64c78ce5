"""``axiloom spec from-rtl``: a first draft of a specification, from the ports of a module."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from axiloom import isa
from axiloom.cli import options as shared
from axiloom.cli.given import output_file
from axiloom.errors import SpecError, UsageError
from axiloom.hw.rtl_files.ports import buses, read_ports
from axiloom.hw.rtl_files.user_rtl import WIDE, UserRtl
from axiloom.hw.rtl_files.vhdl import as_verilog
from axiloom.isa import AcceleratorSpec, numerics
from axiloom.isa.check import check
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.contract.types import (
    Carried,
    Clear,
    Compute,
    DeviceAction,
    HostAction,
    Load,
    Opcode,
    Recv,
    Scope,
    Send,
    Store,
    TileRule,
    WaitRegister,
    WriteRegister,
)
from axiloom.isa.files.device import device_of
from axiloom.isa.files.json_form import default_macs
from axiloom.isa.kernels.named import KERNELS
from axiloom.isa.wording.names import hint

SIDE = 4
"""Of the draft's tile, in each dim, where none is given; what has one dim gets more."""
ROW = 64
FIRST_ARGUMENT, POINTER_BYTES, SIZE_BYTES, AP_START, AP_DONE = 0x10, 12, 8, 1, 2
"""Of the registers that Vitis HLS makes: ap_ctrl_hs at 0, arguments from 0x10 on."""


def add_command(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = actions.add_parser(
        "from-rtl",
        help="a first draft of a specification, from the ports of your Verilog",
        description="Reads ports and widths. What the ports do not say (kernel, tile, opcodes, registers) is "
        "a guess, and each guess is named on standard error.",
    )
    command.add_argument("files", type=Path, nargs="+", metavar="FILE.v")
    command.add_argument("--top", required=True, metavar="NAME", help="the module with the ports")
    command.add_argument(
        "--kernel", default="linalg.matmul", metavar="NAME", help="what it computes (default %(default)s)"
    )
    command.add_argument("--tile", type=shared.sizes, metavar="m,n,k", help="the sizes that it takes at once")
    command.add_argument("--data-type", default="int32", metavar="NAME", help="default %(default)s")
    command.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    spec, notes = draft(options.files, options.top, options.kernel, options.tile, options.data_type)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    shared.write(isa.dumps(spec), options.output)
    return 0


def draft(
    files: Sequence[Path], top: str, kernel: str, tile: Sequence[int] | None, data_type: str
) -> tuple[AcceleratorSpec, list[str]]:
    """A specification whose one opcode sends all operands and receives the result, and what was guessed.

    Raises UsageError, SpecError and BuildError.
    """
    base = _plain(kernel, tile, data_type)
    operands = [name for name in base.data if name != base.form.output]
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
    files = as_verilog(files, top)
    ports = read_ports(files, top)
    streams = [bus.prefix for bus in buses(ports, "tdata") if bus.signals["tdata"].is_input]
    told = RtlPorts(inputs=dict(zip(operands, streams, strict=False)) if len(streams) > 1 else {})
    if len(streams) > 1 and len(streams) != len(operands):
        raise UsageError(
            f"{top} has {len(streams)} input streams ({', '.join(streams)}), and {kernel} has "
            f"{len(operands)} operands ({', '.join(operands)}): give the kernel that it computes, --kernel"
        )
    rtl = UserRtl(files, top, told)
    spec = base.replace(name=top, stream_width=rtl.stream_width, rtl=told)
    if rtl.master is not None and not rtl.input_streams:
        spec = _with_pointers(spec)
    if faults := check.check(spec):
        raise SpecError([f"{top}: {fault}" for fault in faults])
    rtl.check(spec)
    return spec, list(_notes(spec, rtl, tile is None))


def _with_pointers(spec: AcceleratorSpec) -> AcceleratorSpec:
    """All operands by pointer, then the sizes, with the registers where Vitis HLS lays them out.

    Arguments begin at 0x10; a pointer takes 12 bytes, a size 8 (UG1399, S_AXILITE Control Register Map).
    """
    (opcode,) = spec.opcodes.values()
    registers, at = {"control": 0}, FIRST_ARGUMENT
    for operand in (*opcode.sends, *opcode.receives):
        registers[operand.lower()], at = at, at + POINTER_BYTES
    for dim in spec.dims:
        registers[f"size_{dim}"], at = at, at + SIZE_BYTES
    sizes = [WriteRegister(f"size_{dim}", dim) for dim in spec.dims]
    made = replace(
        opcode,
        carried=tuple(Carried(one, one.lower(), True) for one in (*opcode.sends, *opcode.receives)),
        after=(*sizes, WriteRegister("control", AP_START), WaitRegister("control", AP_DONE)),
    )
    return spec.replace(opcodes={opcode.name: made}, rtl=replace(spec.rtl, registers=registers))


def _plain(kernel: str, tile: Sequence[int] | None, data_type: str) -> AcceleratorSpec:
    """A device for the kernel without opcode words and with a fixed tile."""
    if kernel not in KERNELS:
        raise UsageError(f"no kernel `{kernel}`{hint(kernel, KERNELS)}; there are {', '.join(KERNELS)}")
    spec = device_of(kernel, data_type=data_type)
    side = ROW if len(spec.dims) == 1 else SIDE
    sizes = tuple(tile) if tile else (side,) * len(spec.dims)
    if len(sizes) != len(spec.dims):
        raise UsageError(f"--tile has {len(sizes)} sizes, and {kernel} has the dims {', '.join(spec.dims)}")
    result = spec.form.output
    sent = [name for name in spec.data if name != result]
    host: tuple[HostAction, ...] = (*(Send(name) for name in sent), Recv(result))
    device: tuple[DeviceAction, ...] = (
        *(Load(name) for name in sent),
        Clear(result),
        Compute(),
        Store(result),
    )
    spec = spec.replace(
        description=f"draft from the ports of its Verilog, data type {numerics.of(data_type).value}",
        opcodes={"all": Opcode("all", host, device)},
        flows={"plain": Scope(("all",))},
        init_opcodes=(),
        tile=TileRule(sizes),
        buffers={},
    )
    held = {one: max(1, spec.held_words(one, spec.operand_shape(one))) for one in spec.operands}
    return replace(spec, buffers=held, macs=default_macs(spec))


def _notes(spec: AcceleratorSpec, rtl: UserRtl, guessed: bool) -> Iterator[str]:
    """What the ports said, and what they do not say."""
    low = {True: "active low", False: "active high"}
    resets = ", ".join(f"{name} ({low[level]})" for name, level in rtl.resets.items()) or "none"
    yield f"clock {', '.join(rtl.clocks)}; reset {resets}"
    if rtl.master is not None:
        yield f"AXI4 master {rtl.master.prefix}* of {rtl.master_width} bits"
    if spec.has_pointers:
        laid = ", ".join(f"{name} at {at:#x}" for name, at in spec.rtl.registers.items())
        yield f"guess: the registers as Vitis HLS lays out the operands and then the sizes: {laid}"
    for bus in (*rtl.input_streams, rtl.output_stream) if rtl.input_streams else ():
        width = bus.signals["tdata"].width
        between = "" if width == spec.stream_width else f", a converter to {spec.stream_width} between"
        last = "" if "tlast" in bus.signals else ", no TLAST"
        yield f"stream {bus.prefix}* of {width} bits{between}{last}"
    yield f"guess: it computes {spec.kernel} (--kernel; `axiloom spec kernels` lists them)"
    if guessed:
        tile = " x ".join(map(str, spec.tile.size))
        yield f"guess: a tile of {tile} ({', '.join(spec.dims)}): `accel_size`, --tile"
    yield "guess: one instruction without opcode word, all operands in this order: `opcode_map` and `device`"
    if rtl.control is not None and not spec.has_pointers:
        yield (
            f"AXI4-Lite port {rtl.control.prefix}*: name the registers that the host writes in "
            "`rtl.registers`, and add write(NAME, VALUE) and wait(NAME, MASK) to `opcode_map`"
        )
    if any(bus.signals["tdata"].width in WIDE for bus in rtl.input_streams):
        yield "a stream of more than 128 bits takes whole beats: the tiles must be such"
