"""Names and formats to operators. A new family is one more module."""

from __future__ import annotations

from importlib import import_module

from axiloom.base.errors import UsageError
from axiloom.hw.nest.operators.operator import Operator

_FAMILIES = (
    *("whole", "product", "division", "shift", "convert", "logic", "lanes"),
    *("float.add", "float.multiply", "float.divide", "float.root", "float.exponential"),
    *("float.order", "float.convert"),
)
"""Modules of this package; each of their operators is one of the registry."""


def _operators(family: str) -> list[type[Operator]]:
    module = import_module(f"axiloom.hw.nest.operators.{family}")
    kinds = [
        member for member in vars(module).values() if getattr(member, "__module__", "") == module.__name__
    ]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Operator)]


OPERATORS: tuple[type[Operator], ...] = tuple(kind for family in _FAMILIES for kind in _operators(family))


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
            f"operator `{name}` from {number} to {result} has no latency of {latency} cycles; "
            f"there are {listed}"
        )
    return kind(name, number, result, there_are[0] if latency is None else latency)


def _found(name: str, number: str, result: str) -> tuple[type[Operator], tuple[int, ...]]:
    for kind in OPERATORS:
        there_are = kind.latencies(name, number, result)
        if there_are:
            return kind, there_are
    forms = "".join(f"\n  {kind.forms}" for kind in OPERATORS)
    raise UsageError(f"there is no operator `{name}` from {number} to {result}; there are{forms}")
