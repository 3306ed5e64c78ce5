"""`place`: order and addresses for a cover: as they come where that fits, else with values put aside.

`allocate` orders the instructions that were chosen and loads again what is in the host's memory. Where that
does not fit, `with_spills` goes through them one by one and stores what has no room.

A refusal's reason is found when it is read. Which memory is too small, and by how much, takes several
searches. A program that puts values aside does not wait for that; the command line asks, and waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.errors import CompileError
from axiloom.selection.allocate import Executed, Memory, Plan, Problem, Refusal, Step, allocate
from axiloom.selection.compile.cover import Cell, Cover, Made
from axiloom.selection.compile.spill import with_spills
from axiloom.selection.compile.steps import Do, base_cells
from axiloom.selection.compile.target import Target


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


def place(cover: Cover, target: Target) -> Placement:
    """Raises CompileError for a value that no memory has room for."""
    problem, cells = problem_of(cover, target)
    outcome = allocate(problem)
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
        if kept is not None and _name(way.operands[kept]) not in reads:
            raise CompileError(f"{_name(cell)} cannot be in the place of {_name(way.operands[kept])}")
        stores = cell[1] == target.host
        fixed = 0 if not way.meaning.result.field and kept is None else None
        steps.append(
            Step(
                _name(cell),
                tuple(reads),
                cell[1],
                1 if stores else target.units(cell[1], way.meaning.result.type),
                target.cycles(way.meaning),
                at=stored.index(cell) if stores else fixed,
                in_place="" if kept is None else _name(way.operands[kept]),
                apart=bool(inside) and kept is None,
                again=not reads and not stores,
            )
        )
    return Problem(tuple(memories), tuple(steps)), cells


def _do(placed: Executed, cell: Cell, cover: Cover, target: Target) -> Do:
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
