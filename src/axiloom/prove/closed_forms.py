"""What each instruction computes as a whole: read off the text, and proved of the model's steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from axiloom.isa.formal.meaning import Form, NoFormError, Proof, forms, proof
from axiloom.isa.formal.programs import model_of
from axiloom.isa.formal.values import PRODUCTS
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove import solvers
from axiloom.prove.verdict import Answer, Verdict

LIMIT_S = 10
"""Of a claim. Whether two turns of a loop meet is a product of unknown sizes for some: it is not waited
for."""


@dataclass(frozen=True)
class ClosedForm:
    """A form of an instruction, proved or not (`why`), or no form (`form` is None)."""

    instruction: str
    form: Form | None
    why: str = ""
    seconds: float = 0.0
    solver: str = ""
    certified: str = ""
    """Who has checked the proof."""

    @property
    def proved(self) -> bool:
        return self.form is not None and not self.why


def closed_forms(source: InstructionSet, limit_s: int = LIMIT_S) -> Iterator[ClosedForm]:
    """The forms of each instruction, as they are proved."""
    model = model_of(source, opaque=(PRODUCTS,))
    for instruction in source.instructions.values():
        try:
            for form in forms(instruction):
                yield _decided(form, proof(model, form), limit_s)
        except NoFormError as why:
            yield ClosedForm(instruction.name, None, str(why))


def _decided(form: Form, what: Proof, limit_s: int) -> ClosedForm:
    name, seconds = form.instruction.name, 0.0
    proofs: list[solvers.Said] = []
    formulas = [claim.formula for claim in what.claims]
    for claim, said in zip(what.claims, solvers.decide(formulas, limit_s), strict=True):
        seconds += said.seconds
        proofs.append(said)
        if said.holds is not True:
            meets = "another turn may write this element or what it is made of"
            why = meets if said.holds is False else f"whether turns meet is not decided in {limit_s} s"
            return ClosedForm(name, form, f"{why} ({claim.name})", seconds, said.solver)
    covers = [z3.Not(cover.formula) for cover in what.covers]
    for cover, said in zip(what.covers, solvers.decide(covers, limit_s), strict=True):
        seconds += said.seconds
        if said.holds is not False:
            why = "it never happens" if said.holds else f"whether it happens is not decided in {limit_s} s"
            return ClosedForm(name, form, f"{why}: {cover.name}", seconds, said.solver)
    names = ", ".join(sorted({said.solver for said in proofs}))
    return ClosedForm(name, form, "", seconds, names, solvers.all_certified(proofs))


def verdicts(source: InstructionSet, limit_s: int = LIMIT_S) -> Iterator[Verdict]:
    """A line for each form; an instruction without one is no fault."""
    for result in closed_forms(source, limit_s):
        name = f"{result.instruction}: closed form"
        if result.proved:
            yield Verdict(
                source.name, "", name, str(result.form), "", Answer.HOLDS, None, result.solver,
                result.seconds, certified=result.certified,
            )  # fmt: skip
        else:
            text = f"{result.form}: {result.why}" if result.form else result.why
            yield Verdict(
                source.name,
                "",
                name,
                text,
                "",
                Answer.NEVER,
                None,
                result.solver,
                result.seconds,
                needed=False,
            )
