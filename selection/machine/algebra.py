"""Elements of operations as the terms that a text's own arithmetic makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from axiloom.selection.ir.graph import GraphError, Node
from axiloom.selection.ir.numbers import number
from axiloom.selection.ir.ops import OPS
from axiloom.selection.ir.ops.scans import Step, by_steps
from axiloom.selection.machine.terms import Term, Terms

EXTERNALS = {"add", "sub", "mul", "div", "max", "exp"}
"""Functions of floats that texts call by name, ``float32.add``."""


@dataclass
class TermAlgebra:
    """`numbers[t]` is a term's number. Sums of floats begin with 0 and go from index 0 up, as texts have it:
    the IR says no order."""

    terms: Terms
    numbers: dict[Term, str] = field(default_factory=dict)

    def leaf(self, term: Term, of: str) -> Term:
        self.numbers[term] = of
        return term

    def apply(self, function: str, *arguments: Any) -> Term:
        head, _, rest = function.partition(":")
        if head == "literal":
            of, _, text = rest.partition(":")
            return self.leaf(self.terms.const(int(number(of).parse(text).reshape(()))), of)
        if head == "convert":
            return self._convert(arguments[0], rest)
        of = self.numbers[arguments[0]]
        if number(of).kind != "float" or function not in EXTERNALS:
            raise GraphError(f"{function} of {of} has no term")
        return self.leaf(self.terms.make("call", f"{of}.{function}", *arguments), of)

    def _convert(self, value: Term, target: str) -> Term:
        source = self.numbers[value]
        if source == target:
            return value
        if (source, target) not in (("bfloat16", "float32"), ("float32", "bfloat16")):
            raise GraphError(f"a conversion from {source} to {target} has no term")
        return self.leaf(self.terms.make("call", f"{source}.to_{target}", value), target)

    def fold(self, function: str, count: Any, body: Callable[[Any], Any]) -> Term:
        found = None
        for index in range(count):
            made = body(index)
            if found is None and function == "add":
                found = self.leaf(self.terms.const(0), self.numbers[made])
            found = made if found is None else self.apply(function, found, made)
        assert found is not None
        return found

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
    leaves: Sequence[Mapping[tuple[int, ...], Term]]
    made: dict[tuple[int, tuple[int, ...]], Term] = field(default_factory=dict)

    def at(self, node: Node, place: tuple[int, ...]) -> Term:
        if node.op == "parameter":
            return self.leaves[int(str(node.attributes["name"]))][place]
        key = id(node), place
        if key not in self.made:
            reads = [lambda at, one=one: self.at(one, tuple(at)) for one in node.operands]
            types = [one.type for one in node.operands]
            self.made[key] = OPS[node.op].element(self.algebra, reads, place, types, node.attributes)
        return self.made[key]
