"""What is to be proved of any model: each claim is a formula that holds in every state, for every input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import z3

from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.ila import Ila, Instruction, Term


@dataclass(frozen=True)
class Claim:
    """`formula` holds for all values of its constants."""

    name: str
    text: str
    formula: z3.BoolRef
    kind: str = ""
    """What it belongs to, in a few words."""
    cover: bool = False
    """`formula` says that something never happens; that it happens is wanted."""
    needed: bool = True
    """Of a cover: that it never happens is a fault."""


def decode_claims(model: Ila) -> Iterator[Claim]:
    """At most one instruction is enabled at a time, and at least one where the model is valid."""
    for part in model.models():
        if not part.instructions:
            continue
        for one, other in combinations(part.instructions, 2):
            yield Claim(
                f"{part.name}: {one.name}, {other.name}",
                f"{one.name} and {other.name} are never enabled at once",
                z3.Not(z3.And(one.decode, other.decode)),
            )
        enabled = z3.Or(*(instruction.decode for instruction in part.instructions))
        text = "where it is valid, one of its instructions is enabled"
        yield Claim(f"{part.name}: complete", text, z3.Implies(part.valid, enabled))
    for parent in model.models():
        for left, right in combinations(parent.children, 2):
            yield Claim(
                f"{left.name}, {right.name}",
                "two programs never run at once",
                z3.Not(z3.And(left.valid, right.valid)),
            )


def invariant_claims(model: Ila) -> Iterator[Claim]:
    """Reset establishes the invariants, and every instruction keeps them."""
    reset = [(model.states[name], value) for name, value in model.reset().items()]
    holds = z3.And(*model.invariants.values())
    for name, invariant in model.invariants.items():
        yield Claim(f"{name}: reset", "reset establishes it", z3.substitute(invariant, *reset))
        for one in model.everything():
            after = z3.substitute(invariant, *_pairs(model, one))
            text = f"{one.path} keeps it"
            yield Claim(f"{name}: {one.path}", text, z3.Implies(z3.And(holds, one.decode), after))


def progress_claims(model: Ila) -> Iterator[Claim]:
    """What a command starts ends: a step of a program makes what is left smaller, or ends all of them.

    What is left is the model's measures and then the program's, the first first.
    """
    holds = z3.And(*model.invariants.values())
    programs = [child for child in model.models() if child.parent is not None]
    for child in programs:
        for instruction in child.instructions:
            pairs = _pairs(model, instruction)
            smaller: z3.BoolRef = z3.BoolVal(False)
            for measure in reversed([*model.measures, *child.measures]):
                after = z3.substitute(measure, *pairs)
                smaller = z3.Or(z3.ULT(after, measure), z3.And(after == measure, smaller))
            ends = z3.Not(z3.Or(*(z3.substitute(other.valid, *pairs) for other in programs)))
            yield Claim(
                f"{instruction.path}: ends",
                "the step makes what is left smaller, or no program runs after it",
                z3.Implies(z3.And(holds, instruction.decode), z3.Or(smaller, ends)),
            )


def lemma_claims(model: Ila) -> Iterator[Claim]:
    """What holds whatever the state is."""
    for name, formula in model.lemmas.items():
        yield Claim(name, "it holds of all sizes", formula)


def opaque(formulas: Sequence[z3.BoolRef]) -> list[z3.BoolRef]:
    """The same with unknown functions in the place of products of two unknowns.

    If one holds, so does the formula, and most claims need no more of a product than that it is one value.
    """
    made: dict[int, Term] = {}
    for term in postorder(formulas):
        number, children = term.get_id(), term.children()
        new = [made[child.get_id()] for child in children]
        unknown = sum(not z3.is_bv_value(child) for child in children)
        if unknown > 1 and z3.is_app_of(term, z3.Z3_OP_BMUL):
            sorts = [child.sort() for child in (*new, term)]
            made[number] = z3.Function(f"times_{len(new)}_{term.size()}", *sorts)(*new)
        elif all(
            one is child or one.get_id() == child.get_id() for one, child in zip(new, children, strict=True)
        ):
            made[number] = term
        else:
            made[number] = term.decl()(*new)
    return [made[formula.get_id()] for formula in formulas]


def _pairs(model: Ila, instruction: Instruction) -> list[tuple[Any, Any]]:
    return [(model.states[name], term) for name, term in instruction.updates.items()]


def claims(model: Ila) -> list[Claim]:
    """All of them."""
    kinds = {
        "decode": decode_claims(model),
        "invariants": invariant_claims(model),
        "every instruction ends": progress_claims(model),
        "layouts": lemma_claims(model),
    }
    return [replace(claim, kind=kind) for kind, some in kinds.items() for claim in some]
