"""Checks of the ``rtl`` part, and of the registers that opcodes access."""

from __future__ import annotations

from collections.abc import Iterator

from axiloom.base.wording.names import hint, listed
from axiloom.isa.contract.rtl import REGISTERS_AT
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS, WriteRegister
from axiloom.isa.kernels.forms import COPY


def accesses(spec: AcceleratorSpec) -> Iterator[str]:
    """Registers and dims exist, and values fit."""
    known = {} if spec.at else spec.link.rtl.registers  # drivers access registers for the first kernel
    for name, (before, after) in spec.accesses.items():
        if spec.form is COPY:
            yield f"opcode_map.{name}: a copying accelerator has no registers"
        for access in (*before, *after):
            place = f"opcode_map.{name}: {access}"
            if access.register not in known:
                there = (
                    f"`rtl.registers` has {listed(list(known))}"
                    if known
                    else "say where it is: `rtl.registers`"
                )
                yield f"{place}: unknown register `{access.register}`{hint(access.register, known)}; {there}"
            value = access.value if isinstance(access, WriteRegister) else access.mask
            if isinstance(value, str):
                if value not in spec.dims:
                    there = listed(list(spec.dims))
                    yield f"{place}: unknown dim `{value}`{hint(value, spec.dims)}; there are {there}"
                elif spec.tile.flexible:
                    yield f"{place}: only a fixed tile has its sizes in registers; leave `tile` out"
            elif not 0 <= value < 1 << WORD_BITS or (value == 0 and not isinstance(access, WriteRegister)):
                what = "value" if isinstance(access, WriteRegister) else "mask"
                yield f"{place}: {value} is no {what} of {WORD_BITS} bits"


def carried(spec: AcceleratorSpec) -> Iterator[str]:
    """Operands that no stream carries: their registers exist, and pointers have no streams beside them."""
    known = {} if spec.at else spec.link.rtl.registers
    for name, opcode in spec.opcodes.items():
        for carrier in opcode.carried:
            place = f"opcode_map.{name}: {carrier.operand}"
            if carrier.register not in known:
                there = listed(list(known)) if known else "none: say where it is"
                yield f"{place}: unknown register `{carrier.register}`; `rtl.registers` has {there}"
                continue
            if spec.tile.flexible:
                yield f"{place}: only a fixed tile goes through registers; leave `tile` out"
            if carrier.pointer or carrier.operand not in spec.data:
                continue
            shape = spec.operand_shape(carrier.operand)
            if len(shape) != 1:
                yield f"{place} has {len(shape)} dims; registers take an operand with one"
            elif known[carrier.register] + 4 * shape[0] > REGISTERS_AT:
                first = f"{known[carrier.register]:#x}"
                yield f"{place}: {shape[0]} registers from {first} leave {REGISTERS_AT:#x}"
        if any(carrier.pointer for carrier in opcode.carried) and opcode.streamed:
            streams = listed([str(action) for action in opcode.streamed])
            yield f"opcode_map.{name}: a device that reads memory itself has no streams; here is {streams}"
    if spec.has_pointers and any(not op.carried for op in spec.opcodes.values()):
        yield "opcode_map: a device that reads memory itself has pointers in every opcode"


def inputs(spec: AcceleratorSpec) -> Iterator[str]:
    """A stream an operand: the SoC deals them out by counting, so all that comes is known."""
    named = {} if spec.at else spec.link.rtl.inputs
    for operand in (operand for operand in named if operand not in spec.data or operand == spec.form.output):
        yield f"rtl.inputs: `{operand}` is no operand that is sent{hint(operand, spec.data)}"
    if len(named) < 2:
        return
    only = next(iter(spec.opcodes.values())) if len(spec.opcodes) == 1 else None
    if only is None or only.literal is not None or sorted(only.sends) != sorted(named) or only.carried:
        what = "a single instruction without opcode word that sends each operand once"
        yield f"rtl.inputs: several input streams need {what}"
    elif len(only.host) != len(only.sends) + len(only.receives):
        yield "rtl.inputs: several input streams carry operands only: no literal, size or index"
    if spec.tile.flexible:
        yield "rtl.inputs: several input streams need a fixed tile: leave `tile` out"
