"""Whether terms of the RTL are those of the text, for all values of their constants.

First they are asked about in a short form: functions of a byte by their tables
(:mod:`~axiloom.prove.rtl.tables`), sums of products as whole numbers (:mod:`~axiloom.prove.rtl.sums`). Both
forget what a function or a product is, so only "they are equal" is believed of it. What is left is asked about
as it is, with its products: numbers are drawn, then the solvers have their time. Numbers for which two terms
are not equal are put in both again: if these do not differ then, nothing was decided.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.isa.formal import code
from axiloom.prove import solvers
from axiloom.prove.rtl.machine import walk, with_products
from axiloom.prove.rtl.sums import Sums
from axiloom.prove.rtl.tables import Tables

SHORT_S = 10
"""For the short form: what it does not show soon, it does not show."""
DRAWS = 32
"""Of numbers for all constants."""

Pair = tuple[Any, Any]
"""A term of the RTL and one of the text, of as many bits."""
Values = Mapping[str, int]
"""Of constants, by name."""


@dataclass(frozen=True)
class Said:
    """Of pairs: are they all equal (None: nobody knows), who says so. If not, `place`: of the first that is
    not; if that has values, those of its constants, and of its two terms then."""

    holds: bool | None
    solver: str
    place: int = 0
    values: Values | None = None
    ours: int = 0
    theirs: int = 0


def said_of(pairs: Sequence[Pair], limit_s: int) -> Said:
    """`limit_s`: for each pair, in seconds."""
    left = [place for place, said in enumerate(_in_short(pairs)) if not said.holds]
    if not left:
        return Said(True, "z3")
    pairs = [(with_products(ours), theirs) for ours, theirs in pairs]
    known = [place for place in left if not _has_functions(pairs[place])]
    evaluate = _evaluated([pairs[place] for place in known])
    for values in _drawn(pairs[place] for place in known):
        for place, (ours, theirs) in zip(known, evaluate(values), strict=True):
            if ours != theirs:
                return Said(False, "drawn numbers", place, values, ours, theirs)
    solver = "z3"
    formulas = [pairs[place][0] == pairs[place][1] for place in left]
    for place, said in zip(left, solvers.decide(formulas, limit_s), strict=True):
        solver = said.solver
        if said.holds:
            continue
        if said.holds is None or place not in known:
            return Said(said.holds, solver, place)
        values = {name: int(said.values.get(name, 0)) for name in _constants([pairs[place]])}
        ((ours, theirs),) = _evaluated([pairs[place]])(values)
        return Said(False if ours != theirs else None, solver, place, values, ours, theirs)
    return Said(True, solver)


def _in_short(pairs: Sequence[Pair]) -> Iterator[solvers.Said]:
    tables = Tables()
    sums = Sums(tables.range_of)
    named = tables([term for pair in pairs for term in pair])
    short = sums([z3.simplify(with_products(term)) for term in named])
    formulas = [sums.holds_within(a == b) for a, b in zip(short[::2], short[1::2], strict=True)]
    return solvers.decide(formulas, SHORT_S)


def _evaluated(pairs: Sequence[Pair]) -> Callable[[Values], Sequence[tuple[int, int]]]:
    """Numbers of constants to those of the terms."""
    made, values = code.lines([term for pair in pairs for term in pair], lambda name: f"C[{name!r}]")
    both = zip(values[::2], values[1::2], strict=True)
    text = ["def evaluate(C):", *(f"    {line}" for line in made)]
    text.append(f"    return [{', '.join(f'({one}, {other})' for one, other in both)}]")
    space: dict[str, Any] = {}
    exec(compile("\n".join(text), "<pairs>", "exec"), space)  # our own text, of our own terms
    evaluate: Callable[[Values], Sequence[tuple[int, int]]] = space["evaluate"]
    return evaluate


def _drawn(pairs: Iterable[Pair]) -> Iterator[Values]:
    """Numbers of few bits, of many, and any."""
    bits = {name: one.size() if z3.is_bv(one) else 1 for name, one in _constants(pairs).items()}
    source = random.Random(0)
    for turn in range(DRAWS if bits else 0):
        values = {name: source.getrandbits(size) for name, size in bits.items()}
        if turn % 4 == 1:
            values = {name: value & source.getrandbits(bits[name]) for name, value in values.items()}
        elif turn % 4 == 2:
            values = {name: value | source.getrandbits(bits[name]) for name, value in values.items()}
        yield values


def _constants(pairs: Iterable[Pair]) -> Mapping[str, Any]:
    nodes = walk(term for pair in pairs for term in pair)
    return {node.decl().name(): node for node in nodes if _is_unknown(node)}


def _has_functions(pair: Pair) -> bool:
    return any(_is_unknown(node) and node.num_args() for node in walk(pair))


def _is_unknown(node: Any) -> bool:
    return bool(z3.is_app(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED)
