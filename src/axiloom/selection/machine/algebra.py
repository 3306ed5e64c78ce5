"""Elements of operations as the terms that a text's own arithmetic makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from axiloom.graph.graph import GraphError, Node
from axiloom.graph.numbers import number
from axiloom.graph.ops.composite import computed
from axiloom.graph.ops.scans import Step, by_steps
from axiloom.selection.machine.terms import Term, Terms

EXTERNALS = {"add", "sub", "mul", "div", "max", "exp"}
"""Functions of floats that texts call by name, ``float32.add``."""


INTEGERS = {"add", "sub", "mul", "max", "min", "neg"}
"""Functions of integers, which wrap."""
Known: TypeAlias = tuple[Term, str]
"""A term and its number."""


@dataclass
class TermAlgebra:
    """Sums of floats begin with 0 and go from index 0 up, as texts have it: the IR says no order."""

    terms: Terms

    def apply(self, function: str, *arguments: Any) -> Known:
        head, _, rest = function.partition(":")
        if head == "literal":
            of, _, text = rest.partition(":")
            return self.terms.const(int(number(of).parse(text).reshape(()))), of
        if head == "convert":
            return self._convert(arguments[0], rest)
        of = arguments[0][1]
        operands = [argument[0] for argument in arguments]
        if number(of).kind == "integer" and function in INTEGERS:
            return self._wrapped(self.terms.integer(function, operands), of)
        if number(of).kind != "float" or function not in EXTERNALS:
            raise GraphError(f"{function} of {of} has no term")
        return self.terms.make("call", f"{of}.{function}", *operands), of

    def _wrapped(self, term: Term, of: str) -> Known:
        ends = np.iinfo(number(of).host)
        return self.terms.wrap(term, int(ends.min), int(ends.max)), of

    def _convert(self, value: Known, target: str) -> Known:
        term, source = value
        if source == target:
            return value
        if number(source).kind == number(target).kind == "integer":
            return self._wrapped(term, target)
        if (source, target) not in (("bfloat16", "float32"), ("float32", "bfloat16")):
            raise GraphError(f"a conversion from {source} to {target} has no term")
        return self.terms.make("call", f"{source}.to_{target}", term), target

    def fold(self, function: str, count: Any, body: Callable[[Any], Any]) -> Known:
        total: Known | None = None
        values = [body(index) for index in range(count)]
        of = values[0][1]
        if function == "add" and number(of).kind == "integer":
            return self._wrapped(self.terms.integer("add", [term for term, _ in values]), of)
        for value in values:
            if total is None and function == "add":
                total = self.terms.const(0), of
            total = value if total is None else self.apply(function, total, value)
        assert total is not None
        return total

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if condition else no()

    def scan(
        self,
        count: int,
        most: int,
        first: Sequence[Callable[[Any], Any]],
        shapes: Any,
        step: Step,
        which: int,
        at: Sequence[int],
    ) -> Any:
        return by_steps(count, first, step, which, at)


@dataclass
class Elements:
    """Elements of values of parameters ``0``, ``1`` ..., whose elements are `leaves`; each is made once."""

    algebra: TermAlgebra
    leaves: Sequence[Mapping[tuple[int, ...], Known]]
    known: dict[tuple[int, tuple[int, ...]], Known] = field(default_factory=dict)

    def at(self, node: Node, place: tuple[int, ...]) -> Known:
        if node.op == "parameter":
            return self.leaves[int(str(node.attributes["name"]))][place]
        key = id(node), place
        if key not in self.known:
            self.known[key] = computed(node, self.algebra, place, lambda of, at: self.at(of, tuple(at)))
        return self.known[key]
