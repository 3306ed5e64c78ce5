"""Whether a form is its product: sampled elements of both, as sums of products of the operands' elements.

The rules that made the form are proved for all sizes; here nothing knows of rules. An element is computed by
what its operations say of elements, on symbols. Sums of integers have no order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from axiloom.base.errors import AxiloomError
from axiloom.graph.graph import Graph, GraphError, Node
from axiloom.graph.ops.composite import computed

SAMPLED = 16
"""Elements of a result at most, its first and last among them."""
FEWEST, TERMS = 4, 8_000
"""Long sums are compared in fewer elements: of so many products together, but no fewer than that."""
Term: TypeAlias = int
"""Equal terms have one number."""
ZERO = "literal", "0"


class FormFaultError(AxiloomError):
    """A form that is not its product: a fault of a rule or of the choice."""

    exit_code = 4


@dataclass
class Symbols:
    """An `Algebra` of terms: products of two in one order, sums as what they add up, sorted."""

    numbers: dict[tuple[Any, ...], Term] = field(default_factory=dict)
    sums: dict[Term, tuple[Term, ...]] = field(default_factory=dict)
    """What those add up that are sums."""

    def __post_init__(self) -> None:
        self.zero = self.term(*ZERO)

    def term(self, *what: Any) -> Term:
        return self.numbers.setdefault(what, len(self.numbers))

    def apply(self, function: str, *arguments: Any) -> Term:
        head, _, rest = function.partition(":")
        if head == "literal":
            return self.term("literal", rest.partition(":")[2])
        if head == "convert":
            (of,) = arguments
            return self.zero if of == self.zero else self.term("convert", rest, of)
        if head == "mul":
            return self.zero if self.zero in arguments else self.term("mul", *sorted(arguments))
        if head == "add":
            return self._sum(arguments)
        return self.term(function, *arguments)

    def fold(self, function: str, count: Any, body: Callable[[int], Any]) -> Term:
        if function != "add":
            raise GraphError(f"a fold by {function} has no terms here")
        return self._sum([body(index) for index in range(count)])

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if condition else no()

    def scan(self, *_: Any) -> Any:
        raise GraphError("steps have no terms here")

    def _sum(self, terms: Sequence[Term]) -> Term:
        """Zeros add nothing."""
        parts: list[Term] = []
        for term in terms:
            if term != self.zero:
                parts += self.sums.get(term, (term,))
        if len(parts) == 1:
            return parts[0]
        parts.sort()
        total = self.term("sum", *parts)
        self.sums[total] = tuple(parts)
        return total


def is_same(product: Graph, form: Graph) -> bool:
    """Whether a form is the product as it stands, node by node."""

    def alike(node: Node, other: Node) -> bool:
        return (
            (node.op, dict(node.attributes), node.type) == (other.op, dict(other.attributes), other.type)
            and len(node.operands) == len(other.operands)
            and all(map(alike, node.operands, other.operands))
        )

    return alike(product.results[0], form.results[0])


def check(product: Graph, form: Graph, seed: int = 0) -> int:
    """How many elements were compared. Raises FormFaultError with the first that differs."""
    shape = product.results[0].type.shape
    if form.results[0].type != product.results[0].type:
        raise FormFaultError(
            f"{product.name}: a form is {form.results[0].type}, not {product.results[0].type}"
        )
    rng = np.random.default_rng(seed)
    algebra = Symbols()
    count = int(np.prod(shape, dtype=np.int64))
    first = _element(algebra, product.results[0], (0,) * len(shape))
    terms = 1 + len(algebra.sums.get(first, ()))
    sampled = min(SAMPLED, max(FEWEST, TERMS // terms))
    chosen = {0, count - 1, *(int(integer) for integer in rng.integers(0, count, sampled - 2))}
    for flat in sorted(chosen):
        at = tuple(int(i) for i in np.unravel_index(flat, shape))
        if _element(algebra, product.results[0], at) != _element(algebra, form.results[0], at):
            raise FormFaultError(f"{product.name}: element {at} of a form is another one")
    return len(chosen)


def _element(algebra: Symbols, node: Node, at: Sequence[int]) -> Term:
    if node.op in ("parameter", "constant"):
        return algebra.term(node.op, str(node.attributes["name"]), *at)
    element: Term = computed(node, algebra, tuple(at), partial(_element, algebra))
    return element
