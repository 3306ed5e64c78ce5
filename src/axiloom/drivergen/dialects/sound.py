"""What xDSL's verifiers leave to others: values before their uses, and tensors that a memory can hold."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, FixedBitwidthType, ModuleOp, ShapedType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser.core import ForwardDeclaredValue

from axiloom.base.wording.names import shortened

MOST_BYTES = 1 << 32
"""What the 32-bit addresses of the DMA and of most boards reach."""


def fault(module: ModuleOp) -> tuple[Operation, str] | None:
    """The first op that cannot be, and why, for the end of a sentence; None if all can."""
    seen: set[Operation] = set()
    for op in module.walk():
        around = _blocks_around(op)
        for number, operand in enumerate(op.operands):
            if (why := _too_early(op, number, operand, around, seen)) is not None:
                return op, why
        seen.add(op)
        parent = op.parent_op()
        if parent is not None and parent.name.startswith("linalg."):
            for value in op.results:
                if isinstance(value.type, ShapedType):
                    return op, f"a body of {parent.name} computes scalars, not {shortened(str(value.type))}"
        for value in (*op.results, *(arg for region in op.regions for b in region.blocks for arg in b.args)):
            if (why := _too_large(value.type)) is not None:
                return op, why
    return None


def _too_early(
    op: Operation, number: int, value: SSAValue, around: set[Block | None], seen: set[Operation]
) -> str | None:
    """Why a use comes before its value, if it does.

    `around`: the blocks that `op` is in; `seen`: the ops in front of `op`, and those around it.
    """
    name = f"%{value.name_hint}" if value.name_hint else f"operand {number}"
    if isinstance(value, ForwardDeclaredValue):  # xDSL leaves it where a region ends before its definition
        return f"{name} is not defined"
    owner = value.owner
    if owner is op:
        return f"{name} is its own result"
    home = owner if isinstance(owner, Block) else owner.parent
    if home not in around:
        # Blocks of one region may follow each other in any order; no pass takes several of them.
        regions = {block.parent for block in around if block is not None}
        return None if home is not None and home.parent in regions else f"{name} is not visible here"
    if isinstance(owner, Operation) and (owner not in seen or _is_around(owner, op)):
        return f"{name} is used before it is defined"
    return None


def _blocks_around(op: Operation) -> set[Block | None]:
    found: set[Block | None] = set()
    place: Operation | None = op
    while place is not None:
        found.add(place.parent)
        place = place.parent_op()
    return found


def _is_around(outer: Operation, op: Operation) -> bool:
    place = op.parent_op()
    while place is not None and place is not outer:
        place = place.parent_op()
    return place is outer


def _too_large(kind: Attribute) -> str | None:
    """Why no memory holds a tensor or memref, if none does."""
    if not isinstance(kind, ShapedType):
        return None
    shape = kind.get_shape()
    if DYNAMIC_INDEX in shape:
        return None
    element = getattr(kind, "element_type", None)
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 8
    if prod(shape) * bits <= MOST_BYTES * 8:
        return None
    return f"{shortened(str(kind))} is larger than the {MOST_BYTES >> 30} GiB that 32-bit addresses reach"
