"""A counter-example: shapes and values on which the two sides of a rule differ, by `evaluate`.

Nothing here knows of terms and proofs: both sides are built as graphs and computed with NumPy. Values come in
an order that gives small examples: numbers at which integers and floats turn first, alone; then random ones.
Sums of floats are of small integers, so that no order shows.
"""

from __future__ import annotations

import ast
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

import numpy as np

from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, GraphError, Node
from axiloom.graph.numbers import Array, number
from axiloom.graph.ops import Builder
from axiloom.selection.rules.expressions import Unsaid
from axiloom.selection.rules.make import build
from axiloom.selection.rules.prove.cases import NUMBERS, Case, bounds_of
from axiloom.selection.rules.prove.conditions import Dropped, Undecided
from axiloom.selection.rules.prove.context import Context
from axiloom.selection.rules.rule import Expr, Pattern, Rule, terms

EDGES = (0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65536, 2147483647)
MOST_ELEMENTS = 4096
ATTEMPTS = 5000
"""Most cases are none: sizes that do not go together."""
CASES = 60
FEW = 20
"""Cases of a rule that a proof then decides."""
RANDOM = 3
"""Random fillings of a case."""
LITERALS = 24
"""Numbers that a rule says, and what is next to them."""
MIXED = 64
"""Ways to give several tensors the integers that z3 has shown."""
PADS = {"convolution", "windows"}
UNSIGNED = {"maximum", "minimum", "clamp", "relu", "reduce", "reduce_window", "dense", "dot_general", *PADS}
"""Operations of which the IR does not say the sign of a zero: extremes, and sums in any order."""
SPECIAL = (-0.0, np.inf, -np.inf, np.nan, 0.0)


@dataclass(frozen=True)
class Counterexample:
    """How both sides differ. `line` says it all."""

    line: str


@dataclass(frozen=True)
class Searched:
    """`tried`: pairs of results that were the same."""

    counterexample: Counterexample | None
    tried: int


def search(rule: Rule, until: float, most: int = CASES, shown: Sequence[int] = ()) -> Searched:
    """Over the sizes that the rule states (or 1, 2, 3), at most so many cases, drawn from a seed; `shown` are
    integers that may refute it."""
    tried = cases = 0
    for seed in range(ATTEMPTS):
        if cases == most or time.monotonic() > until:
            break
        context = _Drawn(dice=random.Random(seed))
        numbers = NUMBERS[rule.sense]
        # Most operations want one number of all their operands.
        alike = (context.dice.choice(numbers),) if seed % 4 else None
        case = Case(rule, context, bounds_of(rule), alike)
        try:
            case.fill()
            counterexample, count = _compared(case, cases, shown)
            if counterexample is not None:
                return Searched(counterexample, tried)
            tried, cases = tried + count, cases + 1
        except (Dropped, Undecided, Unsaid):
            pass
    return Searched(None, tried)


@dataclass
class _Drawn(Context):
    """Of several ways any."""

    dice: random.Random = field(default_factory=random.Random)

    def pick(self, count: int) -> int:
        if not count:
            raise Dropped
        return self.dice.randrange(count)


def _compared(case: Case, seed: int, shown: Sequence[int]) -> tuple[Counterexample | None, int]:
    builder = Builder()
    leaves = {name: builder.leaf("parameter", name, type_) for name, type_ in case.tensors.items()}

    def side(pattern: Pattern) -> Node:
        node = build(
            pattern, case.env, leaves, lambda op, operands, with_: builder.op(op, *operands, **with_)
        )
        assert isinstance(node, Node)
        return node

    try:
        old = side(case.rule.old)
    except (GraphError, Unsaid):
        raise Dropped from None
    if old.type.elements > MOST_ELEMENTS:
        raise Dropped
    said = ", ".join(f"{name}: {leaf.type}" for name, leaf in leaves.items())
    attributes = ", ".join(
        f"{attribute.name} = {case.env[attribute.name]}" for attribute in case.rule.attributes
    )
    about = ", ".join(filter(None, (said, attributes)))
    try:
        new = side(case.rule.new)
    except (GraphError, Unsaid) as error:
        return Counterexample(f"{about}: the right side has no type: {error}"), 0
    if old.type != new.type:
        return Counterexample(f"{about}: {old.type} becomes {new.type}"), 0
    used = tuple(leaf for leaf in leaves.values())
    tried = 0
    for inputs in _inputs(case, leaves, seed, shown):
        left, right = (evaluate(Graph("side", used, (root,)), inputs)[0] for root in (old, new))
        tried += 1
        if not _same(case.rule, left, right, old.type.number):
            return Counterexample(_line(leaves, inputs, left, right, attributes)), tried
    return None, tried


def _inputs(
    case: Case, leaves: dict[str, Node], seed: int, shown: Sequence[int]
) -> Iterator[dict[str, Array]]:
    alike = ((edge,) * len(leaves) for edge in (*EDGES, *_literals(case.rule)))
    for edges in (*alike, *islice(product(shown, repeat=len(leaves)), MIXED)):
        pairs = [*zip(leaves.items(), edges, strict=True)]
        if all(_fits(leaf, edge) for (_, leaf), edge in pairs):
            yield {name: _filled(leaf, edge) for (name, leaf), edge in pairs}
    yield from _turning(case, leaves, seed)
    rng = np.random.default_rng(seed)
    for _ in range(RANDOM):
        yield {name: _random(rng, leaf) for name, leaf in leaves.items()}


def _fits(leaf: Node, edge: int) -> bool:
    of = number(leaf.type.number)
    return abs(edge) <= 256 if of.kind == "float" else of.lowest <= edge <= of.highest


def _filled(leaf: Node, edge: int) -> Array:
    of = number(leaf.type.number)
    return of.encode(np.full(leaf.type.shape, edge, of.values if of.kind != "float" else np.float64))


def _turning(case: Case, leaves: dict[str, Node], seed: int) -> Iterator[dict[str, Array]]:
    """Of integers the ends and what is next to them; of floats zeros of both signs, infinities and NaN: each
    alone, and mixed. What is larger would show in which order a sum is made."""
    rng = np.random.default_rng(seed)
    edges = {}
    for name, leaf in leaves.items():
        of = number(leaf.type.number)
        edges[name] = of.edges if of.kind != "float" else of.encode(np.array(SPECIAL))
    used = {term.op for side in (case.rule.old, case.rule.new) for term in terms(side)}
    # Of no real number; and the IR leaves out products with padding, where others have 0 * infinity.
    if case.rule.sense == "reals" or used & PADS:
        edges = {
            name: edge for name, edge in edges.items() if number(leaves[name].type.number).kind != "float"
        }
    if len(edges) != len(leaves):
        return
    for turn in range(max(map(len, edges.values()), default=0)):
        yield {
            name: np.full(leaf.type.shape, edges[name][turn % len(edges[name])])
            for name, leaf in leaves.items()
        }
    yield {name: rng.choice(edges[name], leaf.type.shape) for name, leaf in leaves.items()}


def _literals(rule: Rule) -> list[int]:
    """Numbers that the rule says, of both signs, and what is next to them."""
    exprs = [expr for side in (rule.old, rule.new) for term in terms(side) for _, expr in term.attributes]
    exprs += [step if isinstance(step, Expr) else step[1] for step in rule.steps]
    nodes = (node for expr in exprs for node in ast.walk(expr.tree))
    said = {node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is int}
    near = {sign * value + more for value in said for sign in (1, -1) for more in (-1, 0, 1)}
    return sorted(near - {*EDGES}, key=abs, reverse=True)[:LITERALS]


def _random(rng: np.random.Generator, leaf: Node) -> Array:
    of = number(leaf.type.number)
    if of.kind == "float":
        return of.encode(rng.integers(-4, 5, leaf.type.shape).astype(np.float64))
    if of.kind == "bool":
        return rng.integers(0, 2, leaf.type.shape).astype(np.bool_)
    info = np.iinfo(of.host)
    return rng.integers(info.min, info.max, leaf.type.shape, of.host, endpoint=True)


def _same(rule: Rule, left: Array, right: Array, name: str) -> bool:
    of = number(name)
    if of.kind != "float":
        return bool(np.array_equal(left, right))
    a, b = (of.decode(x).astype(np.float64) for x in (left, right))
    if rule.sense == "reals":
        near = 0.1 if of.narrow else 1e-3
        with np.errstate(all="ignore"):
            finite = np.isfinite(a) & np.isfinite(b)
            return bool(np.allclose(a[finite], b[finite], rtol=near, atol=near))
    if not np.array_equal(a, b, equal_nan=True):
        return False
    used = {term.op for side in (rule.old, rule.new) for term in terms(side)}
    return bool(used & UNSIGNED) or np.array_equal(np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b))


def _line(
    leaves: dict[str, Node], inputs: dict[str, Array], left: Array, right: Array, attributes: str
) -> str:
    at = np.unravel_index(int(np.argmax(left != right)), left.shape)
    tensors = [f"{name} = {_value(inputs[name])} ({leaf.type})" for name, leaf in leaves.items()]
    place = f" at {tuple(map(int, at))}" if left.ndim else ""
    about = ", ".join(filter(None, (*tensors, attributes)))
    return f"{about}: left {left[at]}, right {right[at]}{place}"


def _value(array: Array) -> str:
    if array.size and (array == array.flat[0]).all():
        return str(array.flat[0])
    text = str(array.tolist())
    return text if len(text) <= 120 else text[:117] + "..."
