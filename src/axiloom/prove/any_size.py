"""``axiloom prove mapping --any-size``: the commands compute the kernel, for all sizes that the mapping
allows."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from axiloom.isa.formal.any_size import AnySize, any_size
from axiloom.isa.formal.sound import Claim
from axiloom.isa.instructions.mappings import Mapped
from axiloom.prove import solvers
from axiloom.prove.spec import decided, verdict
from axiloom.prove.verdict import Answer, Verdict

QUICK_S = 10
"""Seconds a claim about any functions; what they leave open is asked of the functions that they are."""


def prove(mapped: Mapped, limit_s: int) -> Iterator[Verdict]:
    """The verdicts on the claims of `mapped`, which is read for any size. Raises SpecError for other
    forms."""
    proof, exact = any_size(mapped), dict[str, Claim]()
    quick = solvers.decide([claim.formula for claim in proof.claims], min(limit_s, QUICK_S))
    for number, (claim, said) in enumerate(zip(proof.claims, quick, strict=True), 1):
        if not said.holds:
            exact = exact or {claim.name: claim for claim in any_size(mapped, exact=True).claims}
            if claim.name in exact:
                claim = exact[claim.name]
                said = next(solvers.decide([claim.formula], limit_s))
        decided = verdict(mapped.name, claim, said)
        yield decided
        if decided.answer is Answer.VIOLATED:
            if left := len(proof.claims) - number:
                why = f"{left} more claims were not asked: this one is violated"
                yield Verdict(mapped.name, "", "others", why, "", Answer.OPEN, None, "", 0.0)
            return
    yield from _covered(mapped.name, proof, limit_s)


def _covered(name: str, proof: AnySize, limit_s: int) -> Iterator[Verdict]:
    """Each step of the program must be able to come: else its claims say nothing."""
    never = [Claim(cover.name, cover.name, z3.Not(cover.formula), cover=True) for cover in proof.covers]
    yield from decided(name, never, limit_s)


def sizes_of(mapped: Mapped) -> str:
    """``T=2..64 V=1..32``."""
    return " ".join(
        f"{size.name}={size.least}..{size.most}" + (f" by {size.multiple}" if size.multiple > 1 else "")
        for size in mapped.sizes.values()
    )
