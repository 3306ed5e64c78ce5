"""Tokens: which iterations of a statement wait for which of another, as few and as fine as isl can say.

For each iteration of the later statement isl gives the latest iteration of the earlier one that it needs. An
iteration that needs no more than those before it did needs no token. What is left maps one to one, and
upwards: the n-th of these waits for the n-th of what they need. ::

    for i, k, l: tmp[i][k] += A[i][l] * B[l][k]         after (i, k, last l)
    for i, j, k: D[i][j] += tmp[i][k] * C[k][j]         before (i, j = 0, k)

Where that takes too many conditions, iterations of the inner loops are taken together, the innermost first;
at the last, the first iteration waits for the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import islpy as isl

from axiloom.nests.dataflow.iterations import Visits, forms
from axiloom.nests.poly.dependences import Dependence
from axiloom.nests.poly.sets import domain
from axiloom.nests.schedule.plan import Edge

MOST_PAIRS = 4
"""Pairs of conditions between two statements, each of which takes a FIFO of tokens."""


@dataclass(frozen=True)
class Wait:
    """The n-th iteration at `before` waits for the n-th at `after`; there are `tokens` of both. `level` is
    the number of outer loops of the later statement that are told apart."""

    after: Edge
    before: Edge
    tokens: int
    level: int


def conflicts(earlier: Visits, later: Visits, dependences: Iterable[Dependence]) -> isl.Map | None:
    """Iterations of `later` to those of `earlier` that they depend on by any of `dependences`; None if there
    are none. Dependences that others imply, by transitivity, are kept by those."""
    total: isl.Map | None = None
    for dependence in dependences:
        if dependence.source.name == earlier.name and dependence.sink.name == later.name:
            pairs = later.iteration_to_instance.apply_range(dependence.pairs.reverse())
            pairs = pairs.apply_range(earlier.iteration_to_instance.reverse())
            total = pairs if total is None else total.union(pairs)
    return None if total is None or total.is_empty() else total.coalesce()


def waits(earlier: Visits, later: Visits, pairs: isl.Map) -> list[Wait]:
    """The waits that keep `pairs`, as :func:`conflicts` gives them."""
    for level in range(len(later.loops), 0, -1):
        try:
            candidates = _at(earlier, later, pairs, level)
        except ValueError:
            continue
        if len(candidates) <= MOST_PAIRS:
            return candidates
    return [end_to_start(earlier, later, pairs)]


def end_to_start(earlier: Visits, later: Visits, pairs: isl.Map) -> Wait:
    """The first iteration of `later` with a partner waits for the last of `earlier` with one."""
    first, last = pairs.domain().lexmin(), pairs.range().lexmax()
    (before,) = forms(first, later.loops, later.iterations)
    (after,) = forms(last, earlier.loops, earlier.iterations)
    return Wait(Edge(earlier.name, after), Edge(later.name, before), 1, 0)


def needs(pairs: isl.Map, level: int) -> tuple[isl.Map, isl.Map]:
    """From the first `level` loops of the later statement, where more is needed than before: the latest
    iteration needed, and the first iteration with a partner."""
    depth = pairs.dim(isl.dim_type.in_)
    by_prefix = pairs.project_out(isl.dim_type.in_, level, depth - level)
    latest = by_prefix.lexmax().coalesce()
    above = isl.Map.lex_le(latest.range().get_space())
    enough = latest.apply_range(above).apply_range(latest.reverse())
    enough = enough.intersect(isl.Map.lex_gt(latest.domain().get_space()))
    new = latest.domain().subtract(enough.domain()).coalesce()
    keep = pairs.domain()
    prefix = isl.Map.identity(keep.get_space().map_from_set())
    prefix = prefix.intersect_domain(keep).project_out(isl.dim_type.in_, level, depth - level)
    return latest.intersect_domain(new), prefix.lexmin().intersect_domain(new)


def _at(earlier: Visits, later: Visits, pairs: isl.Map, level: int) -> list[Wait]:
    latest, first = needs(pairs, level)
    both = first.reverse().apply_range(latest)  # iterations of `later` to those of `earlier`, one to one
    candidates = []
    for before in forms(both.domain(), later.loops, later.iterations):
        part = domain(later.loops, before).intersect(both.domain())
        needed = both.intersect_domain(part).range()
        for after in forms(needed, earlier.loops, earlier.iterations):
            these = domain(earlier.loops, after).intersect(needed)
            mine = both.intersect_range(these).intersect_domain(part).domain()
            tokens = int(these.count_val().to_python())
            for exact in forms(mine, later.loops, later.iterations):
                candidates.append((after, exact, tokens, these))
    if len({after for after, *_ in candidates}) < len(candidates):
        raise ValueError("a part that is needed is needed in several parts")
    return [
        Wait(Edge(earlier.name, after), Edge(later.name, before), tokens, level)
        for after, before, tokens, _ in candidates
    ]
