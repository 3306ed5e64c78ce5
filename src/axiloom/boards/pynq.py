"""The Python class for the PYNQ image: ``sw/python/accelerator.py`` with a specification in it."""

from __future__ import annotations

import pprint
from typing import Any

from axiloom import sw
from axiloom.base.errors import UsageError
from axiloom.isa import AcceleratorSpec, loop_orders
from axiloom.isa.contract.types import HostAction, Recv, Scope, Send, SendDim, SendIdx, SendLiteral
from axiloom.isa.kernels.forms import COPY, MATMUL

SOURCE = sw.ROOT / "python" / "accelerator.py"
_PLACE = "CONFIG: dict[str, Any] = {}  # the specification; axiloom writes it here\n"


def module(device: AcceleratorSpec) -> str:
    """The module's text. UsageError for convolutions and loops."""
    spec = next((part for part in device.parts[:1] if part.form in (MATMUL, COPY)), None)
    if spec is None:
        raise UsageError(f"{device.name}: the Python class multiplies and copies; all else has the C driver")
    text = SOURCE.read_text(encoding="utf-8")
    config = pprint.pformat(configuration(spec), width=100, sort_dicts=False)
    return text.replace(_PLACE, f"# {spec.name}, written by axiloom\nCONFIG: dict[str, Any] = {config}\n")


def configuration(spec: AcceleratorSpec) -> dict[str, Any]:
    """What the class has to know of `spec`."""
    dma = spec.link.dma
    # Sums come back as they are: what requantises is for the C driver.
    flows = {
        name: scope
        for name, scope in spec.flows.items()
        if not any(spec.opcodes[opcode].requantises for opcode, _ in scope.opcodes())
    }
    if not flows:
        raise UsageError(f"{spec.name}: all its flows requantise, which the Python class does not")
    return {
        "name": spec.name,
        "beat_words": spec.link.beat_words,
        "settings": {
            setting.name: setting.reset & 0xFF if setting.signed else setting.reset
            for setting in spec.settings
        },
        "dma": {
            "address": dma.address,
            "input_bytes": dma.input_buffer_size,
            "output_bytes": dma.output_buffer_size,
            "length_bits": dma.length_width,
            "scatter_gather": dma.scatter_gather,
        },
        "data_type": spec.data_type.value,
        "dims": list(spec.dims),
        "tile": list(spec.tile.size),
        "data": {operand: list(dims) for operand, dims in spec.data.items()},
        "opcodes": {name: [_action(action) for action in op.host] for name, op in spec.opcodes.items()},
        "init_opcodes": list(spec.init_opcodes),
        "flows": {
            name: {"order": list(loop_orders(spec, name)[0]), "scope": _items(scope)}
            for name, scope in flows.items()
        },
        "selected_flow": spec.selected_flow if spec.selected_flow in flows else next(iter(flows)),
    }


def _items(scope: Scope) -> list[Any]:
    return [_items(item) if isinstance(item, Scope) else item for item in scope.items]


def _action(action: HostAction) -> tuple[str, Any]:
    match action:
        case SendLiteral():
            return "literal", action.value
        case SendDim():
            return "dims", [(field.dim, field.shift) for field in action.fields]
        case SendIdx():
            return "index", action.dim
        case Send():
            return "send", action.operand
        case Recv():
            return "receive", action.operand
