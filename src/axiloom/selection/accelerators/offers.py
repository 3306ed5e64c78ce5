"""Kernels in a saturated graph: each match is one more way to make its class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from axiloom.selection.egraph.saturated import ENode, Saturated
from axiloom.selection.rules.match import Matcher
from axiloom.selection.rules.rule import Pattern, Term, Var, terms, variables

Bound = dict[Pattern, tuple[int, ENode | None]]
"""Parts of a pattern to a class, and of terms to the node in it."""


def matches(saturated: Saturated, matcher: Matcher, number: int) -> Iterator[tuple[int, ...]]:
    """Classes of the tensors of a kernel's pattern, for each way in which it matches a class."""
    pattern = matcher.rule.old
    names, parts = variables(pattern), tuple(terms(pattern))
    for bound in _matched(saturated, pattern, number, {}):
        operands = {name: bound[Var(name)][0] for name in names}
        attributes = tuple(_attributes(bound, part) for part in parts)
        types = {name: saturated.types[operand] for name, operand in operands.items()}
        if next(matcher.match(types, attributes), None) is not None:
            yield tuple(operands.values())


def _attributes(bound: Bound, part: Term) -> Mapping[str, object]:
    node = bound[part][1]
    assert node is not None
    return node.given


def _matched(saturated: Saturated, pattern: Pattern, number: int, bound: Bound) -> Iterator[Bound]:
    """What a pattern's parts can be, if its root is this class."""
    if pattern in bound:
        if bound[pattern][0] == number:
            yield bound
        return
    if isinstance(pattern, Var):
        yield {**bound, pattern: (number, None)}
        return
    for node in saturated.classes[number]:
        if node.op != pattern.op or len(node.operands) != len(pattern.operands):
            continue
        bindings = [{**bound, pattern: (number, node)}]
        for part, operand in zip(pattern.operands, node.operands, strict=True):
            bindings = [more for binding in bindings for more in _matched(saturated, part, operand, binding)]
        yield from bindings
