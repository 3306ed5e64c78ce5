"""Checks of opcodes, of the device against the host, and of flows. See :mod:`axiloom.isa.check.check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from axiloom.base.wording.names import hint, listed
from axiloom.isa.check.flows import loop_orders
from axiloom.isa.contract.spec import AcceleratorSpec, combined
from axiloom.isa.contract.types import (
    SILENT,
    WORD_BITS,
    Clear,
    Compute,
    DeviceAction,
    HostAction,
    Load,
    Opcode,
    Recv,
    Requantise,
    Save,
    Send,
    SendDim,
    SendIdx,
    SendLiteral,
    SetDims,
    Skip,
    Store,
)
from axiloom.isa.kernels.forms import CHANNELS, POST_SETTINGS, WINDOW


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
                "only an accelerator with a single opcode may leave it out"
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
            result = spec.form.output
            if action.operand not in spec.operands:
                yield f"{place}: {_unknown_operand(spec, action.operand)}"
            elif isinstance(action, Send) and action.operand == result:
                yield f"{place}: {result} is the result and cannot be sent; send {_inputs(spec)}"
            elif isinstance(action, Recv) and action.operand != result:
                yield f"{place}: {action.operand} does not come back; only {result} does"
        elif isinstance(action, SendIdx) and action.dim not in spec.dims:
            yield f"{place}: {_unknown_dim(action.dim, spec.dims)}"
        elif isinstance(action, SendDim):
            known = (*spec.dims, *(setting.name for setting in spec.settings))
            for field in action.fields:
                if field.dim not in known:
                    yield f"{place}: {_unknown_dim(field.dim, known)}"


def one_recv(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    if len(opcode.receives) > 1:
        yield f"opcode_map.{opcode.name}: receives {len(opcode.receives)} tiles; one transfer takes only one"


def fields(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """Fields of send_dim lie inside the word and begin at different bits."""
    for index, action in enumerate(opcode.host):
        if not isinstance(action, SendDim):
            continue
        place = f"opcode_map.{opcode.name}[{index}]"
        for number, field in enumerate(action.fields):
            before = action.fields[:number]
            if not 0 <= field.shift < WORD_BITS:
                yield f"{place}: field `{field}` lies outside a word of {WORD_BITS} bits"
            elif any(field.shift == other.shift for other in before):
                yield f"{place}: field `{field}` overlaps another field that begins at bit {field.shift}"
            if any(field.dim == other.dim for other in before):
                yield f"{place}: dim `{field.dim}` stands twice in one word"
            signed = any(field.dim == setting.name for setting in POST_SETTINGS)
            if signed and 0 <= field.shift < WORD_BITS and action.field_bits(field) < 8:
                yield f"{place}: field `{field}` has {action.field_bits(field)} bits; {field.dim} needs 8"


def field_sizes(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    return overflows(spec, opcode, spec.tile.size)


def overflows(
    spec: AcceleratorSpec,
    opcode: Opcode,
    tile: tuple[int, ...],
    settings: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """Sizes of `tile` that do not fit their fields: they would run into the next field or out of the word."""
    sizes = spec.sizes(tile, settings)
    signed = {setting.name for setting in spec.settings if setting.signed}
    for index, action in enumerate(opcode.host):
        if not isinstance(action, SendDim):
            continue
        for field in action.fields:
            if field.dim not in sizes:
                continue  # `host_names` says so, unless `data` is broken, too
            size, bits = sizes[field.dim], action.field_bits(field)
            if field.dim not in signed and size >> bits:
                yield (
                    f"opcode_map.{opcode.name}[{index}]: size {size} of dim {field.dim} overflows its field "
                    f"of {bits} bit{'' if bits == 1 else 's'} from bit {field.shift}; "
                    f"at most {(1 << bits) - 1}"
                )


# --- the device against the host ---------------------------------------------------------------------


def device_names(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    for index, action in enumerate(opcode.device):
        place = f"device.{opcode.name}[{index}]: {action}"
        result = spec.form.output
        if isinstance(action, Save) and not spec.form.saves:
            window = listed(WINDOW.operands["I"])
            yield f"{place}: only a device that takes one window at a time, I ({window}), can save"
        if isinstance(action, Compute) and action.in_place and action.in_place not in spec.in_place:
            known = f"`in_place` has {listed(spec.in_place)}" if spec.in_place else "there is no `in_place`"
            what = f"unknown kernel `{action.in_place}`{hint(action.in_place, spec.in_place)}"
            yield f"{place}: {what}; {known}"
        if not isinstance(action, Load | Store | Requantise | Clear):
            continue
        if action.operand not in spec.operands:
            yield f"{place}: {_unknown_operand(spec, action.operand)}"
        elif isinstance(action, Load) and action.operand == result:
            yield f"{place}: {result} is computed, not loaded; load {_inputs(spec)}"
        elif not isinstance(action, Load) and action.operand != result:
            yield f"{place}: only {result} can be stored and cleared"
        elif isinstance(action, Requantise) and not spec.post:
            yield f"{place}: {_needs_post('requantise')}"


def agreement(_: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """The device reads and writes what the host sends and receives, in the same order."""
    place = f"device.{opcode.name}: contradicts the host"
    host = opcode.payload
    device = [a for a in opcode.device if not isinstance(a, SILENT)]
    for theirs, ours in zip(host, device, strict=False):
        if not _agree(theirs, ours):
            yield f"{place}: `{ours}`, but the host does `{theirs}`; write `{_answer(theirs)}`"
            return
    if len(host) > len(device):
        left = host[len(device)]
        at = f"opcode_map.{opcode.name}[{len(opcode.host) - len(host) + len(device)}]"
        yield f"{place}: it has no action for `{left}` ({at}); add `{_answer(left)}`"
    elif len(device) > len(host):
        yield f"{place}: the host has no action for `{device[len(host)]}`"


def _agree(host: HostAction, device: DeviceAction) -> bool:
    if isinstance(host, Send | Recv):
        return str(device) == _answer(host) or device == Requantise(host.operand)
    return isinstance(device, Skip) or (isinstance(host, SendDim) and isinstance(device, SetDims))


def _answer(host: HostAction) -> str:
    """The device action that goes with a host action."""
    if isinstance(host, Send):
        return str(Load(host.operand))
    if isinstance(host, Recv):
        return str(Store(host.operand))
    return str(SetDims() if isinstance(host, SendDim) else Skip())


def set_all_dims(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    """MatMul takes the sizes of a tile from one word."""
    if spec.form.dense:
        return
    for action, host in opcode.steps():
        if not (isinstance(action, SetDims) and isinstance(host, SendDim)):
            continue
        named = {field.dim for field in host.fields}
        missing = [dim for dim in spec.dims if dim not in named]
        if missing and named & set(spec.dims):
            yield (
                f"opcode_map.{opcode.name}: {host}: `set dims` takes all dims from one word; "
                f"{listed(missing)} missing"
            )


def set_dims(spec: AcceleratorSpec) -> Iterator[str]:
    """Dims are set where, and only where, the tile is flexible."""
    setting = [f"`{op.name}`" for op in spec.opcodes.values() if _sets_dims(spec, op)]
    if spec.tile.flexible and not setting:
        yield "device: the tile is flexible (tile.granule), but no opcode does `set dims`"
    if setting and not spec.tile.flexible:
        names = listed(setting)
        yield f"device: {names}: `set dims` needs a flexible tile; give tile.granule, or `skip` the word"
    if setting and spec.tile.flexible and spec.form.dense:
        free = [dim for dim in spec.dims if dim not in (*spec.form.unit, *spec.tied)]
        free += [setting.name for setting in spec.form.settings if setting.name in ("ih", "iw")]
        missing = [name for name in free if not spec.sets(name)]
        if missing:
            yield f"device: the tile is flexible (tile.granule), but no opcode sets {listed(missing)}"


def _sets_dims(spec: AcceleratorSpec, opcode: Opcode) -> bool:
    words = [host for action, host in opcode.steps() if isinstance(action, SetDims)]
    return any(field.dim in spec.dims for host in words if isinstance(host, SendDim) for field in host.fields)


def post(spec: AcceleratorSpec) -> Iterator[str]:
    """Post-processing is told everything it needs, and used."""
    if not spec.post:
        return
    actions = [action for opcode in spec.opcodes.values() for action in opcode.device]
    for wanted in (Load(CHANNELS), Requantise(spec.form.output)):
        if wanted not in actions:
            yield f"post: no opcode does `{wanted}`, so post-processing cannot be used"


def bit_names(spec: AcceleratorSpec) -> Iterator[str]:
    for number, name in enumerate(spec.bits):
        opcode = spec.opcodes.get(name)
        if opcode is None:
            yield f"bits[{number}]: unknown opcode `{name}`{hint(name, spec.opcodes)}"
        elif name in spec.bits[:number]:
            yield f"bits[{number}]: `{name}` stands twice"
        elif opcode.literal is None or opcode.literal.bit_count() != 1:
            word = "has no opcode word" if opcode.literal is None else f"has opcode word {opcode.literal}"
            yield f"bits[{number}]: `{name}` {word}, not a single bit"


def bits(subject: Subject) -> Iterator[str]:
    """An opcode whose word combines bits does what they do."""
    spec = subject.spec
    sound = {op.name for op in subject.sound("opcode_map", "device")}
    receiving = [name for name in spec.bits if spec.opcodes[name].receives]
    if len(receiving) > 1:
        yield f"bits: {listed(receiving)} each receive a tile, so a word must not combine them; leave one out"
    for name, opcode in spec.opcodes.items():
        parts = spec.combination(opcode.literal or 0)
        if name in spec.bits or parts is None or not {name, *(p.name for p in parts)} <= sound:
            continue
        both = combined(opcode.literal or 0, parts)
        if (opcode.host, opcode.device) != (both.host, both.device):
            yield (
                f"bits: `{name}` does {_actions(opcode.device)}, but the bits of its word {opcode.literal}, "
                f"{both.name}, do {_actions(both.device)}"
            )


def _actions(actions: Iterable[DeviceAction]) -> str:
    return listed(f"`{action}`" for action in actions)


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
    used = {name for scope in spec.flows.values() for name, _ in scope.opcodes()}
    used |= {*spec.init_opcodes, *spec.bits}
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
        if scope.depth > len(spec.form.loops):
            yield (
                f"opcode_flow_map.{flow}: {scope} has {scope.depth} scopes inside each other, "
                f"but there are only {len(spec.form.loops)} loops"
            )
        elif init_sound and {name for name, _ in scope.opcodes()} <= sound and not loop_orders(spec, flow):
            wrong = f"computes a wrong {spec.form.output} under every order of the loops"
            yield f"opcode_flow_map.{flow}: {scope} {wrong}"


def _unknown_operand(spec: AcceleratorSpec, operand: str) -> str:
    known = spec.operands
    if operand.removeprefix("-").isdecimal():
        return f"operand {operand} is out of range: 0 to {len(known) - 1}, which are {listed(known)}"
    if operand == CHANNELS:
        return _needs_post(f"operand {CHANNELS}")
    return f"unknown operand `{operand}`{hint(operand, known)}; they are {listed(known)}"


def _unknown_dim(dim: str, known: Sequence[str]) -> str:
    if any(dim == setting.name for setting in POST_SETTINGS):
        return _needs_post(f"setting {dim}")
    return f"unknown dim `{dim}`{hint(dim, known)}; they are {listed(known)}"


def _needs_post(what: str) -> str:
    return f"{what} belongs to post-processing; give `post`: true"


def _inputs(spec: AcceleratorSpec) -> str:
    return " or ".join(spec.form.inputs)
