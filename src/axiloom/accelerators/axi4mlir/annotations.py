"""The annotations of the published AXI4MLIR code, as our trait.

They are called ``accel_opcode_map_str``, ``accel_opcode_flow_str``, ``accel_loop_permutation`` ... (its
``LinalgGenericToAccel.cpp``). Opcodes that only receive are joined with those before them
(:mod:`axiloom.accelerators.axi4mlir.waits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from axiloom.accelerators.axi4mlir.waits import joined
from axiloom.base.wording.names import hint
from axiloom.drivergen.dialects.accel import DmaInitConfigAttr, InitOpcodesAttr, OpcodeFlowAttr, OpcodeMapAttr
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.match.foreign import Annotations, Has
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import HostAction, Scope
from axiloom.isa.files.grammar import GrammarError, parse_opcode_flow, parse_opcode_map

T = TypeVar("T")
Opcodes: TypeAlias = dict[str, tuple[HostAction, ...]]

MAP = ("accel_opcode_map", "accel_opcode_map_str")
FLOW = ("accel_opcode_flow", "accel_opcode_flow_str")
INIT = ("accel_init_flow", "accel_init_flow_str")
TILE = ("accel_accel_tile_size", "accel_accel_tile_sizes")
ORDER = ("accel_loop_permutation",)
DMA = (
    "accel_dmaAddress",
    "accel_dmaInputAddress",
    "accel_dmaInputBufferSize",
    "accel_dmaOutputAddress",
    "accel_dmaOutputBufferSize",
)
WITHOUT_EFFECT = {
    **dict.fromkeys(DMA, "where the DMA lies on another board; the specification says it here"),
    "accel_number_of_caches": "tiles for the caches, which the cost model chooses here",
    "accel_tile_sizes": "tiles for the caches, which the cost model chooses here",
    "accel_acc_on_cpu": "who adds up C; what comes back is always added to C here, as linalg says",
    "accel_accumulate_on_cpu": "who adds up C; what comes back is always added to C here, as linalg says",
}
"""Names that change nothing here, with what they say."""
WITHOUT_FLOW = (*MAP, *INIT, *TILE, *ORDER)
"""Names that change nothing on an op with a map and no flow: opcodes and flow are the specification's."""


def translate(module: ModuleOp, spec: AcceleratorSpec | None, flow: str | None = None) -> None:
    """Give ops with published annotations our trait in their place. Raises CompileError with the op's place.

    What they leave out is that of `spec`: the tile, and without a flow all of it. The DMA always is. With a
    `flow`, which is one of `spec`'s, all of it is, as options go before annotations in the published code.
    """
    for op in module.walk():
        if not op.name.startswith("linalg."):
            continue
        for name in WITHOUT_EFFECT:
            op.attributes.pop(name, None)
        if flow is None and any(name in op.attributes for name in FLOW):
            _translate(op, spec)
        elif any(name in op.attributes for name in (*FLOW, *MAP)):
            for name in (*FLOW, *WITHOUT_FLOW):
                op.attributes.pop(name, None)


def _translate(op: Operation, spec: AcceleratorSpec | None) -> None:
    if spec is None:
        fail(op, "its annotations leave out the accelerator: name one (--accel or --spec)")
    opcodes = _take(op, MAP, _map)
    flow = _take(op, FLOW, _flow)
    if opcodes is None or flow is None:
        fail(op, f"its annotations lack {MAP[1]}")
    init = _take(op, INIT, _flow)
    for name in (name for name, _ in (init.opcodes() if init else ()) if name not in opcodes):
        fail(
            op,
            f"{INIT[1]}: unknown opcode `{name}`{hint(name, opcodes)}; its map has {', '.join(opcodes)}; "
            "with --flow the accelerator's own opcodes are taken",
        )
    own, flow = joined(opcodes, flow)
    own |= {name: opcodes[name] for name, _ in (init.opcodes() if init else ())}
    sizes = _take(op, TILE, _numbers)
    loops = len(spec.dims)
    tile = spec.tile.size if sizes is None else tuple(sizes if len(sizes) > 1 else sizes * loops)
    order = _take(op, ORDER, _numbers)
    if order is not None and sorted(order) != list(range(loops)):
        fail(op, f"{ORDER[0]} must permute {loops} loops, not {order}")
    op.attributes |= {
        "opcode_map": OpcodeMapAttr.of(own),
        "opcode_flow": OpcodeFlowAttr(flow),
        "dma_init_config": DmaInitConfigAttr(spec.link.dma),
        "accel_dim": AffineMapAttr(AffineMap(loops, 0, tuple(AffineConstantExpr(size) for size in tile))),
    }
    if init is not None:
        op.attributes["init_opcodes"] = InitOpcodesAttr(init)
    if order is not None:
        op.attributes["permutation_map"] = AffineMapAttr(
            AffineMap(loops, 0, tuple(AffineDimExpr(loop) for loop in order))
        )


def remarks(has: Has, flow: str | None) -> Iterator[str]:
    """Of a text with some of these names; the flow that was asked for goes before them."""
    if flow is not None and any(map(has, FLOW)):
        why = f"--flow {flow} was given, so the specification's opcodes and flow are taken"
        yield from (f"{name} is ignored: {why}" for name in (*FLOW, *WITHOUT_FLOW) if has(name))
    elif any(map(has, MAP)) and not any(map(has, FLOW)):
        why = f"no {FLOW[1]} goes with it; the specification's opcodes and flow are taken"
        yield from (f"{name} is ignored: {why}" for name in WITHOUT_FLOW if has(name))


# --- values --------------------------------------------------------------------------------------------


def _take(op: Operation, names: tuple[str, ...], read: Callable[[Attribute], T]) -> T | None:
    for name in names:
        if name in op.attributes:
            try:
                return read(op.attributes.pop(name))
            except GrammarError as error:
                fail(op, f"{name}: {error}")
            except TypeError as error:
                fail(op, f"{name}: {error}")
    return None


def _map(value: Attribute) -> Opcodes:
    if isinstance(value, OpcodeMapAttr):
        return value.opcodes
    return parse_opcode_map(_text(value))


def _flow(value: Attribute) -> Scope:
    """``(s0 (s1 r))``; what is sent first may lack the parentheses."""
    if isinstance(value, OpcodeFlowAttr | InitOpcodesAttr):
        return value.data
    text = _text(value)
    return parse_opcode_flow(text if "(" in text else f"({text})")


def _text(value: Attribute) -> str:
    if isinstance(value, StringAttr):
        return value.data
    raise TypeError(f"expected a text in quotes, not {value}")


def _numbers(value: Attribute) -> list[int]:
    values = list(value) if isinstance(value, ArrayAttr) else [value]
    numbers = [attribute.value.data for attribute in values if isinstance(attribute, IntegerAttr)]
    if len(numbers) < len(values) or not numbers:
        raise TypeError(f"expected numbers, not {value}")
    return numbers


ANNOTATIONS = Annotations(
    {"__accel_transform__": "which passes another compiler runs on the op", **WITHOUT_EFFECT},
    translate,
    remarks,
)
