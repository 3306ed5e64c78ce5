"""A first draft of a specification, from the ports of a module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import BuildError, UsageError
from axiloom.base.wording.names import hint
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
from axiloom.isa.numerics import INT32

SIDE = 4
"""Of the draft's tile, in each dim, where none is given; what has one dim gets more."""
ROW = 64
KERNEL = "linalg.matmul"
BYTES = 4
CONTROL = "control"
_REGISTER = re.compile(
    r"//\s*0x(?P<at>[0-9a-fA-F]+)\s*:\s*(?:Control signals|Data signal of (?P<name>(?!ap_return\b)\w+))"
)
GUESSES = (
    *("kernel", "accel_size", "data_type", "opcode_map", "device", "macs"),
    *("rtl.registers", "rtl.starts_on_tlast"),
)
"""Keys that may be guessed."""
FIRST_ARGUMENT, POINTER_BYTES, SIZE_BYTES, AP_START, AP_DONE = 0x10, 12, 8, 1, 2
"""Of the registers that Vitis HLS makes: ap_ctrl_hs at 0, arguments from 0x10 on."""


def draft(
    files: Sequence[Path], top: str, kernel: str | None, tile: Sequence[int] | None, data_type: str | None
) -> tuple[AcceleratorSpec, list[str]]:
    """A specification whose one opcode sends all operands and receives the result, and what was guessed.

    What does not fit together is a note that begins with "to do"; the draft is made all the same.
    Raises UsageError for a kernel that is none, BuildError for files whose ports cannot be read.
    """
    base = _plain(kernel or KERNEL, tile, data_type or INT32.name)
    told_so = {"kernel": kernel, "accel_size": tile, "data_type": data_type}
    guessed = [guess for guess in GUESSES if not guess.startswith("rtl.") and not told_so.get(guess)]
    base = base.replace(guessed=tuple(guessed))
    operands = [name for name in base.data if name != base.form.output]
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
    files = as_verilog(files, top)
    ports = read_ports(files, top)
    all_buses = list(buses(ports, "tdata"))
    streams = [bus.prefix for bus in all_buses if bus.signals["tdata"].is_input]
    told = RtlPorts(inputs=dict(zip(operands, streams, strict=False)) if len(streams) > 1 else {})
    faults = list(_streams(top, base.kernel, operands, streams, [bus.prefix for bus in all_buses]))
    spec = base.replace(name=top, rtl=told)
    try:
        rtl = UserRtl(files, top, told)
    except BuildError as error:
        return spec, [*(f"to do: {fault}" for fault in [*faults, str(error)]), *_guesses(spec)]
    spec = _for(spec.replace(stream_width=rtl.stream_width), rtl, files)
    faults += [f"{top}: {fault}" for fault in check.check(spec)]
    try:
        rtl.check(spec)
    except BuildError as error:
        faults.append(str(error))
    guesses = list(_guesses(spec))
    return spec, [*(f"to do: {fault}" for fault in faults), *_notes(spec, rtl), *guesses]


def _streams(
    top: str, kernel: str, operands: Sequence[str], streams: Sequence[str], every: Sequence[str]
) -> Iterator[str]:
    """What is wrong with their number."""
    results = [stream for stream in every if stream not in streams]
    if len(streams) > 1 and len(streams) != len(operands):
        yield (
            f"{top} has {len(streams)} input streams ({', '.join(streams)}), and {kernel} has "
            f"{len(operands)} operands ({', '.join(operands)}): give the kernel that it computes, --kernel"
        )
    if len(results) > 1:
        yield (
            f"{top} has {len(results)} result streams ({', '.join(results)}), and a device has one: "
            "join them in a wrapper"
        )


def _for(spec: AcceleratorSpec, rtl: UserRtl, files: Sequence[Path]) -> AcceleratorSpec:
    """The draft with what the module's ports and Vitis HLS' comments say."""
    guessed = set(spec.link.guessed)
    if rtl.master is not None and not rtl.input_streams:
        spec = _with_pointers(spec)
        guessed.add("rtl.registers")
    elif rtl.control is not None and (registers := _registers(files)):
        spec = _with_registers(spec, registers)
    if rtl.starts_on_tlast:
        spec = rtl.completed(spec)
        guessed.add("rtl.starts_on_tlast")
    (opcode,) = spec.opcodes.values()
    sent = BYTES * sum(spec.operand_words(send) for send in opcode.sends)
    size = 1 << (max(sent, spec.link.dma.input_buffer_size) - 1).bit_length()
    spec = spec.replace(dma=replace(spec.link.dma, input_buffer_size=size))
    return spec.replace(guessed=tuple(name for name in GUESSES if name in guessed))


def _registers(files: Sequence[Path]) -> dict[str, int]:
    """Register to its offset, from the comments that Vitis HLS writes: ``// 0x10 : Data signal of rows``."""
    registers: dict[str, int] = {}
    for file in files:
        for line in _REGISTER.finditer(file.read_text(encoding="utf-8", errors="replace")):
            registers.setdefault(line["name"] or CONTROL, int(line["at"], 16))
    return registers


def _with_registers(spec: AcceleratorSpec, registers: Mapping[str, int]) -> AcceleratorSpec:
    """With its registers; where there is ap_start it is written before, and ap_done is waited for behind."""
    (opcode,) = spec.opcodes.values()
    if CONTROL in registers:
        before, after = (WriteRegister(CONTROL, AP_START),), (WaitRegister(CONTROL, AP_DONE),)
        opcode = replace(opcode, before=before, after=after)
    return spec.replace(opcodes={opcode.name: opcode}, rtl=replace(spec.link.rtl, registers=dict(registers)))


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
    pointed = replace(
        opcode,
        carried=tuple(
            Carried(operand, operand.lower(), True) for operand in (*opcode.sends, *opcode.receives)
        ),
        after=(*sizes, WriteRegister("control", AP_START), WaitRegister("control", AP_DONE)),
    )
    return spec.replace(opcodes={opcode.name: pointed}, rtl=replace(spec.link.rtl, registers=registers))


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
    held = {
        operand: max(1, spec.held_words(operand, spec.operand_shape(operand))) for operand in spec.operands
    }
    return spec.replace(buffers=held, macs=default_macs(spec))


def _notes(spec: AcceleratorSpec, rtl: UserRtl) -> Iterator[str]:
    """What the ports said."""
    low = {True: "active low", False: "active high"}
    resets = ", ".join(f"{name} ({low[level]})" for name, level in rtl.resets.items()) or "none"
    yield f"clock {', '.join(rtl.clocks)}; reset {resets}"
    if rtl.master is not None:
        yield f"AXI4 master {rtl.master.prefix}* of {rtl.master_width} bits"
    for bus in (*rtl.input_streams, rtl.output_stream) if rtl.input_streams else ():
        width = bus.signals["tdata"].width
        between = (
            "" if width == spec.link.stream_width else f", a converter to {spec.link.stream_width} between"
        )
        last = "" if "tlast" in bus.signals else ", no TLAST"
        yield f"stream {bus.prefix}* of {width} bits{between}{last}"
    if rtl.control is not None and not spec.has_pointers:
        known = ", ".join(f"{name} at {at:#x}" for name, at in spec.link.rtl.registers.items())
        if known:
            yield f"AXI4-Lite port {rtl.control.prefix}*: registers by the comments of its Verilog: {known}"
        unset = [name for name in spec.link.rtl.registers if name != CONTROL]
        name_them = "" if known else "name the registers that the host writes in `rtl.registers`, and "
        if unset or not known:
            yield (
                f"to do: AXI4-Lite port {rtl.control.prefix}*: {name_them}add write(NAME, VALUE) and "
                f"wait(NAME, MASK) to `opcode_map`{' for ' if unset else ''}{', '.join(unset)}"
            )
    if any(bus.signals["tdata"].width in WIDE for bus in rtl.input_streams):
        yield "a stream of more than 128 bits takes whole beats: the tiles must be such"


def _guesses(spec: AcceleratorSpec) -> Iterator[str]:
    """What the ports do not say, and nobody has said."""
    if "kernel" in spec.link.guessed:
        yield f"guess: it computes {spec.kernel} (--kernel; `axiloom spec kernels` lists them)"
    if "data_type" in spec.link.guessed:
        yield f"guess: elements of {spec.data_type.value}: --data-type"
    if "accel_size" in spec.link.guessed:
        tile = " x ".join(map(str, spec.tile.size))
        yield f"guess: a tile of {tile} ({', '.join(spec.dims)}): `accel_size`, --tile"
    order = ", ".join(name for name in spec.data if name != spec.form.output)
    yield (
        f"guess: one instruction, operands in the order {order}, then {spec.form.output} comes back: "
        "`opcode_map` and `device`"
    )
    yield (
        f"guess: {spec.macs} multiply-adds in a cycle: `macs`, on which the limit, the roof and the use of "
        "the array rest"
    )
    if "rtl.registers" in spec.link.guessed:
        laid = ", ".join(f"{name} at {at:#x}" for name, at in spec.link.rtl.registers.items())
        yield f"guess: the registers as Vitis HLS lays out the operands and then the sizes: {laid}"
    if "rtl.starts_on_tlast" in spec.link.guessed:
        yield (
            "guess: it starts on TLAST, as it looks at it: `starts_on_tlast` in `rtl`. Say false if it "
            "counts words: then transfers are joined, which is faster"
        )
    yield "`guessed` lists these: take out what you have made sure of; reports mark what rests on the others"
