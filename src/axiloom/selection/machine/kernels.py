"""Operations that an instruction may be: what `derive` compares an instruction's elements with.

A kernel is an entry of `KERNELS`: it makes a value of two-dimensional operands, or says that it takes none of
these shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from axiloom.graph.graph import Node
from axiloom.graph.ops.op import Make

Kernel: TypeAlias = Callable[[Make, Sequence[Node], str], Node]
"""Of the operands, and the number that the result has."""


def _same(_: Make, operands: Sequence[Node], __: str) -> Node:
    return operands[0]


def _transpose(make: Make, operands: Sequence[Node], _: str) -> Node:
    return make("transpose", operands[0], permutation=(1, 0))


def _product(left: int, right: int) -> Kernel:
    """Contracting these dimensions of the two."""

    def made(make: Make, operands: Sequence[Node], number: str) -> Node:
        a, b = operands
        return make(
            "dot_general", a, b, lhs_batch=(), rhs_batch=(),
            lhs_contracting=(left,), rhs_contracting=(right,), number=number,
        )  # fmt: skip

    return made


def _added_to(make: Make, operands: Sequence[Node], number: str) -> Node:
    """A product, rounded, added to what is there."""
    return make("add", operands[0], _product(1, 0)(make, operands[1:], number))


def _unary(name: str) -> Kernel:
    return lambda make, operands, _: make(name, operands[0])


def _binary(name: str) -> Kernel:
    return lambda make, operands, _: make(name, operands[0], operands[1])


def _normalised(make: Make, operands: Sequence[Node], _: str) -> Node:
    """Exponentials by the sum of their row, without the largest one subtracted before."""
    e = make("exponential", operands[0])
    total = make("reduce", e, kind="add", dimensions=(1,))
    return make("divide", e, make("broadcast_in_dim", total, shape=e.type.shape, dimensions=(0,)))


KERNELS: Mapping[str, tuple[int, Kernel]] = {
    "move": (1, _same),
    "transpose": (1, _transpose),
    "product": (2, _product(1, 0)),
    "product_transposed": (2, _product(1, 1)),
    "transposed_product": (2, _product(0, 0)),
    "product added to": (3, _added_to),
    "normalised exponential": (1, _normalised),
    **{name: (1, _unary(name)) for name in ("exponential", "negate", "relu")},
    **{name: (2, _binary(name)) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")},
}
"""Name to the number of operands, and what makes the value."""
