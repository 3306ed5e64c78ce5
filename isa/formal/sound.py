"""What is to be proved of any model: each claim is a formula that holds in every state, for every input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import z3

from axiloom.isa.formal.ila import Ila, Instruction


@dataclass(frozen=True)
class Claim:
    """`formula` holds for all values of its constants."""

    name: str
    text: str
    formula: z3.BoolRef


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
        enabled = z3.Or(*(one.decode for one in part.instructions))
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
    reset = [
        (model.states[name], z3.BitVecVal(value, model.states[name].sort()))
        for name, value in model.init.items()
    ]
    holds = z3.And(*model.invariants.values())
    for name, invariant in model.invariants.items():
        yield Claim(f"{name}: reset", "reset establishes it", z3.substitute(invariant, *reset))
        for one in model.everything():
            after = z3.substitute(invariant, *_pairs(model, one))
            text = f"{one.path} keeps it"
            yield Claim(f"{name}: {one.path}", text, z3.Implies(z3.And(holds, one.decode), after))


def progress_claims(model: Ila) -> Iterator[Claim]:
    """Every program ends: each of its steps makes its measures smaller, the first first, or ends it."""
    holds = z3.And(*model.invariants.values())
    for child in model.models():
        if child.parent is None:
            continue
        for one in child.instructions:
            pairs = _pairs(model, one)
            smaller: z3.BoolRef = z3.BoolVal(False)
            for measure in reversed(child.measures):
                after = z3.substitute(measure, *pairs)
                smaller = z3.Or(z3.ULT(after, measure), z3.And(after == measure, smaller))
            ends = z3.Not(z3.substitute(child.valid, *pairs))
            yield Claim(
                f"{one.path}: ends",
                "the step makes what is left smaller, or ends the program",
                z3.Implies(z3.And(holds, one.decode), z3.Or(smaller, ends)),
            )


def _pairs(model: Ila, one: Instruction) -> list[tuple[Any, Any]]:
    return [(model.states[name], term) for name, term in one.updates.items()]


def claims(model: Ila) -> list[Claim]:
    """All of them."""
    return [*decode_claims(model), *invariant_claims(model), *progress_claims(model)]
