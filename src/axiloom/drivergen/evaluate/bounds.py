"""How far the sums of floats of a function may be off: its results in float64, and the sizes of their terms.

A driver adds up tiles in an order of its own, so its float32 results differ from any one reference. What
holds in any order is a bound: a result that is made by products and sums alone is off by at most n u / (1 -
n u) times the same expression of absolute values, where no term goes through more than n roundings (Higham,
Accuracy and Stability of Numerical Algorithms, 3.1 and 3.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation
from xdsl.utils.type import get_element_type_or_self

from axiloom.drivergen.dialects.mlir import context, fail, parse
from axiloom.drivergen.evaluate.body import Array, precisely
from axiloom.drivergen.evaluate.reference import reference
from axiloom.drivergen.passes.frontend.generalise import Generalise

_TAKEN = (arith.AddfOp, arith.MulfOp, arith.ConstantOp)


@dataclass(frozen=True)
class Bounds:
    """By symbol of the harness, as in :func:`axiloom.drivergen.evaluate.reference.reference`."""

    exact: Mapping[str, Array]
    """Results of the function in float64."""
    magnitude: Mapping[str, Array]
    """The same of the absolute values of all inputs and constants."""
    roundings: int
    """No term goes through more of them in float32."""


def bounds(text: str, inputs: Mapping[str, Array], *, name: str = "input.mlir") -> Bounds | None:
    """The bounds of the function in `text` for `inputs`; None where it adds up no float32.

    CompileError where it does and has another operation on float32 than products and sums: there is no bound.
    """
    module = parse(text, name)
    Generalise().apply(context(), module)
    sums = [op for op in module.walk() if isinstance(op, linalg.GenericOp) and _adds(op)]
    if not any(_terms(op) > 1 for op in sums):
        return None
    for op in module.walk():
        if op.name.startswith(("arith.", "math.")) and _single(op) and not isinstance(op, _TAKEN):
            fail(op, "float32 sums are compared by a bound that holds for products and sums only")
    with precisely():
        exact = reference(text, inputs, name=name)
    sizes = {symbol: np.abs(array) if array.dtype.kind == "f" else array for symbol, array in inputs.items()}
    with precisely(magnitudes=True):
        magnitude = reference(text, sizes, name=name)
    return Bounds(exact, magnitude, sum(_terms(op) + 1 for op in sums) + _others(module, sums))


def _single(op: Operation) -> bool:
    kinds = [value.type for value in (*op.operands, *op.results)]
    return any(isinstance(get_element_type_or_self(kind), Float32Type) for kind in kinds)


def _adds(op: linalg.GenericOp) -> bool:
    return any(isinstance(inner, arith.AddfOp) and _single(inner) for inner in op.body.block.ops)


def _terms(op: linalg.GenericOp) -> int:
    """Iterations that go into one element of the result."""
    kinds = [attr.data for attr in op.get_iterator_types()]
    loops = zip(kinds, op.get_static_loop_ranges(), strict=True)
    return prod(size for kind, size in loops if kind != IteratorType.PARALLEL)


def _others(module: ModuleOp, sums: list[linalg.GenericOp]) -> int:
    """Products by themselves: each a rounding."""
    return sum(
        isinstance(op, arith.MulfOp) and op.parent_op() not in sums and _single(op) for op in module.walk()
    )
