"""``for`` loops of C, normalised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from axiloom.isa.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.read.c_affine import ALWAYS, Condition, both, condition, form, relation
from axiloom.nests.read.c_declarations import Declarations
from axiloom.nests.read.c_types import DOUBLE, INT

_FORM = "a loop is `for (i = LOW; i < HIGH; i++)`, with <, <=, > or >=, and a constant step"


@dataclass(frozen=True)
class Loop:
    """`value`: what C's iterator is, over the normalised one of the same name; `holds`: over the normalised
    iterator and those around."""

    name: str
    type: str
    value: Affine
    holds: Condition


def loop(node: Any, iterators: Mapping[str, Affine], declarations: Declarations) -> Loop:
    """Raises ValueError with the reason."""
    name, start, number = _start(node.init, declarations)
    step = _step(node.next, name)
    low = form(start, iterators)
    counter = Affine.name(name)
    value, first = (counter, counter - low) if step == 1 else (low + counter * step, counter)
    if node.cond is None:
        raise ValueError(f"no end; {_FORM}")
    _check_relations(node.cond, name)
    holds = condition(node.cond, {**iterators, name: value})
    for forms in holds:
        for each in forms:
            # An upward loop ends where a form becomes negative: none may become positive again later.
            if each.coefficient(name) > 0:
                raise ValueError(f"it does not end: `{name}` moves away from its bound; {_FORM}")
    if len(holds) > 1:
        raise ValueError(f"its condition is not one of `&&` of bounds; {_FORM}")
    return Loop(name, number, value, both(both(ALWAYS, relation(">=", -first)), holds))


def _start(init: Any, declarations: Declarations) -> tuple[str, Any, str]:
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
        declared = init.decls[0]
        number = declarations.number(declared.type)
        if number == DOUBLE or format_of(number).kind is not Kind.INTEGER:
            raise ValueError(f"the iterator `{declared.name}` is {number}; make it an int")
        return declared.name, declared.init, number
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        return init.lvalue.name, init.rvalue, INT
    raise ValueError(f"its start is not understood; {_FORM}")


def _step(node: Any, name: str) -> int:
    if isinstance(node, c_ast.UnaryOp) and isinstance(node.expr, c_ast.ID) and node.expr.name == name:
        if node.op in ("p++", "++"):
            return 1
        if node.op in ("p--", "--"):
            return -1
    if isinstance(node, c_ast.Assignment) and getattr(node.lvalue, "name", None) == name:
        if node.op in ("+=", "-="):
            step = form(node.rvalue, {})
            amount = step.constant if node.op == "+=" else -step.constant
        elif node.op == "=":
            moved = form(node.rvalue, {name: Affine.name(name)}) - Affine.name(name)
            if not moved.is_constant:
                raise ValueError(f"its step is not constant; {_FORM}")
            amount = moved.constant
        else:
            raise ValueError(f"its step `{node.op}` is not constant; {_FORM}")
        if amount:
            return amount
    raise ValueError(f"its step is not understood; {_FORM}")


def _check_relations(node: Any, name: str) -> None:
    """`!=` and `==` may step over their end; `||` has two."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        _check_relations(node.left, name)
        _check_relations(node.right, name)
    elif not (isinstance(node, c_ast.BinaryOp) and node.op in ("<", "<=", ">", ">=")):
        raise ValueError(f"its condition is `{getattr(node, 'op', type(node).__name__)}`; {_FORM}")
