"""Whether a form is its product: sampled elements of both, as sums of products of the operands' elements.

The rules that made the form are proved for all sizes; here nothing knows of rules. An element is computed by
what its operations say of elements, on symbols. Sums of integers have no order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.errors import AxiloomError
from axiloom.selection.ir.graph import Graph, GraphError, Node
from axiloom.selection.ir.ops import OPS

SAMPLED = 16
"""Elements of a result at most, its first and last among them."""
FEWEST, TERMS = 4, 8_000
"""Long sums are compared in fewer elements: of so many products together, but no fewer than that."""
Term = tuple[Any, ...]
ZERO = "0"


class FormFaultError(AxiloomError):
    """A form that is not its product: a fault of a rule or of the choice."""

    exit_code = 4


@dataclass(frozen=True)
class Symbols:
    """An `Algebra` of terms: products of two in one order, sums as what they add up, sorted."""

    def apply(self, function: str, *arguments: Any) -> Term:
        head, _, rest = function.partition(":")
        if head == "literal":
            return ("literal", rest.partition(":")[2])
        if head == "convert":
            (of,) = arguments
            return of if of == ("literal", ZERO) else ("convert", rest, of)
        if head == "mul":
            return (
                ("literal", ZERO) if ("literal", ZERO) in arguments else ("mul", *sorted(arguments, key=repr))
            )
        if head == "add":
            return _sum(arguments)
        return (function, *arguments)

    def fold(self, function: str, count: Any, body: Callable[[int], Any]) -> Term:
        if function != "add":
            raise GraphError(f"a fold by {function} has no terms here")
        return _sum([body(index) for index in range(count)])

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if condition else no()

    def scan(self, *_: Any) -> Any:
        raise GraphError("steps have no terms here")


def _sum(terms: Sequence[Term]) -> Term:
    """Zeros add nothing."""
    found: list[Term] = []
    for one in terms:
        found += one[1:] if one[0] == "sum" else () if one == ("literal", ZERO) else (one,)
    return ("sum", *sorted(found, key=repr)) if len(found) != 1 else found[0]


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
    terms = len(_element(algebra, product.results[0], (0,) * len(shape)))
    sampled = min(SAMPLED, max(FEWEST, TERMS // terms))
    chosen = {0, count - 1, *(int(one) for one in rng.integers(0, count, sampled - 2))}
    for flat in sorted(chosen):
        at = tuple(int(one) for one in np.unravel_index(flat, shape))
        if _element(algebra, product.results[0], at) != _element(algebra, form.results[0], at):
            raise FormFaultError(f"{product.name}: element {at} of a form is another one")
    return len(chosen)


def _element(algebra: Symbols, node: Node, at: Sequence[int]) -> Term:
    if node.op in ("parameter", "constant"):
        return (node.op, str(node.attributes["name"]), *at)
    reads = [lambda place, one=one: _element(algebra, one, place) for one in node.operands]
    types = [one.type for one in node.operands]
    found: Term = OPS[node.op].element(algebra, reads, tuple(at), types, node.attributes)
    return found
