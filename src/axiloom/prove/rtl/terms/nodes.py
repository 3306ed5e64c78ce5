"""Nodes of z3's terms, a hundred thousand at once.

z3's Python asks after each call whether there was an error, and for each pair of a substitution whether sorts
agree. That is most of the time of a proof whose terms are large. The calls here cannot fail on a term, and a
substitution's sorts are checked by z3 itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3
from z3 import z3core


def _unchecked(checked: Callable[..., Any]) -> Callable[..., Any]:
    """The function in C, where this version of z3 has it in the place that we know; else what z3's Python
    calls."""
    (own,) = checked.__defaults__ or (None,)
    found: Callable[..., Any] = getattr(own, "f", checked)
    return found


_ast_id, _ast_kind = _unchecked(z3core.Z3_get_ast_id), _unchecked(z3core.Z3_get_ast_kind)
_count, _argument = _unchecked(z3core.Z3_get_app_num_args), _unchecked(z3core.Z3_get_app_arg)
_sort, _sort_kind = _unchecked(z3core.Z3_get_sort), _unchecked(z3core.Z3_get_sort_kind)


def number(term: Any) -> int:
    """``term.get_id()``"""
    found: int = _ast_id(term.ctx.ctx, term.ast)
    return found


def children(term: Any) -> list[Any]:
    """``term.children()``"""
    context = term.ctx
    handle, own = context.ctx, term.ast
    kind = _ast_kind(handle, own)
    if kind == z3.Z3_NUMERAL_AST:
        return []
    if kind != z3.Z3_APP_AST:
        found: list[Any] = term.children()
        return found
    return [_of(_argument(handle, own, place), context) for place in range(_count(handle, own))]


def _of(own: Any, context: Any) -> Any:
    """As z3's Python has it."""
    handle = context.ctx
    kind = _ast_kind(handle, own)
    if kind in (z3.Z3_APP_AST, z3.Z3_NUMERAL_AST):
        sort = _sort_kind(handle, _sort(handle, own))
        if sort == z3.Z3_BV_SORT:
            return (z3.BitVecRef if kind == z3.Z3_APP_AST else z3.BitVecNumRef)(own, context)
        if sort == z3.Z3_BOOL_SORT:
            return z3.BoolRef(own, context)
    return z3.z3._to_expr_ref(own, context)


class Substitution:
    """`term` with values in the place of `constants`, for many values."""

    def __init__(self, term: Any, constants: Sequence[Any]) -> None:
        self.term, self.constants = term, list(constants)
        self._are_bits = [z3.is_bool(constant) for constant in constants]
        self._array = z3.Ast * len(self.constants)
        self._from = self._array(*(constant.ast for constant in self.constants))

    def __call__(self, values: Sequence[Any]) -> Any:
        """A word of one bit may stand for a truth."""
        fitting = [
            value == 1 if is_bit and not z3.is_bool(value) else value
            for value, is_bit in zip(values, self._are_bits, strict=True)
        ]
        to, context = self._array(*(one.ast for one in fitting)), self.term.ctx
        made = z3core.Z3_substitute(context.ctx, self.term.ast, len(fitting), self._from, to)
        return _of(made, context)
