"""Counter-examples by random data: found at once where solvers would multiply bit by bit."""

from __future__ import annotations

import random
from typing import Any

import z3

from axiloom.isa.formal.graph import postorder

TRIES = 4


def counter_example(formula: z3.BoolRef, tries: int = TRIES, seed: int = 1) -> dict[str, str]:
    """Values of its constants for which it does not hold; empty where none of a few random ones is such."""
    source = random.Random(seed)
    constants = [one for one in postorder([formula]) if z3.is_bv(one) and _free(one)]
    for _ in range(tries):
        pairs: list[tuple[Any, Any]] = [
            (constant, z3.BitVecVal(source.getrandbits(constant.size()), constant.size()))
            for constant in constants
        ]
        if z3.is_false(z3.simplify(z3.substitute(formula, *pairs))):
            return {str(one): str(value) for one, value in pairs}
    return {}


def _free(term: Any) -> bool:
    return bool(z3.is_const(term)) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED
