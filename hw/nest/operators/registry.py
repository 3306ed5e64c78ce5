"""Names and formats to operators. A new operator is one more class of `OPERATORS`."""

from __future__ import annotations

from axiloom.errors import UsageError
from axiloom.hw.nest.operators import convert, division, logic, product, shift, whole
from axiloom.hw.nest.operators.float import add, divide, exponential, multiply, order, root
from axiloom.hw.nest.operators.float import convert as float_convert
from axiloom.hw.nest.operators.operator import Operator

OPERATORS: tuple[type[Operator], ...] = (
    *(whole.Sum, whole.Extreme, whole.Compare, product.Product),
    *(convert.Convert, logic.Logic, logic.Select, shift.Shift, division.Division),
    *(add.Sum, multiply.Product, order.Compare, order.Extreme, order.Sign),
    *(divide.Quotient, root.Root, exponential.Exponential),
    *(float_convert.FromFloat, float_convert.ToFloat),
)


def latencies(name: str, number: str, result: str) -> tuple[int, ...]:
    """Cycles that the operator can take, the default first. Raises :exc:`UsageError` if there is none."""
    return _found(name, number, result)[1]


def operator(name: str, number: str, result: str, latency: int | None = None) -> Operator:
    """The operator `name` of operands of format `number` with a result of format `result`.

    Raises :exc:`UsageError` with what there is.
    """
    kind, there_are = _found(name, number, result)
    if latency is not None and latency not in there_are:
        listed = ", ".join(map(str, there_are))
        raise UsageError(
            f"operator `{name}` from {number} to {result} has no latency of {latency} cycles; there are {listed}"
        )
    return kind(name, number, result, there_are[0] if latency is None else latency)


def _found(name: str, number: str, result: str) -> tuple[type[Operator], tuple[int, ...]]:
    for kind in OPERATORS:
        there_are = kind.latencies(name, number, result)
        if there_are:
            return kind, there_are
    forms = "".join(f"\n  {kind.forms}" for kind in OPERATORS)
    raise UsageError(f"there is no operator `{name}` from {number} to {result}; there are{forms}")
