"""Checks of opcodes, of the device against the host, and of flows. See :mod:`axiloom.isa.check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from axiloom.isa.flows import loop_orders
from axiloom.isa.names import hint, listed
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


@dataclass
class Subject:
    """A specification under check."""

    spec: AcceleratorSpec
    broken: set[str]
    """Places (``macs``, ``device.sA``) that cannot be read, or whose fault would make others follow."""

    def is_broken(self, place: str) -> bool:
        """Whether a place is broken; ``device.*``: whether it or any part of it is."""
        key = place.removesuffix(".*")
        return key in self.broken or (key != place and any(b.startswith(f"{key}.") for b in self.broken))

    def sound(self, *keys: str) -> list[Opcode]:
        """Opcodes that are not broken under any of `keys` (``opcode_map``, ``device``)."""
        opcodes = self.spec.opcodes.items()
        return [op for name, op in opcodes if not any(f"{key}.{name}" in self.broken for key in keys)]


# --- opcodes -----------------------------------------------------------------------------------------


def some(spec: AcceleratorSpec) -> Iterator[str]:
    if not spec.opcodes:
        yield "opcode_map: no opcode is defined"


def literals(spec: AcceleratorSpec) -> Iterator[str]:
    """Every opcode has its own opcode word, or there is one opcode without."""
    first: dict[int, str] = {}
    for name, opcode in spec.opcodes.items():
        for index, action in enumerate(opcode.host):
            if isinstance(action, SendLiteral) and not 0 <= action.value < 1 << WORD_BITS:
                yield f"opcode_map.{name}[{index}]: literal {action.value} does not fit {WORD_BITS} bits"
        literal = opcode.literal
        if literal is None and len(spec.opcodes) > 1:
            yield (
                f"opcode_map.{name}: must begin with send_literal; "
                "only the one opcode of an accelerator with a single opcode can do without"
            )
        elif literal is None and all(isinstance(action, Recv) for action in opcode.host):
            yield f"opcode_map.{name}: sends nothing, so nothing tells the device to begin"
        elif literal is not None and literal in first:
            yield (
                f"opcode_map.{name}: literal {literal} ({literal:#x}) is taken by `{first[literal]}`; "
                "the device could not tell them apart"
            )
        elif literal is not None:
            first[literal] = name


def host_names(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """Operands and dims exist, and operands travel in the direction that the kernel gives them."""
    for index, action in enumerate(opcode.host):
        place = f"opcode_map.{opcode.name}[{index}]: {action}"
        if isinstance(action, Send | Recv):
            if action.operand not in spec.data:
                yield f"{place}: {_unknown_operand(spec, action.operand)}"
            elif isinstance(action, Send) and action.operand == "C":
                yield f"{place}: C is the result and cannot be sent; send A or B"
            elif isinstance(action, Recv) and action.operand != "C":
                yield f"{place}: {action.operand} does not come back; only C does"
        elif isinstance(action, SendDim | SendIdx):
            dims = [f.dim for f in action.fields] if isinstance(action, SendDim) else [action.dim]
            for dim in dims:
                if dim not in spec.dims:
                    yield f"{place}: unknown dim `{dim}`{hint(dim, spec.dims)}; they are {listed(spec.dims)}"


def one_recv(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    if len(opcode.receives) > 1:
        yield f"opcode_map.{opcode.name}: receives {len(opcode.receives)} tiles; one transfer takes only one"


def fields(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """Fields of send_dim lie inside the word and begin at different bits."""
    for index, action in enumerate(opcode.host):
        if not isinstance(action, SendDim):
            continue
        place = f"opcode_map.{opcode.name}[{index}]"
        for number, one in enumerate(action.fields):
            before = action.fields[:number]
            if not 0 <= one.shift < WORD_BITS:
                yield f"{place}: field `{one}` lies outside a word of {WORD_BITS} bits"
            elif any(one.shift == other.shift for other in before):
                yield f"{place}: field `{one}` overlaps another field that begins at bit {one.shift}"
            if any(one.dim == other.dim for other in before):
                yield f"{place}: dim `{one.dim}` stands twice in one word"


def field_sizes(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    return overflows(spec, opcode, spec.tile.size)


def overflows(spec: AcceleratorSpec, opcode: Opcode, tile: tuple[int, ...]) -> Iterator[str]:
    """Sizes of `tile` that do not fit their fields: they would run into the next field or out of the word."""
    sizes = spec.sizes(tile)
    for index, action in enumerate(opcode.host):
        if not isinstance(action, SendDim):
            continue
        for one in action.fields:
            size, bits = sizes[one.dim], action.field_bits(one)
            if size >> bits:
                yield (
                    f"opcode_map.{opcode.name}[{index}]: size {size} of dim {one.dim} overflows its field of "
                    f"{bits} bit{'' if bits == 1 else 's'} from bit {one.shift}; at most {(1 << bits) - 1}"
                )


# --- the device against the host ---------------------------------------------------------------------


def device_names(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    for index, action in enumerate(opcode.device):
        place = f"device.{opcode.name}[{index}]: {action}"
        if not isinstance(action, Load | Store | Clear):
            continue
        if action.operand not in spec.data:
            yield f"{place}: {_unknown_operand(spec, action.operand)}"
        elif isinstance(action, Load) and action.operand == "C":
            yield f"{place}: C is computed, not loaded; load A or B"
        elif isinstance(action, Store | Clear) and action.operand != "C":
            yield f"{place}: only C can be stored and cleared"


def agreement(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """The device reads and writes what the host sends and receives, in the same order."""
    place = f"device.{opcode.name}: contradicts the host"
    host = opcode.payload
    device = [a for a in opcode.device if not isinstance(a, Compute | Clear)]
    for theirs, ours in zip(host, device, strict=False):
        if not _agree(theirs, ours):
            yield f"{place}: `{ours}` where the host does `{theirs}`; `{_answer(theirs)}` goes with that"
            return
    if len(host) > len(device):
        left = host[len(device)]
        at = f"opcode_map.{opcode.name}[{len(opcode.host) - len(host) + len(device)}]"
        yield f"{place}: nothing goes with `{left}` ({at}); add `{_answer(left)}`"
    elif len(device) > len(host):
        yield f"{place}: no host action goes with `{device[len(host)]}`"


def _agree(host: HostAction, device: DeviceAction) -> bool:
    if isinstance(host, Send | Recv):
        return str(device) == _answer(host)
    return isinstance(device, Skip) or (isinstance(host, SendDim) and isinstance(device, SetDims))


def _answer(host: HostAction) -> str:
    """The device action that goes with a host action."""
    if isinstance(host, Send):
        return str(Load(host.operand))
    if isinstance(host, Recv):
        return str(Store(host.operand))
    return str(SetDims() if isinstance(host, SendDim) else Skip())


def set_all_dims(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    for action, host in opcode.steps():
        if not (isinstance(action, SetDims) and isinstance(host, SendDim)):
            continue
        named = {one.dim for one in host.fields}
        missing = [dim for dim in spec.dims if dim not in named]
        if missing:
            yield (
                f"opcode_map.{opcode.name}: {host}: `set dims` takes all dims from one word; "
                f"{listed(missing)} missing"
            )


def set_dims(spec: AcceleratorSpec) -> Iterator[str]:
    """Dims are set where, and only where, the tile is flexible."""
    setting = [f"`{op.name}`" for op in spec.opcodes.values() if SetDims() in op.device]
    if spec.tile.flexible and not setting:
        yield "device: the tile is flexible (tile.granule), but no opcode does `set dims`"
    if setting and not spec.tile.flexible:
        names = listed(setting)
        yield f"device: {names}: `set dims` needs a flexible tile; give tile.granule, or `skip` the word"


# --- flows -------------------------------------------------------------------------------------------


def selected_flow(subject: Subject) -> Iterator[str]:
    flows, flow = subject.spec.flows, subject.spec.selected_flow
    if flow not in flows and not subject.is_broken(f"opcode_flow_map.{flow}"):
        yield f"selected_flow: unknown flow `{flow}`{hint(flow, flows)}; the flows are {listed(flows)}"


def flow_names(spec: AcceleratorSpec) -> Iterator[str]:
    for flow, scope in spec.flows.items():
        for name in dict.fromkeys(name for name, _ in scope.opcodes()):
            if name not in spec.opcodes:
                yield f"opcode_flow_map.{flow}: unknown opcode `{name}`{hint(name, spec.opcodes)}"


def init_names(spec: AcceleratorSpec) -> Iterator[str]:
    for name in dict.fromkeys(spec.init_opcodes):
        if name not in spec.opcodes:
            yield f"init_opcodes: unknown opcode `{name}`{hint(name, spec.opcodes)}"


def unused(spec: AcceleratorSpec) -> Iterator[str]:
    used = {name for scope in spec.flows.values() for name, _ in scope.opcodes()} | set(spec.init_opcodes)
    for name in spec.opcodes:
        if name not in used:
            yield f"opcode_map.{name}: no flow uses opcode `{name}`, nor does init_opcodes"


def init(spec: AcceleratorSpec) -> Iterator[str]:
    for name in dict.fromkeys(spec.init_opcodes):
        for action in spec.opcodes[name].host:
            if isinstance(action, Send | Recv | SendIdx):
                yield f"init_opcodes: `{name}` does {action}, but outside the loops there is no tile"


def orders(subject: Subject) -> Iterator[str]:
    """Some order of the loops makes each flow compute C = A . B, if all its opcodes are sound."""
    spec = subject.spec
    sound = {op.name for op in subject.sound("opcode_map", "device")}
    init_sound = set(spec.init_opcodes) <= sound
    for flow, scope in spec.flows.items():
        if scope.depth > len(spec.dims):
            yield (
                f"opcode_flow_map.{flow}: {scope} has {scope.depth} scopes inside each other, "
                f"but there are only {len(spec.dims)} loops"
            )
        elif init_sound and {name for name, _ in scope.opcodes()} <= sound and not loop_orders(spec, flow):
            yield f"opcode_flow_map.{flow}: {scope} computes a wrong C under every order of the loops"


def _unknown_operand(spec: AcceleratorSpec, operand: str) -> str:
    if operand.removeprefix("-").isdecimal():
        last = len(spec.data) - 1
        return f"operand {operand} is out of range: 0 to {last}, which are {listed(spec.data)}"
    return f"unknown operand `{operand}`{hint(operand, spec.data)}; they are {listed(spec.data)}"
