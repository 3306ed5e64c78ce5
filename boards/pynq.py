"""The Python class for the PYNQ image: ``sw/python/accelerator.py`` with a specification in it."""

from __future__ import annotations

import pprint
from typing import Any

from axiloom import sw
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec, loop_orders
from axiloom.isa.types import WORD_BITS, HostAction, Recv, Scope, Send, SendDim, SendIdx, SendLiteral

SOURCE = sw.ROOT / "python" / "accelerator.py"
_PLACE = "CONFIG: dict[str, Any] = {}  # the specification; axiloom writes it here\n"


def module(spec: AcceleratorSpec) -> str:
    """The module's text. UsageError for others than accelerators of matmul with int32 results and streams
    of 32 bits."""
    if spec.kernel != "linalg.matmul" or spec.post:
        raise UsageError(
            f"{spec.name}: the Python class is written for matmul accelerators without post-processing"
        )
    if spec.stream_width != WORD_BITS:
        raise UsageError(
            f"{spec.name}: the Python class sends words of {WORD_BITS} bits, and the streams have "
            f"{spec.stream_width}: use the C driver"
        )
    text = SOURCE.read_text(encoding="utf-8")
    config = pprint.pformat(configuration(spec), width=100, sort_dicts=False)
    return text.replace(_PLACE, f"# {spec.name}, written by axiloom\nCONFIG: dict[str, Any] = {config}\n")


def configuration(spec: AcceleratorSpec) -> dict[str, Any]:
    """What the class has to know of `spec`."""
    dma = spec.dma
    return {
        "name": spec.name,
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
        "opcodes": {name: [_action(one) for one in op.host] for name, op in spec.opcodes.items()},
        "init_opcodes": list(spec.init_opcodes),
        "flows": {
            name: {"order": list(loop_orders(spec, name)[0]), "scope": _items(scope)}
            for name, scope in spec.flows.items()
        },
        "selected_flow": spec.selected_flow,
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
