"""Expressions and statements with other loads or other iterators in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from axiloom.base.affine import Affine
from axiloom.nests.program.expressions import Expression, Index, Load, Op
from axiloom.nests.program.typed import index


def with_loads(expression: Expression, change: Callable[[Load], Expression]) -> Expression:
    """Each load replaced by what `change` says of it."""
    if isinstance(expression, Load):
        return change(expression)
    if isinstance(expression, Op):
        return replace(
            expression, operands=tuple(with_loads(operand, change) for operand in expression.operands)
        )
    return expression


def substituted(expression: Expression, values: Mapping[str, Affine | int]) -> Expression:
    """Iterators replaced by forms, in subscripts and where their value is used."""
    if isinstance(expression, Index):
        return index(expression.value.substitute(values), expression.number)
    if isinstance(expression, Load):
        return replace(
            expression, subscripts=tuple(subscript.substitute(values) for subscript in expression.subscripts)
        )
    if isinstance(expression, Op):
        return replace(
            expression, operands=tuple(substituted(operand, values) for operand in expression.operands)
        )
    return expression


def load_substituted(load: Load, values: Mapping[str, Affine | int]) -> Load:
    return replace(load, subscripts=tuple(subscript.substitute(values) for subscript in load.subscripts))
