"""``axiloom prove mapping --any-size``: the commands compute the kernel, for all sizes that the mapping
allows."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from axiloom.isa.formal.any_size import AnySize, any_size
from axiloom.isa.instructions.mappings import Mapped
from axiloom.prove import solvers
from axiloom.prove.spec import decided
from axiloom.prove.verdict import Answer, Verdict

QUICK_S = 10
"""Seconds a claim about any functions; what they leave open is asked of the functions that they are."""


def prove(mapped: Mapped, limit_s: int) -> Iterator[Verdict]:
    """The verdicts on the claims of `mapped`, which is read for any size. Raises SpecError for other
    forms."""
    made = any_size(mapped)
    found = list(decided(mapped.name, made.claims, min(limit_s, QUICK_S)))
    if not all(one.good for one in found):
        made = any_size(mapped, exact=True)
        found = list(decided(mapped.name, made.claims, limit_s))
    yield from found
    yield from _covered(mapped.name, made, limit_s)


def _covered(name: str, made: AnySize, limit_s: int) -> Iterator[Verdict]:
    """Each step of the program must be able to come: else its claims say nothing."""
    formulas = [z3.Not(one.formula) for one in made.covers]
    for cover, said in zip(made.covers, solvers.decide(formulas, limit_s), strict=True):
        answer = {None: Answer.OPEN, True: Answer.NEVER, False: Answer.SEEN}[said.holds]
        yield Verdict(name, "", cover.name, cover.name, "", answer, None, said.solver, said.seconds)


def sizes_of(mapped: Mapped) -> str:
    """``T=2..64 V=1..32``."""
    return " ".join(
        f"{one.name}={one.least}..{one.most}" + (f" by {one.multiple}" if one.multiple > 1 else "")
        for one in mapped.sizes.values()
    )
