"""`validate`: a program against its application: element by element without numbers, then on numbers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.ir.graph import Graph
from axiloom.selection.machine.derive import Meanings
from axiloom.selection.program.program import Program
from axiloom.selection.validate.numbers import Compared, compare_numbers
from axiloom.selection.validate.replay import ProgramFaultError, replay

__all__ = ["ProgramFaultError", "Verdict", "validate"]


@dataclass(frozen=True)
class Verdict:
    """`exact`: the same functions of the same elements, for all inputs; else the same in real numbers."""

    exact: bool
    numbers: Compared
    seconds: float

    def __str__(self) -> str:
        sense = "equal for all inputs" if self.exact else "equal in real numbers for all inputs"
        if self.numbers.equal:
            seen = "bit for bit on random ones"
        else:
            seen = f"within {self.numbers.difference:.3g} on random ones ({self.numbers.allowed:.3g} allowed)"
        return f"{sense}, {seen}"


def validate(
    program: Program, graph: Graph, isa: InstructionSet, meanings: Meanings, *, seed: int = 0
) -> Verdict:
    """Raises ProgramFaultError, which names the first command or element that is wrong."""
    begun = time.perf_counter()
    reals = replay(program, graph, meanings)
    compared = compare_numbers(program, graph, isa, seed)
    return Verdict(not reals, compared, time.perf_counter() - begun)
