"""Every fault of a specification, found at once.

A fault is one line, ``place: what is wrong, and what would be accepted``; the place is a JSON path inside
the accelerator. The checks stand in :data:`_RULES` in an order such that a check can rely on the parts
that earlier ones found sound: each names the keys of the file that it reads, is left out if one of them is
broken, and may declare a key broken where it finds a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from math import prod

from axiloom.isa.flows import loop_orders
from axiloom.isa.json_form import SOME_FLOWS
from axiloom.isa.names import hint
from axiloom.isa.spec import AcceleratorSpec
from axiloom.isa.types import (
    WORD_BITS,
    Clear,
    Compute,
    DeviceAction,
    HostAction,
    Load,
    Opcode,
    Recv,
    Send,
    SendDim,
    SendIdx,
    SendLiteral,
    SetDims,
    Skip,
    Store,
)

KERNEL = "linalg.matmul"
DIMS = ("m", "n", "k")
OPERANDS = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Operands of the kernel and the dims they have; a specification may list an operand's dims in any order."""
STREAM_WIDTHS = (32, 64, 128)
LENGTH_WIDTHS = range(8, 27)
"""Widths of the LENGTH register (PG021, "Width of Buffer Length Register")."""
_ADDRESS_SPACE = 1 << 32
_DMA_REGISTERS = 1 << 16  # bytes of address space that a block design gives the DMA's registers


def check(spec: AcceleratorSpec, broken: Collection[str] = ()) -> list[str]:
    """All faults of `spec`; an empty list if it is sound.

    `broken`: keys of the file whose values in `spec` stand for what could not be read; checks that need
    them are left out.
    """
    unsound = set(broken)
    faults: list[str] = []
    for rule in _RULES:
        if unsound.intersection(rule.needs):
            continue
        found = list(rule.run(spec))
        if found and rule.breaks:
            unsound.add(rule.breaks)
        faults += found
    return faults


def check_tile(spec: AcceleratorSpec, tile: tuple[int, ...], place: str = "tile") -> list[str]:
    """Why a sound accelerator cannot take `tile` (elements, in the order of its dims); empty if it can.

    `place` stands in front of each fault: ``accel_size`` in a file, ``--tile`` on a command line.
    """
    if len(tile) != len(spec.dims):
        return [f"{place}: {_sizes(tile)} has {len(tile)} sizes; the dims are {', '.join(spec.dims)}"]
    if any(size < 1 for size in tile):
        return [f"{place}: {_sizes(tile)} has a size below 1"]
    granule = spec.tile.granule
    if granule is None and tile != spec.tile.size:
        return [f"{place}: {spec.name} takes only tiles of {_sizes(spec.tile.size)}, not {_sizes(tile)}"]
    faults = [
        f"{place}: size {size} of dim {dim} is not a multiple of the granule {unit}"
        for dim, size, unit in zip(spec.dims, tile, granule or (), strict=False)
        if size % unit
    ]
    whole = [operand for operand in spec.data if not _ragged(spec, operand, tile)]
    faults += [f"{place}: {_ragged(spec, o, tile)}" for o in spec.data if o not in whole]
    faults += [f"{place}: {what}" for o in whole for what in _misfit(spec, o, tile)]
    faults += [f"{place}: {what}" for op in spec.opcodes.values() for what in _overflows(spec, op, tile)]
    if not faults:
        faults = [f"{place}: {what}" for op in spec.opcodes.values() for what in _transfers(spec, op, tile)]
    return faults


# --- kernel, dims, data, tile ------------------------------------------------------------------------


def _kernel(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.kernel != KERNEL:
        yield f"kernel: `{spec.kernel}` is not supported; only {KERNEL} is{hint(spec.kernel, [KERNEL])}"


def _dims(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.dims != DIMS:
        yield f"dims: {_names(spec.dims)} are not those of {KERNEL}, which are {_names(DIMS)}, in this order"


def _data(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.data:
        if operand not in OPERANDS:
            yield f"data.{operand}: unknown operand `{operand}`{hint(operand, OPERANDS)}; {_operands_are()}"
    for operand, dims in OPERANDS.items():
        if operand not in spec.data:
            yield f"data: operand `{operand}` is missing; {_operands_are()}"
        elif sorted(spec.data[operand]) != sorted(dims):
            given = _names(spec.data[operand]) or "no dims"
            yield f"data.{operand}: {given} are not its dims, which are {_names(dims)}, in any order"


def _tile_form(spec: AcceleratorSpec) -> Iterator[str]:
    for place, sizes in (("accel_size", spec.tile.size), ("tile.granule", spec.tile.granule)):
        if sizes is not None and len(sizes) != len(spec.dims):
            yield f"{place}: {_sizes(sizes)} has {len(sizes)} sizes; the dims are {', '.join(spec.dims)}"
        elif sizes is not None and any(size < 1 for size in sizes):
            yield f"{place}: {_sizes(sizes)} has a size below 1"


def _granule(spec: AcceleratorSpec) -> Iterator[str]:
    for dim, size, unit in zip(spec.dims, spec.tile.size, spec.tile.granule or (), strict=False):
        if size % unit:
            yield f"accel_size: size {size} of dim {dim} is not a multiple of the granule {unit}"


def _rows(spec: AcceleratorSpec) -> Iterator[str]:
    place = "tile.granule" if spec.tile.granule else "accel_size"
    for operand in spec.data:
        fault = _ragged(spec, operand, spec.tile.granule or spec.tile.size)
        if fault:
            yield f"{place}: {fault}"


def _ragged(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...]) -> str:
    """Why a row of the operand's tile is not a whole number of words, or nothing."""
    kind = spec.operand_type(operand)
    row = spec.operand_shape(operand, tile)[-1]
    if row % kind.per_word == 0:
        return ""
    return (
        f"a row of {operand} has {row} elements of {kind.value}, not a whole number of words: "
        f"dim {spec.data[operand][-1]} must be a multiple of {kind.per_word}"
    )


# --- buffers, multiply-adds, stream ------------------------------------------------------------------


def _buffer_names(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.buffers:
        if operand not in spec.data:
            yield f"buffers.{operand}: unknown operand `{operand}`{_operand_hint(spec, operand)}"
    for operand in spec.data:
        if operand not in spec.buffers:
            yield f"buffers: the buffer of operand `{operand}` is missing"
        elif spec.buffers[operand] < 1:
            yield f"buffers.{operand}: {spec.buffers[operand]} words are too few: at least 1"


def _buffer_fit(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.data:
        for fault in _misfit(spec, operand, spec.tile.size):
            yield f"accel_size: {fault}"


def _misfit(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...]) -> Iterator[str]:
    words, capacity = spec.operand_words(operand, tile), spec.buffers[operand]
    if words > capacity:
        shape = _sizes(spec.operand_shape(operand, tile))
        kind = spec.operand_type(operand).value
        yield f"a {shape} tile of {operand} ({kind}) has {words} words; its buffer holds {capacity}"


def _macs(spec: AcceleratorSpec) -> Iterator[str]:
    macs = spec.macs
    if macs < 1 or macs & (macs - 1):
        yield f"macs: {macs} is not a power of two"
        return
    elements = prod((spec.tile.granule or spec.tile.size)[:2])
    if elements % macs:
        what = "granule" if spec.tile.granule else "tile"
        yield f"macs: {macs} does not divide the {elements} elements of C in a {what} (m x n)"


def _stream(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.stream_width not in STREAM_WIDTHS:
        yield f"stream_width: {spec.stream_width} is not one of {', '.join(map(str, STREAM_WIDTHS))}"


# --- opcodes -----------------------------------------------------------------------------------------


def _opcode_names(spec: AcceleratorSpec) -> Iterator[str]:
    if not spec.opcodes:
        yield "opcode_map: no opcode is defined"


def _host_names(spec: AcceleratorSpec) -> Iterator[str]:
    """Operands and dims exist and travel in the direction the kernel gives them."""
    for place, action in _host_actions(spec):
        if isinstance(action, Send | Recv):
            if action.operand not in spec.data:
                yield f"{place}: {action}: {_unknown_operand(spec, action.operand)}"
            elif isinstance(action, Send) == (action.operand == "C"):
                way = "sent: C only comes back" if isinstance(action, Send) else "received: only C comes back"
                yield f"{place}: {action}: {action.operand} cannot be {way}"
        elif isinstance(action, SendDim | SendIdx):
            dims = [f.dim for f in action.fields] if isinstance(action, SendDim) else [action.dim]
            for dim in dims:
                if dim not in spec.dims:
                    yield f"{place}: {action}: unknown dim `{dim}`{hint(dim, spec.dims)}; {_these(spec.dims)}"


def _literals(spec: AcceleratorSpec) -> Iterator[str]:
    for place, action in _host_actions(spec):
        if isinstance(action, SendLiteral) and not 0 <= action.value < 1 << WORD_BITS:
            yield f"{place}: literal {action.value} does not fit a word of {WORD_BITS} bits"
    first: dict[int, str] = {}
    for name, opcode in spec.opcodes.items():
        literal = opcode.literal
        if literal is None and len(spec.opcodes) > 1:
            yield (
                f"opcode_map.{name}: must begin with send_literal; "
                "only the one opcode of an accelerator with a single opcode can do without"
            )
        elif literal is None and not opcode.sends and not _words(opcode.host):
            yield f"opcode_map.{name}: sends nothing, so nothing tells the device to begin"
        elif literal is not None and literal in first:
            yield (
                f"opcode_map.{name}: literal {literal} ({literal:#x}) is taken by `{first[literal]}`; "
                "the device could not tell them apart"
            )
        elif literal is not None:
            first[literal] = name


def _one_recv(spec: AcceleratorSpec) -> Iterator[str]:
    for name, opcode in spec.opcodes.items():
        if len(opcode.receives) > 1:
            yield f"opcode_map.{name}: receives {len(opcode.receives)} tiles; one transfer takes only one"


def _fields(spec: AcceleratorSpec) -> Iterator[str]:
    """Fields of send_dim lie inside the word, do not overlap, and hold the default tile."""
    for place, action in _host_actions(spec):
        if not isinstance(action, SendDim):
            continue
        dims = [f.dim for f in action.fields]
        for index, field in enumerate(action.fields):
            if not 0 <= field.shift < WORD_BITS:
                yield f"{place}: field `{field}` lies outside a word of {WORD_BITS} bits"
            elif any(field.shift == other.shift for other in action.fields[:index]):
                yield f"{place}: field `{field}` overlaps another field that begins at bit {field.shift}"
            if field.dim in dims[:index]:
                yield f"{place}: dim `{field.dim}` stands twice in one word"


def _field_sizes(spec: AcceleratorSpec) -> Iterator[str]:
    for opcode in spec.opcodes.values():
        yield from _overflows(spec, opcode, spec.tile.size)


def _overflows(spec: AcceleratorSpec, opcode: Opcode, tile: tuple[int, ...]) -> Iterator[str]:
    sizes = spec.sizes(tile)
    for index, action in enumerate(opcode.host):
        if not isinstance(action, SendDim):
            continue
        for field in action.fields:
            size, bits = sizes[field.dim], action.field_bits(field)
            if size >> bits:
                yield (
                    f"opcode_map.{opcode.name}[{index}]: size {size} of dim {field.dim} overflows its field "
                    f"of {_count(bits, 'bit')} from bit {field.shift}; at most {(1 << bits) - 1}"
                )


# --- the device against the host ---------------------------------------------------------------------


def _device_names(spec: AcceleratorSpec) -> Iterator[str]:
    for name, opcode in spec.opcodes.items():
        for index, action in enumerate(opcode.device):
            place = f"device.{name}[{index}]"
            if not isinstance(action, Load | Store | Clear):
                continue
            if action.operand not in spec.data:
                yield f"{place}: {action}: {_unknown_operand(spec, action.operand)}"
            elif isinstance(action, Load) and action.operand == "C":
                yield f"{place}: {action}: C is computed, not loaded; load A or B"
            elif isinstance(action, Store | Clear) and action.operand != "C":
                yield f"{place}: {action}: only C can be stored and cleared"


def _agreement(spec: AcceleratorSpec) -> Iterator[str]:
    """The device reads and writes what the host sends and receives, in the same order."""
    for name, opcode in spec.opcodes.items():
        host = opcode.payload
        device = [a for a in opcode.device if not isinstance(a, Compute | Clear)]
        offset = len(opcode.host) - len(host)
        for index in range(max(len(host), len(device))):
            if index >= len(device):
                yield (
                    f"device.{name}: contradicts the host: nothing goes with `{host[index]}` "
                    f"(opcode_map.{name}[{index + offset}]); add `{_wanted(host[index])}`"
                )
                break
            if index >= len(host):
                yield f"device.{name}: contradicts the host: no host action goes with `{device[index]}`"
                break
            if not _agree(host[index], device[index]):
                yield (
                    f"device.{name}: contradicts the host: `{device[index]}` where the host does "
                    f"`{host[index]}`; `{_wanted(host[index])}` goes with that"
                )
                break


def _agree(host: HostAction, device: DeviceAction) -> bool:
    if isinstance(host, Send):
        return device == Load(host.operand)
    if isinstance(host, Recv):
        return device == Store(host.operand)
    return isinstance(device, Skip) or (isinstance(host, SendDim) and isinstance(device, SetDims))


def _wanted(host: HostAction) -> str:
    if isinstance(host, Send):
        return str(Load(host.operand))
    if isinstance(host, Recv):
        return str(Store(host.operand))
    return str(SetDims() if isinstance(host, SendDim) else Skip())


def _set_dims(spec: AcceleratorSpec) -> Iterator[str]:
    """Dims are set where and only where the tile is flexible, all of them in one word."""
    setting = [op for op in spec.opcodes.values() if SetDims() in op.device]
    if spec.tile.flexible and not setting:
        yield "device: the tile is flexible (tile.granule), but no opcode does `set dims`"
    if setting and not spec.tile.flexible:
        names = ", ".join(f"`{op.name}`" for op in setting)
        yield f"device: {names}: `set dims` needs a flexible tile; give tile.granule, or `skip` the word"
    for opcode in setting:
        for action, host in opcode.steps():
            if not (isinstance(action, SetDims) and isinstance(host, SendDim)):
                continue
            missing = [dim for dim in spec.dims if dim not in {field.dim for field in host.fields}]
            if missing:
                yield (
                    f"opcode_map.{opcode.name}: {host}: `set dims` takes all dims from one word; "
                    f"{_names(missing)} missing"
                )


# --- flows -------------------------------------------------------------------------------------------


def _flow_names(spec: AcceleratorSpec) -> Iterator[str]:
    for flow, scope in spec.flows.items():
        for name in dict.fromkeys(name for name, _ in scope.opcodes()):
            if name not in spec.opcodes:
                yield f"opcode_flow_map.{flow}: unknown opcode `{name}`{hint(name, spec.opcodes)}"


def _init_names(spec: AcceleratorSpec) -> Iterator[str]:
    for name in dict.fromkeys(spec.init_opcodes):
        if name not in spec.opcodes:
            yield f"init_opcodes: unknown opcode `{name}`{hint(name, spec.opcodes)}"


def _selected(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.selected_flow not in spec.flows:
        known = ", ".join(spec.flows)
        yield (
            f"selected_flow: unknown flow `{spec.selected_flow}`{hint(spec.selected_flow, spec.flows)}; "
            f"the flows are {known}"
        )


def _unused(spec: AcceleratorSpec) -> Iterator[str]:
    used = {name for scope in spec.flows.values() for name, _ in scope.opcodes()} | set(spec.init_opcodes)
    for name in spec.opcodes:
        if name not in used:
            yield f"opcode_map.{name}: no flow uses opcode `{name}`, nor does init_opcodes"


def _init(spec: AcceleratorSpec) -> Iterator[str]:
    for name in dict.fromkeys(spec.init_opcodes):
        for action in spec.opcodes[name].host:
            if isinstance(action, Send | Recv | SendIdx):
                yield f"init_opcodes: `{name}` does {action}, but outside the loops there is no tile"


def _orders(spec: AcceleratorSpec) -> Iterator[str]:
    for flow, scope in spec.flows.items():
        if scope.depth > len(spec.dims):
            yield (
                f"opcode_flow_map.{flow}: {scope} has {scope.depth} scopes inside each other, "
                f"but there are only {len(spec.dims)} loops"
            )
        elif all(name in spec.opcodes for name, _ in scope.opcodes()) and not loop_orders(spec, flow):
            yield f"opcode_flow_map.{flow}: {scope} computes a wrong C under every order of the loops"


# --- DMA ---------------------------------------------------------------------------------------------


def _dma(spec: AcceleratorSpec) -> Iterator[str]:
    dma = spec.dma
    if dma.length_width not in LENGTH_WIDTHS:
        low, high = LENGTH_WIDTHS[0], LENGTH_WIDTHS[-1]
        yield f"dma_config.lengthWidth: {dma.length_width} bits: the LENGTH register has {low} to {high}"
    regions = [
        ("address", dma.address, _DMA_REGISTERS),
        ("inputAddress", dma.input_address, dma.input_buffer_size),
        ("outputAddress", dma.output_address, dma.output_buffer_size),
    ]
    for key, start, size in regions:
        if start % 4:
            yield f"dma_config.{key}: {start:#x} is not a multiple of 4 bytes"
        if start < 0 or start + size > _ADDRESS_SPACE:
            yield f"dma_config.{key}: {size} bytes from {start:#x} do not fit the address space of 32 bits"
    for index, (key, start, size) in enumerate(regions):
        for other, begin, length in regions[:index]:
            if start < begin + length and begin < start + size:
                yield f"dma_config.{key}: {size} bytes from {start:#x} overlap what lies at {other}"
    for key, size in (("input", dma.input_buffer_size), ("output", dma.output_buffer_size)):
        if size < 4 or size % 4:
            yield f"dma_config.{key}BufferSize: {size} is not a multiple of 4 bytes"


def _transfer_sizes(spec: AcceleratorSpec) -> Iterator[str]:
    for opcode in spec.opcodes.values():
        yield from _transfers(spec, opcode, spec.tile.size)


def _transfers(spec: AcceleratorSpec, opcode: Opcode, tile: tuple[int, ...]) -> Iterator[str]:
    """Each way, an opcode with its payload is one transfer: it fits its window and the LENGTH register."""
    dma = spec.dma
    sent = 4 * (_words(opcode.host) + sum(spec.operand_words(o, tile) for o in opcode.sends))
    received = 4 * sum(spec.operand_words(o, tile) for o in opcode.receives)
    for verb, size, key, window in (
        ("sends", sent, "inputBufferSize", dma.input_buffer_size),
        ("receives", received, "outputBufferSize", dma.output_buffer_size),
    ):
        if size > window:
            yield f"dma_config.{key}: {window} bytes are too few: `{opcode.name}` {verb} {size} at once"
        if size >> dma.length_width:
            yield (
                f"dma_config.lengthWidth: `{opcode.name}` {verb} {size} bytes in one transfer; "
                f"{dma.length_width} bits hold at most {(1 << dma.length_width) - 1}"
            )


# --- words of the messages ---------------------------------------------------------------------------


def _host_actions(spec: AcceleratorSpec) -> Iterator[tuple[str, HostAction]]:
    for name, opcode in spec.opcodes.items():
        for index, action in enumerate(opcode.host):
            yield f"opcode_map.{name}[{index}]", action


def _words(host: tuple[HostAction, ...]) -> int:
    """Words other than payload that the host sends; a payload counts as none."""
    return sum(isinstance(a, SendLiteral | SendDim | SendIdx) for a in host)


def _sizes(tile: tuple[int, ...]) -> str:
    return "x".join(map(str, tile))


def _names(names: Collection[str]) -> str:
    return ", ".join(names)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _these(names: Collection[str]) -> str:
    return f"they are {_names(names)}"


def _operands_are() -> str:
    return "the operands are " + ", ".join(f"{o} ({', '.join(d)})" for o, d in OPERANDS.items())


def _operand_hint(spec: AcceleratorSpec, operand: str) -> str:
    return f"{hint(operand, spec.data)}; {_these(list(spec.data))}"


def _unknown_operand(spec: AcceleratorSpec, operand: str) -> str:
    if operand.lstrip("-").isdecimal():
        last = len(spec.data) - 1
        return f"operand {operand} is out of range: 0 to {last}, which are {_names(list(spec.data))}"
    return f"unknown operand `{operand}`{_operand_hint(spec, operand)}"


@dataclass(frozen=True)
class _Rule:
    run: Callable[[AcceleratorSpec], Iterator[str]]
    needs: tuple[str, ...]
    breaks: str = ""


_SIZES = ("dims", "data", "data_type", "opcode_map", "accel_size", "tile")
_RULES = (
    _Rule(_kernel, ("kernel",)),
    _Rule(_dims, ("dims",), "dims"),
    _Rule(_data, ("data",), "data"),
    _Rule(_tile_form, ("dims", "accel_size", "tile"), "accel_size"),
    _Rule(_stream, ("stream_width",)),
    _Rule(_opcode_names, ("opcode_map",), "opcode_map"),
    _Rule(_selected, ("selected_flow", "opcode_flow_map", SOME_FLOWS)),
    _Rule(_flow_names, ("opcode_map", "opcode_flow_map")),
    _Rule(_init_names, ("opcode_map", "init_opcodes"), "init_opcodes"),
    _Rule(_literals, ("opcode_map",)),
    _Rule(_one_recv, ("opcode_map",)),
    _Rule(_fields, ("opcode_map",), "fields"),
    _Rule(_host_names, ("opcode_map", "data", "dims"), "opcode_map"),
    _Rule(_unused, ("opcode_map", "opcode_flow_map", SOME_FLOWS, "init_opcodes")),
    _Rule(_device_names, ("device", "opcode_map", "data"), "device"),
    _Rule(_agreement, ("device", "opcode_map"), "device"),
    _Rule(_set_dims, ("device", "opcode_map", "dims", "tile")),
    _Rule(_init, ("opcode_map", "init_opcodes"), "init_opcodes"),
    _Rule(_orders, ("device", "opcode_map", "opcode_flow_map", "init_opcodes", "data", "dims")),
    _Rule(_granule, ("dims", "accel_size", "tile")),
    _Rule(_buffer_names, ("buffers", "data"), "buffers"),
    _Rule(_macs, ("macs", "dims", "accel_size", "tile")),
    _Rule(_field_sizes, ("dims", "opcode_map", "fields", "accel_size", "tile")),
    _Rule(_rows, _SIZES, "accel_size"),
    _Rule(_buffer_fit, (*_SIZES, "buffers")),
    _Rule(_dma, ("dma_config",), "dma_config"),
    _Rule(_transfer_sizes, (*_SIZES, "dma_config")),
)
