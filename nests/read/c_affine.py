"""Affine forms and conditions of C: bounds, subscripts, and the conditions of static control.

A condition is a set of disjoint conjunctions, so that what stands under it is executed once for each point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycparser import c_ast

from axiloom.isa.affine import Affine
from axiloom.nests.read.c_types import constant

Forms = tuple[Affine, ...]
Condition = tuple[Forms, ...]
ALWAYS: Condition = ((),)
RELATIONS = ("<", "<=", ">", ">=", "==", "!=")


class NotAffineError(ValueError):
    """Why an expression is no affine form of iterators."""


def form(node: Any, iterators: Mapping[str, Affine]) -> Affine:
    """The form an expression is. Raises NotAffineError."""
    if isinstance(node, c_ast.Constant):
        value = constant(node.value).value
        if isinstance(value, float):
            raise NotAffineError(f"`{node.value}` is no integer")
        return Affine((), value)
    if isinstance(node, c_ast.ID):
        if node.name not in iterators:
            raise NotAffineError(
                f"`{node.name}` is neither an iterator of a loop around nor a constant "
                f"(give sizes by #define or -D {node.name}=VALUE)"
            )
        return iterators[node.name]
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        inner = form(node.expr, iterators)
        return inner if node.op == "+" else -inner
    if isinstance(node, c_ast.Cast):
        return form(node.expr, iterators)
    if isinstance(node, c_ast.BinaryOp):
        return _binary(node.op, form(node.left, iterators), form(node.right, iterators))
    raise NotAffineError(f"{_kind(node)} is no affine form of iterators")


def _binary(op: str, left: Affine, right: Affine) -> Affine:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        if left.is_constant:
            return right * left.constant
        if right.is_constant:
            return left * right.constant
        raise NotAffineError(f"`({left}) * ({right})` is a product of two iterators")
    if op in ("/", "%") and left.is_constant and right.is_constant and right.constant:
        quotient = abs(left.constant) // abs(right.constant)
        quotient = -quotient if (left.constant < 0) != (right.constant < 0) else quotient
        return Affine((), quotient if op == "/" else left.constant - quotient * right.constant)
    if op == "<<" and right.is_constant and 0 <= right.constant < 32:
        return left * (1 << right.constant)
    raise NotAffineError(f"`({left}) {op} ({right})` is not affine")


def _kind(node: Any) -> str:
    if isinstance(node, c_ast.ArrayRef):
        return "an element of an array"
    if isinstance(node, c_ast.FuncCall):
        return f"a call of `{getattr(node.name, 'name', '?')}`"
    return f"`{getattr(node, 'op', type(node).__name__)}`"


def condition(node: Any, iterators: Mapping[str, Affine]) -> Condition:
    """The points at which an expression of C holds. Raises NotAffineError."""
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        left, right = condition(node.left, iterators), condition(node.right, iterators)
        return both(left, right) if node.op == "&&" else (*left, *both(negation(left), right))
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return negation(condition(node.expr, iterators))
    if isinstance(node, c_ast.BinaryOp) and node.op in RELATIONS:
        left_form = form(node.left, iterators)
        difference = form(node.right, iterators) - left_form
        return relation(node.op, difference)
    return relation("!=", form(node, iterators))


def relation(op: str, difference: Affine) -> Condition:
    """left `op` right, of `difference` = right - left."""
    if op == "<":
        return ((difference - 1,),)
    if op == "<=":
        return ((difference,),)
    if op == ">":
        return ((-difference - 1,),)
    if op == ">=":
        return ((-difference,),)
    if op == "==":
        return ((difference, -difference),)
    return ((difference - 1,), (-difference - 1,))


def both(left: Condition, right: Condition) -> Condition:
    found = [tuple(dict.fromkeys((*a, *b))) for a in left for b in right]
    # Constant forms are decided here: sizes are known.
    alive = [each for each in found if not any(f.is_constant and f.constant < 0 for f in each)]
    return tuple(tuple(f for f in each if not f.is_constant) for each in alive)


def negation(given: Condition) -> Condition:
    result = ALWAYS
    for forms in given:
        parts: list[Forms] = []
        for place, each in enumerate(forms):
            parts.append((*forms[:place], -each - 1))
        result = both(result, tuple(parts))
    return result
