"""`place`: order and addresses for a cover: by constraints where they say yes, else with values put aside.

`allocate` orders the instructions that were chosen and loads again what is in the host's memory. Where that
does not fit, or there are too many instructions for a proof, `with_spills` goes through them one by
one and stores what has no room.

A refusal's reason is found when it is read. Which memory is too small, and by how much, takes several
searches. A program that puts values aside does not wait for that; the command line asks, and waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.errors import CompileError
from axiloom.selection.allocate import Memory, Placed, Plan, Problem, Refusal, Step, Value, allocate
from axiloom.selection.compile.cover import Cell, Cover, Made
from axiloom.selection.compile.spill import with_spills
from axiloom.selection.compile.steps import Do, base_cells
from axiloom.selection.compile.target import Target

SECONDS = 0.15
"""For each question to a solver. What was found then is used, and the bound is said."""

EXACT_STEPS = 40
"""Of more, no solver says more in a time that one waits for."""


@dataclass(frozen=True)
class Placement:
    """`refusal`: the chosen instructions alone do not do, and values were put aside. `bound`: cycles
    below which no order of them is; 0 where nobody knows."""

    steps: tuple[Do, ...]
    cycles: int
    bound: int
    refusal: Refusal | None = None

    @property
    def refused(self) -> str:
        """Why values were put aside: found when it is first read, since it may take longer than the rest."""
        return "" if self.refusal is None else _said(self.refusal)


def place(cover: Cover, target: Target, *, seconds: float = SECONDS) -> Placement:
    """Raises CompileError for a value that no memory has room for."""
    problem, cells = problem_of(cover, target)
    if len(problem.steps) > EXACT_STEPS:
        seconds = 0.0
    outcome = allocate(problem, seconds=seconds, improve=seconds)
    if isinstance(outcome, Plan):
        steps = tuple(_do(step, cells[step.step.name], cover, target) for step in outcome.steps)
        return Placement(steps, outcome.cycles, outcome.bound)
    steps = with_spills(cover, target)
    cycles = sum(target.cycles(step.meaning) for step in steps)
    return Placement(steps, cycles, _least(cover, target), outcome)


def problem_of(cover: Cover, target: Target) -> tuple[Problem, dict[str, Cell]]:
    """The cover's instructions as steps, and which cell each makes: a step has the name of its result."""
    device = {cell[1] for cell in cover.ways if cell[1] != target.host}
    stored = [cell for cell in cover.ways if cell[1] == target.host and isinstance(cover.ways[cell], Made)]
    memories = [Memory(name, target.size(name)) for name in sorted(device)]
    memories.append(Memory(target.host, max(1, len(stored))))
    values: list[Value] = []
    steps: list[Step] = []
    cells: dict[str, Cell] = {}
    for cell, way in cover.ways.items():
        if not isinstance(way, Made):
            continue
        if any(not operand.field for operand in way.meaning.operands):
            raise CompileError(
                f"{way.meaning.instruction} reads from a fixed address, and values are put anywhere"
            )
        cells[_name(cell)] = cell
        reads: dict[str, None] = {}
        for need in way.operands:
            for base in base_cells(cover, need):
                if isinstance(cover.ways[base], Made):
                    reads.setdefault(_name(base))
        inside = [need for need in way.operands if need[1] == cell[1] != target.host]
        kept = way.meaning.in_place
        place = {} if kept is None else {_name(cell): _name(way.operands[kept])}
        if cell[1] == target.host:
            values.append(Value(_name(cell), target.host, 1, at=stored.index(cell)))
        else:
            at = None if way.meaning.result.field or kept is not None else 0
            values.append(Value(_name(cell), cell[1], target.units(cell[1], way.meaning.result.type), at=at))
        cycles = target.cycles(way.meaning)
        apart = bool(inside) and kept is None
        again = not reads and cell[1] != target.host
        steps.append(Step(_name(cell), tuple(reads), (_name(cell),), cycles, "", place, apart, again))
    return Problem(tuple(memories), tuple(values), tuple(steps)), cells


def _do(placed: Placed, cell: Cell, cover: Cover, target: Target) -> Do:
    """Addresses of the host come from its layout."""
    way = cover.ways[cell]
    assert isinstance(way, Made)

    def at(cell: Cell) -> int | None:
        return None if cell[1] == target.host else placed.addresses[_name(cell)]

    return Do(way.meaning, way.operands, cell, tuple(map(at, way.operands)), at(cell))


def _least(cover: Cover, target: Target) -> int:
    return sum(target.cycles(way.meaning) for way in cover.ways.values() if isinstance(way, Made))


def _said(refusal: Refusal) -> str:
    return refusal.reason if refusal.proved else f"{refusal.reason} (not proved)"


def _name(cell: Cell) -> str:
    return f"{cell[0]}@{cell[1]}"
