"""Post-processing added to a specification: its operand, its opcodes, and a flow that uses them.

What the device computes is in :mod:`axiloom.isa.kernels.requantise`.
"""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import UsageError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    DimField,
    HostAction,
    Load,
    Opcode,
    Recv,
    Requantise,
    Scope,
    Send,
    SendDim,
    SendLiteral,
    SetDims,
    Store,
)
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS

LITERALS: Mapping[str, tuple[int, int, int]] = {
    "bitmask": (32, 64, 128),
    "combined": (32, 64, 128),
    "literals": (0x26, 0x27, 0x28),
}
"""Of each encoding: the opcode words of sP, cfgP and qC (qO)."""
_MOST_CHANNELS = 512
_CONFIGURATION = SendDim((DimField("zp"), DimField("lo", 8), DimField("hi", 16)))


def with_post(spec: AcceleratorSpec, encoding: str = "bitmask") -> AcceleratorSpec:
    """`spec` with post-processing: opcodes ``sP``, ``cfgP`` and, beside its ``rC``, ``qC``; a flow ``Csq``.

    The new flow is the selected one with P sent and C requantised; ``cfgP`` comes with the other
    ``init_opcodes``. Raises UsageError where the result cannot stay on the device until it is whole.
    """
    stores = {name: op for name, op in spec.opcodes.items() if _only_stores(spec, op)}
    flow = spec.flows[spec.selected_flow]
    last = flow.items[-1] if flow.items else None
    if len(stores) != 1 or last not in stores or flow.depth < 2 or spec.form.saves:
        raise UsageError(
            f"{spec.name} has no post-processing: a sum has to stay on the device until it is whole, and "
            f"flow {spec.selected_flow}, {flow}, does not keep it there; v3, v4 and conv_v4 can"
        )
    (name, store), output = stores.popitem(), spec.form.output
    load, configure, requantise = LITERALS[encoding]
    words = _words_of_dims(spec, store)
    sized: tuple[SendDim, ...] = words
    if spec.form.dense and spec.tile.flexible and not words:
        sized = (SendDim((DimField(spec.form.channel),)),)
    new = "q" + name.removeprefix("r")
    added = (
        _opcode("sP", load, (*sized, Send(CHANNELS)), (*_sets(sized), Load(CHANNELS))),
        _opcode("cfgP", configure, (_CONFIGURATION,), (SetDims(),)),
        _opcode(new, requantise, (*words, Recv(output)), (*_sets(words), Requantise(output), Clear(output))),
    )
    items = ("sP", *flow.items[:-1], new)
    channels = _most_channels(spec)
    return spec.replace(
        post=True,
        opcodes={**spec.opcodes, **{op.name: op for op in added}},
        flows={**spec.flows, f"{spec.selected_flow}q": Scope(items)},
        init_opcodes=(*spec.init_opcodes, "cfgP"),
        buffers={**spec.buffers, CHANNELS: CHANNEL_WORDS * channels},
    )


def _only_stores(spec: AcceleratorSpec, opcode: Opcode) -> bool:
    output = spec.form.output
    return [a for a in opcode.device if a != SetDims()] == [Store(output), Clear(output)]


def _words_of_dims(spec: AcceleratorSpec, store: Opcode) -> tuple[SendDim, ...]:
    """The words of dims that a store carries, so that what stands beside it carries them too."""
    return tuple(a for a in store.payload if isinstance(a, SendDim))


def _sets(words: tuple[SendDim, ...]) -> tuple[SetDims, ...]:
    return (SetDims(),) * len(words)


def _opcode(
    name: str,
    literal: int,
    host: tuple[HostAction, ...],
    device: tuple[SetDims | Load | Requantise | Clear, ...],
) -> Opcode:
    return Opcode(name, (SendLiteral(literal), *host), device)


def _most_channels(spec: AcceleratorSpec) -> int:
    """Channels of the widest tile that the buffers of the operands let through."""
    if spec.tile.granule is None:
        return spec.sizes()[spec.form.channel]
    form, unit = spec.form, spec.sizes(spec.tile.granule)
    step = unit[form.channel]
    words = {
        o: spec.operand_words(o, spec.tile.granule) for o in form.operands if form.channel in spec.data[o]
    }
    return min(_MOST_CHANNELS, step * min(spec.buffers[o] // words[o] for o in words))


def without_post(spec: AcceleratorSpec) -> AcceleratorSpec:
    """`spec` as it was before `with_post`, for models without channels; `spec` itself if it has no post."""
    if not spec.post:
        return spec
    settings = {field.dim for field in _CONFIGURATION.fields}
    added = {
        name
        for name, op in spec.opcodes.items()
        if CHANNELS in op.sends
        or any(isinstance(action, Requantise) for action in op.device)
        or any(isinstance(a, SendDim) and settings & {f.dim for f in a.fields} for a in op.payload)
    }
    return spec.replace(
        post=False,
        opcodes={name: op for name, op in spec.opcodes.items() if name not in added},
        flows={
            name: flow
            for name, flow in spec.flows.items()
            if not added & {opcode for opcode, _ in flow.opcodes()}
        },
        init_opcodes=tuple(name for name in spec.init_opcodes if name not in added),
        buffers={name: size for name, size in spec.buffers.items() if name != CHANNELS},
    )
