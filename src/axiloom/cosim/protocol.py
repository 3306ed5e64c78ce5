"""What the protocol monitor knows of a device: its instructions, and what each moves on the streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from axiloom.cosim.native import Action
from axiloom.isa.contract.types import WORD_BITS, Clear, Compute, Recv, Save, Send, SendDim
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS

if TYPE_CHECKING:
    from axiloom.isa.contract.spec import AcceleratorSpec
    from axiloom.isa.contract.types import Opcode

_SKIP, _DIMS, _LOAD, _STORE, _SAVE, _CLEAR = range(6)


@dataclass(frozen=True)
class Instruction:
    """`actions` follow its opcode word, `literal`; None: it has no word."""

    name: str
    actions: Sequence[Action]
    literal: int | None = None
    bit: int = -1
    """Its place among those that a word may combine."""
    computes: bool = True


def instructions(device: AcceleratorSpec) -> list[Instruction]:
    """Every instruction; actions number the sizes of all kernels, one kernel behind the other.

    Where packets never change, a packet in and a packet back are one instruction without a word. Of a
    device whose packets nobody knows beforehand: none.
    """
    if device.link.packets is not None:  # results may come before the last word has gone in
        store, load = (
            Action(kind=kind, operand=name, element_bits=WORD_BITS, unit_words=1, n=1)
            for kind, name in ((_STORE, b"Y"), (_LOAD, b"X"))
        )
        load.dim[0], store.dim[0] = 0, 1
        return [Instruction("run", [store, load])]
    rows: list[Instruction] = []
    first = 0
    for part in device.parts:
        for name, opcode in part.opcodes.items():
            place = part.bits.index(name) if name in part.bits else -1
            computes = any(isinstance(action, Compute) for action in opcode.device)
            rows.append(Instruction(name, _actions(part, opcode, first), opcode.literal, place, computes))
        first += len(_sizes(part))
    return rows


def sizes(device: AcceleratorSpec) -> tuple[int, ...]:
    """Dims and settings at reset, in the order in which actions number them."""
    return device.link.packets or tuple(size for part in device.parts for size in _sizes(part).values())


def _sizes(spec: AcceleratorSpec) -> dict[str, int]:
    return dict(zip(spec.dims, spec.tile.size, strict=True)) | {
        setting.name: setting.reset for setting in spec.settings
    }


def _actions(spec: AcceleratorSpec, opcode: Opcode, first: int) -> list[Action]:
    """What happens after the opcode word on the streams, in order. `first`: the number of the first of its
    sizes."""
    number = {name: first + index for index, name in enumerate(_sizes(spec))}
    carried = {carrier.operand for carrier in opcode.carried}
    actions = []
    for action, host in opcode.steps():
        if isinstance(action, Save | Clear):
            actions.append(Action(kind=_SAVE if isinstance(action, Save) else _CLEAR))
        elif isinstance(host, Send | Recv) and host.operand in carried:
            continue
        elif isinstance(host, Send | Recv):
            actions.append(_tile(spec, opcode, host, number))
        elif isinstance(host, SendDim):
            # A dim that no word names has the size of the one that it is tied to.
            tied = [replace(f, dim=dim) for f in host.fields for dim, by in spec.tied.items() if by == f.dim]
            dims = Action(kind=_DIMS, n=len(host.fields) + len(tied))
            for index, field in enumerate((*host.fields, *tied)):
                dims.dim[index] = number[field.dim]
                dims.shift[index] = field.shift
                dims.bits[index] = host.field_bits(field)
            actions.append(dims)
        elif host is not None:
            actions.append(Action(kind=_SKIP))
    return actions


def _tile(spec: AcceleratorSpec, opcode: Opcode, host: Send | Recv, number: dict[str, int]) -> Action:
    """An operand on the stream: :meth:`AcceleratorSpec.words_of` as numbers."""
    operand, received = host.operand, isinstance(host, Recv)
    kind = spec.received_type(opcode) if received else spec.operand_type(operand)
    parameters = operand == CHANNELS
    dims = [spec.form.channel] if parameters else list(spec.data[operand])
    action = Action(
        kind=_STORE if received else _LOAD,
        operand=operand.encode()[:15],
        element_bits=CHANNEL_WORDS * WORD_BITS if parameters else kind.bits,
        lines=0 if parameters else spec.form.rows.get(operand, 0),
        unit_words=spec.link.beat_words if spec.form.dense or parameters else 1,
        saved=received and spec.form.saves,
        n=len(dims),
    )
    action.dim[: len(dims)] = [number[dim] for dim in dims]
    return action
