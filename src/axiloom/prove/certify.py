"""Proofs without a bound, checked by a solver that has not made them: CaDiCaL, by python-sat.

A proof is an invariant: clauses over registers that hold at the start, that a cycle keeps, and with which the
output is low. Each of the three is a question to the solver. The file of gates and what was made of it are
shared with the prover; how it found the invariant does not matter.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from axiloom.base import extras
from axiloom.base.errors import BuildError
from axiloom.prove.aiger import Aiger

SOLVER = "cadical195"

Cube = tuple[tuple[int, bool], ...]
"""Registers by their numbers, each with its value: states that are never reached."""


def solver(name: str = SOLVER) -> Any:
    """An empty one. Raises BuildError with the command that installs it."""
    try:
        from pysat.solvers import Solver
    except ModuleNotFoundError:
        raise BuildError(f"python-sat is not installed: {extras.install('prove')}") from None
    return Solver(name=name)


def version() -> str:
    return f"python-sat {importlib.metadata.version('python-sat')}, {SOLVER}"


def cubes(file: Path) -> list[Cube] | None:
    """What ABC's `pdr -d` writes of a file whose latches are called ``r`` and a number; None: no proof."""
    names: list[int] = []
    cubes: list[Cube] = []
    complete = False
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(".ilb"):
            matches = [re.fullmatch(r"r(\d+)", word) for word in line.split()[1:]]
            if not all(matches):
                return None
            names = [int(match[1]) for match in matches if match]
        elif line.startswith("# Inductive invariant"):
            complete = True
        elif line and line[0] in "01-":
            word = line.split()[0] if names else ""
            cubes.append(tuple((names[i], bit == "1") for i, bit in enumerate(word) if bit != "-"))
    return cubes if complete else None


class Cycles:
    """Cycles of a circuit as clauses; `held` are the solver's literals of its registers in the next one."""

    def __init__(self, aiger: Aiger, *, begins: bool) -> None:
        """From the start, or from any state."""
        self._aiger, self._solver, self._last = aiger, solver(), 1
        self._solver.add_clause([1])  # the first variable is true
        self.held = [-1 if begins else self._new() for _ in aiger.latches]

    def _new(self) -> int:
        self._last += 1
        return self._last

    def cycle(self) -> list[int]:
        """One more, with any inputs: its outputs, and what registers hold behind it is `held` then."""
        values = [-1, *(self._new() for _ in range(self._aiger.inputs)), *self.held]

        def literal(number: int) -> int:
            return -values[number >> 1] if number & 1 else values[number >> 1]

        for a, b in self._aiger.gates:
            values.append(self.both(literal(a), literal(b)))
        self.held = [literal(number) for number in self._aiger.latches]
        return [literal(number) for number in self._aiger.outputs]

    def never(self, literals: Iterable[int]) -> None:
        """Not all of these together."""
        self._solver.add_clause([-literal for literal in literals])

    def both(self, first: int, second: int) -> int:
        """Logic beside it."""
        both = self._new()
        self._solver.append_formula([[-both, first], [-both, second], [both, -first, -second]])
        return both

    def any_of(self, conjunctions: Iterable[Iterable[int]]) -> int:
        """A literal where one of these is."""
        names = []
        for literals in conjunctions:
            names.append(self._new())
            for literal in literals:
                self._solver.add_clause([-names[-1], literal])
        which = self._new()
        self._solver.add_clause([-which, *names])
        return which

    def some(self, conjunctions: Iterable[Iterable[int]]) -> bool:
        """Can one of these be?"""
        return self.can(self.any_of(conjunctions))

    def can(self, literal: int) -> bool:
        """Can this be? Several are quicker asked for each by itself."""
        return bool(self._solver.solve(assumptions=[literal]))

    def __enter__(self) -> Cycles:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._solver.delete()


def invariant(aiger: Aiger, never: Sequence[Cube]) -> bool:
    """Is the one output of `aiger` low for ever, because these states are never reached?"""
    if not all(any(value for _, value in cube) for cube in never):
        return False  # all registers begin at 0

    def literals(held: Sequence[int], cube: Cube) -> list[int]:
        return [held[register] if value else -held[register] for register, value in cube]

    with Cycles(aiger, begins=False) as cycles:
        for cube in never:
            cycles.never(literals(cycles.held, cube))
        shown = cycles.cycle()
        return not cycles.some([shown]) and not cycles.some(literals(cycles.held, cube) for cube in never)


def induction(aiger: Aiger, count: int = 1) -> bool:
    """Are all outputs of `aiger` low for ever, by induction over so many cycles?"""
    with Cycles(aiger, begins=True) as cycles:
        if any(cycles.can(shown) for _ in range(count) for shown in cycles.cycle()):
            return False
    with Cycles(aiger, begins=False) as cycles:
        for _ in range(count):
            for shown in cycles.cycle():
                cycles.never([shown])
        return not any(cycles.can(shown) for shown in cycles.cycle())
