"""What an operator costs on a unit, and an operation on the host, in cycles of one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from axiloom.application.units.unit import Operator
from axiloom.graph.graph import Attribute, Type
from axiloom.graph.ops.convolution import dims_of

CONVERTED = 1
"""Cycles in which the host brings an element into a unit's numbers, or back."""
MULTIPLY_ADD = 1
"""... of one on the host, in float32."""
STARTED = 50
"""... of an operation on the host."""
FREE = ("parameter", "constant", "splat", "iota", "reshape")


def of_operator(operator: Operator) -> int:
    """Of one call, the host's conversions included; weights are converted once, not in each call."""
    moved = operator.operands[0].type.elements + operator.node.type.elements
    return CONVERTED * moved + operator.unit.cycles(operator)


def on_host(op: str, attributes: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    """Of an operation in float32."""
    if op in FREE:
        return 0
    work = _WORK.get(op)
    done = (
        work(attributes, types, result) if work else sum(type_.elements for type_ in types) + result.elements
    )
    return STARTED + MULTIPLY_ADD * done


def _dense(_: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    return result.elements * types[0].shape[-1]


def _contracted(attributes: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    dimensions = attributes["lhs_contracting"]
    assert isinstance(dimensions, tuple)
    return result.elements * prod(types[0].shape[int(dimension)] for dimension in dimensions)


def _convolved(attributes: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    dims = dims_of(str(attributes["dims"]))
    return result.elements * types[1].elements // types[1].shape[dims.kernel_out]


def _cells(_: Mapping[str, Attribute], types: Sequence[Type], result: Type) -> int:
    return 4 * result.elements * sum(type_.shape[-1] for type_ in types[-3:-1])


_WORK: Mapping[str, Callable[[Mapping[str, Attribute], Sequence[Type], Type], int]] = {
    "dense": _dense,
    "dot_general": _contracted,
    "convolution": _convolved,
    **dict.fromkeys(("lstm", "lstm_cells", "lstm_h", "lstm_c"), _cells),
}
"""Multiply-adds of operations with products."""
