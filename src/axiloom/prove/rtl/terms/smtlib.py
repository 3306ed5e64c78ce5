"""Terms as SMT-LIB, a name for each node: for an engine that shares nothing with z3 but the standard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.nodes import children, number

_NAMES = {"if": "ite", "bvudiv_i": "bvudiv", "bvurem_i": "bvurem", "bvsdiv_i": "bvsdiv", "bvsrem_i": "bvsrem"}
"""What z3 calls otherwise; the last ones are divisions whose divisor is known not to be 0."""


class Text:
    """Definitions of terms: a node that many terms share is written once.

    Attributes: `lines`: of the text so far; `constants`: what is free in it, by name.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._declared: set[str] = set()
        self._alive: list[Any] = []  # the numbers of terms that are gone are given again

    def name(self, term: Any) -> str:
        """What `term` is called; it is written if it is new."""
        own = number(term)
        if own not in self._names:
            for node in walk([term], self._names):
                self._alive.append(node)
                self._names[number(node)] = self._written(node)
        return self._names[own]

    def names(self, terms: Iterable[Any]) -> list[str]:
        return [self.name(term) for term in terms]

    def defined(self, body: str, sort: str = "Bool") -> str:
        """The name of what `body` says."""
        name = f"node!{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () {sort} {body})")
        return name

    def _written(self, node: Any) -> str:
        if z3.is_bv_value(node):
            return f"(_ bv{node.as_long()} {node.size()})"
        below = [self._names[number(child)] for child in children(node)]
        declaration = node.decl()
        name: str
        if declaration.kind() == z3.Z3_OP_UNINTERPRETED:
            name = self._declaration(declaration)
            if not below:
                self.constants.setdefault(name, node)
                return name
            return self.defined(f"({name} {' '.join(below)})", node.sort().sexpr())
        sort = node.sort().sexpr()
        if declaration.kind() == z3.Z3_OP_CONST_ARRAY:
            return self.defined(f"((as const {sort}) {below[0]})", sort)
        name = declaration.name()
        name = _NAMES.get(name, name)
        if not below:
            return {"and": "true", "or": "false"}.get(name, name)
        if name in ("and", "or") and len(below) == 1:
            return below[0]
        if parameters := declaration.params():
            name = f"(_ {name} {' '.join(map(str, parameters))})"
        return self.defined(f"({name} {' '.join(below)})", sort)

    def _declaration(self, declaration: Any) -> str:
        name: str = "|" + declaration.name().replace("|", "!").replace("\\", "!") + "|"
        if name not in self._declared:
            self._declared.add(name)
            sorts = [declaration.domain(at).sexpr() for at in range(declaration.arity())]
            self.lines.append(f"(declare-fun {name} ({' '.join(sorts)}) {declaration.range().sexpr()})")
        return name
