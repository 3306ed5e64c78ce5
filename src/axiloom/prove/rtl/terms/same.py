"""Whether terms of the RTL are those of the text, for all values of their constants.

First they are asked about in a short form: functions of a byte by their tables
(:mod:`~axiloom.prove.rtl.terms.tables`), sums of products as whole numbers
(:mod:`~axiloom.prove.rtl.terms.sums`). Both forget what a function or a product is, so of their answers only
"they are equal" is believed. The rest is asked about as it is, with its products: numbers are drawn, then the
solvers have their time.
Numbers of a solver are put in both terms again: if these do not differ then, nothing was decided.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import z3

from axiloom.isa.formal import code
from axiloom.prove import solvers
from axiloom.prove.rtl.terms.machine import walk, with_products
from axiloom.prove.rtl.terms.sums import Sums
from axiloom.prove.rtl.terms.tables import Tables

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
    not; `values`: of constants, few of them other than 0, that show it, if terms have values."""

    holds: bool | None
    solver: str
    place: int = 0
    values: Values | None = None
    certified: str = ""
    """Of equal ones: who says so too."""


def said_of(pairs: Sequence[Pair], limit_s: int) -> Said:
    """`limit_s`: for each pair, in seconds."""
    left: dict[int, _AsTheyAre] = {}
    proofs: list[solvers.Said] = []
    for place, said in enumerate(_in_short(pairs)):
        if said.holds:
            proofs.append(said)
            continue
        left[place] = whole = _AsTheyAre(*pairs[place])
        if values := whole.drawn():
            return Said(False, "drawn numbers", place, values)
    solver = "z3"
    said_of_left = solvers.decide([whole.ours == whole.theirs for whole in left.values()], limit_s)
    for (place, whole), said in zip(left.items(), said_of_left, strict=True):
        solver = said.solver
        if said.holds:
            proofs.append(said)
            continue
        if said.holds is None or not whole.has_values:
            return Said(said.holds, solver, place)
        values = {name: int(said.values.get(name, 0)) for name in whole.constants}
        if not whole.differs(values):
            return Said(None, solver, place)
        return Said(False, solver, place, whole.fewest(values))
    return Said(True, solver, certified=solvers.all_certified(proofs))


def _in_short(pairs: Sequence[Pair]) -> Iterator[solvers.Said]:
    tables = Tables()
    sums = Sums(tables.range_of)
    named = tables([term for pair in pairs for term in pair])
    short = sums([z3.simplify(with_products(term)) for term in named])
    formulas = [sums.holds_within(a == b) for a, b in zip(short[::2], short[1::2], strict=True)]
    return solvers.decide(formulas, SHORT_S)


class _AsTheyAre:
    """Two terms with their products."""

    def __init__(self, ours: Any, theirs: Any) -> None:
        self.ours, self.theirs = with_products(ours), theirs
        unknown = [node for node in walk([self.ours, theirs]) if _is_unknown(node)]
        self.constants = {node.decl().name(): node for node in unknown}
        self.has_values = not any(node.num_args() for node in unknown)

    def drawn(self) -> Values | None:
        """Numbers for which they differ; None: none that are drawn show it, or the terms have no values."""
        draws = self._draws() if self.has_values else ()
        return next((self.fewest(values) for values in draws if self.differs(values)), None)

    def fewest(self, values: Values) -> Values:
        """With 0 for each constant that does not matter."""
        found = dict(values)
        for name, value in values.items():
            found[name] = 0
            if not self.differs(found):
                found[name] = value
        return found

    @cached_property
    def differs(self) -> Callable[[Values], bool]:
        """Whether they do, for numbers of their constants."""
        made, (ours, theirs) = code.lines([self.ours, self.theirs], lambda name: f"C[{name!r}]")
        text = ["def differs(C):", *(f"    {line}" for line in made), f"    return ({ours}) != ({theirs})"]
        space: dict[str, Any] = {}
        exec(compile("\n".join(text), "<terms>", "exec"), space)  # our own text, of our own terms
        found: Callable[[Values], bool] = space["differs"]
        return found

    def _draws(self) -> Iterator[Values]:
        """All ones; then numbers of few bits, of many, and any."""
        bits = {
            name: constant.size() if z3.is_bv(constant) else 1 for name, constant in self.constants.items()
        }
        source = random.Random(0)
        yield {name: (1 << size) - 1 for name, size in bits.items()}
        for turn in range(DRAWS):
            values = {name: source.getrandbits(size) for name, size in bits.items()}
            if turn % 4 == 1:
                values = {name: value & source.getrandbits(bits[name]) for name, value in values.items()}
            elif turn % 4 == 2:
                values = {name: value | source.getrandbits(bits[name]) for name, value in values.items()}
            yield values


def _is_unknown(node: Any) -> bool:
    return bool(z3.is_app(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED)
