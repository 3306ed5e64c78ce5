"""Traits that somebody wrote into the MLIR: are their attributes known, and does the accelerator fit?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation

from axiloom import isa
from axiloom.base.wording.names import hint
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.product import ProductOp
from axiloom.drivergen.match.trait import OPTIONAL, REQUIRED, Trait
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import HostAction, Opcode, Recv, Send, SendDim, SendIdx

KNOWN = (*REQUIRED, *OPTIONAL)


def annotated(module: ModuleOp) -> list[Operation]:
    """The linalg ops in `module` that carry a part of a trait."""
    return [op for op in module.walk() if _is_linalg(op) and any(name in op.attributes for name in KNOWN)]


def check_input(module: ModuleOp) -> None:
    """Raise CompileError for the first op or attribute in a user's module that is not for users to write."""
    for op in module.walk():
        if op.name.startswith("accel.") and not isinstance(op, ProductOp):
            fail(op, "it is made by the compiler, at a later stage; the input is linalg")
        if isinstance(op, tensor.PadOp) and any(
            edge < 0 for edge in (*op.static_low.get_values(), *op.static_high.get_values())
        ):
            fail(op, "padding that is negative or not known; cut elements off by tensor.extract_slice")
        if isinstance(op, tensor.ExtractSliceOp) and _reaches_out(op):
            fail(op, "a slice of elements that are not there")
    check_attributes(module)


def _reaches_out(op: tensor.ExtractSliceOp) -> bool:
    """Whether a slice has an element before or behind its source, as far as its places are known."""
    assert isinstance(op.source.type, TensorType)
    sizes, steps = op.static_sizes.get_values(), op.static_strides.get_values()
    places = zip(op.static_offsets.get_values(), sizes, steps, op.source.type.get_shape(), strict=True)
    unknown = -(1 << 63)
    return any(
        unknown not in (start, size, step)
        and not 0 <= start <= max(start, start + (size - 1) * step) < extent
        for start, size, step, extent in places
    )


def check_attributes(module: ModuleOp) -> None:
    """Raise CompileError for the first attribute that is meant for an accelerator and that nobody reads."""
    for op in module.walk():
        for name in op.attributes if _is_linalg(op) else ():
            if name not in KNOWN and _is_meant(name):
                known = ", ".join(KNOWN)
                fail(op, f"unknown attribute `{name}`{hint(name, KNOWN)}; a trait is made of {known}")


def _is_linalg(op: Operation) -> bool:
    return op.name.startswith("linalg.")


def _is_meant(name: str) -> bool:
    """Whether it looks like a part of a trait: ours misspelt, or one of another tool's."""
    if name.startswith("accel."):  # what our own passes note
        return False
    return (
        name.startswith(("accel", "axi", "dma_"))
        or "opcode" in name
        or "_permutation" in name
        or "permutation_" in name
    )


def check_options(op: Operation, **options: object) -> None:
    """Raise CompileError if one of `options` would have to change the trait of `op`."""
    asked = [f"--{name}" for name, value in options.items() if value is not None]
    if asked:
        fail(op, f"its own trait says how it is executed: leave {', '.join(asked)} out, or the trait")


def check_fit(op: linalg.GenericOp, spec: AcceleratorSpec) -> None:
    """Raise CompileError where the trait of `op` asks for what `spec` does not do: it would hang."""
    for why in _misfits(Trait.of(op), spec):
        fail(op, why)


def _misfits(trait: Trait, spec: AcceleratorSpec) -> Iterator[str]:
    used = {name for name, _ in trait.flow.opcodes()}
    first = {name for name, _ in trait.init.opcodes()} if trait.init else set()
    actions = {name: _named(trait, trait.opcodes[name]) for name in trait.opcodes if name in used | first}
    for name, host in actions.items():
        own = spec.decode(literal) if (literal := Opcode(name, host, ()).literal) is not None else None
        others = [opcode.host for opcode in spec.opcodes.values()]
        if host not in (*others, *([own.host] if own else [])):
            known = ", ".join(str(replace(opcode, device=())) for opcode in spec.opcodes.values())
            why = f"{spec.name} has no opcode {Opcode(name, host, ())}; it has {known}"
            yield why + _combined(spec, literal)
    told = [actions[name] for name in first]
    for name in spec.init_opcodes:
        if not spec.post and spec.opcodes[name].host not in told:
            yield f"init_opcodes lacks {spec.opcodes[name]}, which {spec.name} is sent first"
    for operand in trait.operands:
        if operand.operand in spec.data and operand.dims != spec.data[operand.operand]:
            takes = ", ".join(spec.data[operand.operand])
            sent = f"{operand.operand}({', '.join(operand.dims)})"
            yield f"accel_operands sends {sent}; {spec.name} takes ({takes})"
    tile = {dim: size for dim, size in zip(trait.dims, trait.tile, strict=True) if dim in spec.dims}
    if tile.keys() == set(spec.dims):
        yield from isa.check_tile(spec, tuple(tile[dim] for dim in spec.dims), "accel_dim")
    if trait.stream_width != spec.link.stream_width:
        there = f"{spec.name} has streams of {spec.link.stream_width} bits"
        yield f"stream_width is {trait.stream_width}; {there}"
    yield from _other_dma(trait, spec)


def _combined(spec: AcceleratorSpec, word: int | None) -> str:
    """What to do where a word is made of bits that the device has, and does not take together."""
    bits = 0
    for opcode in spec.opcodes.values():
        bits |= opcode.literal or 0
    if spec.bits or not word or word & ~bits or word.bit_count() < 2:
        return ""
    return "; words of several bits: `bits` in the specification, --encoding combined for a built-in one"


def _other_dma(trait: Trait, spec: AcceleratorSpec) -> Iterator[str]:
    ours, theirs = trait.dma, spec.link.dma
    for name in ("address", "input_address", "output_address"):
        if getattr(ours, name) != getattr(theirs, name):
            text = f"{name} {getattr(ours, name):#x}"
            yield f"dma_init_config has {text}; {spec.name} has {getattr(theirs, name):#x}"
    for name in ("input_buffer_size", "output_buffer_size", "length_width"):
        if getattr(ours, name) > getattr(theirs, name):
            text = f"{name} {getattr(ours, name)}"
            yield f"dma_init_config has {text}; {spec.name} has {getattr(theirs, name)}"
    if ours.scatter_gather != theirs.scatter_gather:
        kinds = {True: "scatter-gather", False: "direct register mode"}
        yield f"dma_init_config is for {kinds[ours.scatter_gather]}; the DMA of {spec.name} is the other"


def _named(trait: Trait, host: tuple[HostAction, ...]) -> tuple[HostAction, ...]:
    """The actions with names where the trait has numbers."""

    def named(action: HostAction) -> HostAction:
        if isinstance(action, Send | Recv):
            return replace(action, operand=trait.operands[trait.operand(action.operand)].operand)
        if isinstance(action, SendIdx):
            return SendIdx(_dim(trait, action.dim))
        if isinstance(action, SendDim):
            return SendDim(tuple(replace(field, dim=_dim(trait, field.dim)) for field in action.fields))
        return action

    return tuple(named(action) for action in host)


def _dim(trait: Trait, reference: str) -> str:
    return trait.dims[int(reference)] if reference.isdigit() else reference
