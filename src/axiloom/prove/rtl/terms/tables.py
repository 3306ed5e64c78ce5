"""Functions of one byte, known by their tables: two ways to say one of them become the same term.

A number's bits are taken apart otherwise in the RTL than in a text. Where that stands below a product, which
has no meaning for a solver, a solver would have to find it equal there first, for each product anew.

Why it is sound: a term that hangs on one constant alone is a function of that constant. Its values are
computed for each of the constant's values, so that one name stands for one function, on both sides. What
holds of any function with this name holds of that one. What does *not* hold may be for want of the table:
who asks has to ask again without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import z3

from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.nodes import children, number

MOST_BITS = 8
"""Of a constant, whose values are all tried."""


class Tables:
    """Functions of one constant, each by its values, however they are said.

    Attributes: `values`, by the function's name: of 0, 1, ... as signed numbers.
    """

    def __init__(self) -> None:
        self.values: dict[str, Sequence[int]] = {}
        self._functions: dict[tuple[int, ...], Any] = {}
        self._known: dict[int, Any] = {}
        self._alive: list[Any] = []  # the numbers of terms that are gone are given again

    def __call__(self, terms: Sequence[Any]) -> list[Any]:
        """`terms` with such functions in the place of each largest part that hangs on one small constant."""
        nodes = list(walk(terms))
        only = _only(nodes)
        roots = {number(term) for term in terms}
        pairs: dict[int, tuple[Any, Any]] = {}
        for node in nodes:
            own = number(node)
            if own in only and own in roots:
                below = [node]
            else:
                below = [] if own in only else children(node)
            for part in below:
                constant = only.get(number(part))
                if constant is not None and z3.is_bv(part) and not part.eq(constant):
                    pairs.setdefault(number(part), (part, self._named(part, constant)))
        return [z3.substitute(term, *pairs.values()) for term in terms] if pairs else [*terms]

    def range_of(self, term: Any) -> tuple[int, int] | None:
        """The least and the greatest value, as a signed number, of one of these functions; None: it is
        none."""
        values = self.values.get(term.decl().name()) if z3.is_app(term) and term.num_args() == 1 else None
        return (min(values), max(values)) if values else None

    def _named(self, term: Any, constant: Any) -> Any:
        """In as many bits as `term`. The function has as many as its values need: the same numbers in more
        bits, which have their sign, are the same function."""
        bits = constant.size()
        variable = z3.BitVec(f"any of {bits}", bits)
        body = z3.substitute(term, (constant, variable))
        if (own := number(body)) not in self._known:
            self._known[own] = self._function(body, variable)
            self._alive.append(body)
        found = self._known[own](constant)
        more = term.size() - found.size()
        return z3.SignExt(more, found) if more else found

    def _function(self, body: Any, variable: Any) -> Any:
        count = 1 << variable.size()
        numbers = (z3.BitVecVal(value, variable.size()) for value in range(count))
        values = [z3.simplify(z3.substitute(body, (variable, one))).as_signed_long() for one in numbers]
        key = (variable.size(), *values)
        if key not in self._functions:
            name = f"table {len(self._functions)} of {variable.size()} bits"
            bits = max(max(value, ~value) for value in values).bit_length() + 1
            self._functions[key] = z3.Function(name, variable.sort(), z3.BitVecSort(bits))
            self.values[name] = values
        return self._functions[key]


def _only(nodes: Sequence[Any]) -> Mapping[int, Any]:
    """By a node's number, the one constant of few bits that it hangs on. A node with two, with a larger one
    or with a function that has no meaning is left out, and so is one with none. `nodes`: children first."""
    only: dict[int, Any] = {}
    others: set[int] = set()
    for node in nodes:
        own, below = number(node), [number(child) for child in children(node)]
        if z3.is_app(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            is_small = not below and z3.is_bv(node) and node.size() <= MOST_BITS
            found = {own: node} if is_small else {}
            known = is_small
        else:
            found = {only[one].get_id(): only[one] for one in below if one in only}
            known = z3.is_app(node) and len(found) <= 1 and not any(one in others for one in below)
        if not known:
            others.add(own)
        elif found:
            (only[own],) = found.values()
    return only
