"""``requantise``: from sums in int32 to int8, as :mod:`axiloom.isa.kernels.requantise` has it."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.graph.graph import Node
from axiloom.graph.ops.checks import dimension_of, integer, need, rank_of
from axiloom.graph.ops.composite import along, composite, splat_like
from axiloom.graph.ops.op import Attributes, Make


def _requantise(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    sums, bias, multiplier, shift = operands
    for tensor in operands:
        need(tensor.type.number == "int32", f"int32 is needed, not {tensor.type}")
    for tensor in operands[1:]:
        rank_of(tensor.type, 1, "what belongs to channels")
    low, high = integer(attributes, "low"), integer(attributes, "high")
    need(-128 <= low <= high <= 127, f"a clamp to {low} ... {high}")
    dimension = dimension_of(sums.type, integer(attributes, "dimension"))

    def wide(node: Node) -> Node:
        return make("convert", node, number="int64")

    biased = wide(make("add", sums, along(make, bias, sums, dimension)))
    factor = wide(along(make, multiplier, sums, dimension))
    amount = wide(along(make, shift, sums, dimension))
    tensor = splat_like(make, biased, "1")
    half = make("shift_right_logical", make("shift_left", tensor, amount), tensor)
    scaled = make("shift_right_arithmetic", make("add", make("multiply", biased, factor), half), amount)
    moved = make("add", scaled, splat_like(make, biased, str(integer(attributes, "zero"))))
    ends = (splat_like(make, biased, str(end)) for end in (low, high))
    return make("convert", make("clamp", next(ends), moved, next(ends)), number="int8")


OPS = (
    composite(
        "requantise", 4, _requantise, {"dimension": int, "zero": int, "low": int, "high": int},
        "sums, and for each channel along a dimension its bias, multiplier (16 bits without sign) and shift "
        "(0 to 63): clamp(((sums + bias) * multiplier + half >> shift) + zero, low, high) in int8",
    ),
)  # fmt: skip
