"""`validate`: a program against its application: element by element without numbers, then on numbers."""

from __future__ import annotations

import time

from axiloom.graph.graph import Graph
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.machine.derive import meanings_of
from axiloom.selection.program.program import Program
from axiloom.selection.validate.numbers import compare_numbers
from axiloom.selection.validate.replay import ProgramFaultError, replay
from axiloom.selection.validate.verdict import Verdict

__all__ = ["ProgramFaultError", "Verdict", "validate"]


def validate(program: Program, graph: Graph, isa: InstructionSet, *, seed: int = 0) -> Verdict:
    """By what this process derives of `isa`. Raises ProgramFaultError, which names the first command or
    element that is wrong."""
    begun = time.perf_counter()
    reals = replay(program, graph, meanings_of(isa))
    compared = compare_numbers(program, graph, isa, seed, exact=not reals)
    return Verdict(not reals, compared, time.perf_counter() - begun)
