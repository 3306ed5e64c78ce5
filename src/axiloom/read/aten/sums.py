"""ATen's products and folds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from axiloom.graph.graph import Node
from axiloom.read.aten.call import Call, Rule


def dot(call: Call, a: Node, b: Node, batch: int) -> Node:
    """The last dimension of `a` with the last but one of `b` (or its only one); `batch` leading pairs."""
    contracted = max(batch, len(b.type.shape) - 2)
    pairs = tuple(range(batch))
    return call.make(
        "dot_general", a, b, lhs_batch=pairs, rhs_batch=pairs, lhs_contracting=(len(a.type.shape) - 1,),
        rhs_contracting=(contracted,), number=call.number,
    )  # fmt: skip


def _product(call: Call) -> Node:
    """mm, bmm, mv, dot."""
    other = next(name for name in ("mat2", "vec", "tensor") if name in call.given)
    a, b = call.node("self"), call.node(other)
    return dot(call, a, b, 1 if len(a.type.shape) == 3 else 0)


def _matmul(call: Call) -> Node:
    return matmul(call, call.node("self"), call.node("other"))


def matmul(call: Call, a: Node, b: Node) -> Node:
    """As torch.matmul: vectors, matrices, and stacks of them that are broadcast."""
    if len(b.type.shape) <= 2:
        return dot(call, a, b, 0)
    if len(a.type.shape) == 1:
        rank = len(b.type.shape)
        return call.make(
            "dot_general", a, b, lhs_batch=(), rhs_batch=(), lhs_contracting=(0,),
            rhs_contracting=(rank - 2,), number=call.number,
        )  # fmt: skip
    stack = call.shape[:-2]
    a, b = (call.spread(side, (*stack, *side.type.shape[-2:])) for side in (a, b))
    return dot(call, a, b, len(stack))


def _addmm(call: Call) -> Node:
    call.only(alpha=1, beta=1)
    names = [name for name in ("mat1", "mat2", "batch1", "batch2") if name in call.given]
    a, b = (call.node(name) for name in names)
    product = dot(call, a, b, len(a.type.shape) - 2)
    return call.make("add", product, call.spread(call.node("self"), call.shape))


def fold(call: Call, x: Node, kind: str, dimensions: Sequence[int]) -> Node:
    """Folded, in the shape that torch wants: with or without sizes of 1."""
    folded = x if not dimensions else call.make("reduce", x, kind=kind, dimensions=tuple(sorted(dimensions)))
    return call.context.reshape(folded, call.shape)


def _fold(kind: str) -> Rule:
    def rule(call: Call) -> Node:
        x = call.context.convert(call.node("self"), call.number)
        return fold(call, x, kind, call.dimensions(call.given.get("dim"), len(x.type.shape)))

    return rule


def _mean(call: Call) -> Node:
    x = call.context.convert(call.node("self"), call.number)
    dimensions = call.dimensions(call.given.get("dim"), len(x.type.shape))
    total = fold(call, x, "add", dimensions)
    return call.make(
        "divide", total, call.context.like(total, math.prod(x.type.shape[i] for i in dimensions))
    )


RULES: dict[str, Rule] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), _product),
    **dict.fromkeys(("addmm", "baddbmm"), _addmm),
    "matmul": _matmul, "sum": _fold("add"), "amax": _fold("max"), "amin": _fold("min"), "mean": _mean,
    "any": _fold("or"), "all": _fold("and"),
}  # fmt: skip
