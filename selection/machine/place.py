"""`place`: order and addresses for a cover: by constraints where they say yes, else with values put aside.

`allocate` orders the instructions that were chosen and loads again what is in the host's memory. Where that
does not fit, or there are too many instructions for a proof, `aside` goes through the instructions one by
one and stores what has no room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from axiloom.errors import CompileError
from axiloom.selection.allocate import Memory, Plan, Problem, Refusal, Step, Value, allocate
from axiloom.selection.machine.aside import aside
from axiloom.selection.machine.cover import Cell, Cover, Made
from axiloom.selection.machine.steps import Do, base_cells
from axiloom.selection.machine.target import Target

SECONDS = 0.15
"""For each question to a solver. What was found then is used, and the bound is said."""

EXACT_STEPS = 40
"""Of more, no solver says more in a time that one waits for."""


@dataclass(frozen=True)
class Placement:
    """`refused`: why the chosen instructions alone do not do, where values were put aside. `bound`: cycles
    below which no order of them is; 0 where nobody knows."""

    steps: tuple[Do, ...]
    cycles: int
    bound: int
    refused: str = ""
    peaks: Mapping[str, int] = field(default_factory=dict)


def place(cover: Cover, target: Target, *, seconds: float = SECONDS) -> Placement:
    """Raises CompileError for a value that no memory has room for."""
    problem, made = problem_of(cover, target)
    if len(problem.steps) > EXACT_STEPS:
        seconds = 0.0
    found = allocate(problem, seconds=seconds, improve=seconds)
    if isinstance(found, Plan):
        steps = tuple(
            Do(
                made[one.step.name].meaning,
                made[one.step.name].operands,
                _cell(one.step.name),
                tuple(one.addresses.get(_name(cell)) for cell in made[one.step.name].operands),
                one.addresses.get(_name(_cell(one.step.name))),
            )
            for one in found.steps
        )
        return Placement(_only_device(steps, target), found.cycles, found.bound, "", found.peaks)
    steps = aside(cover, target)
    cycles = sum(target.cycles(one.meaning) for one in steps)
    return Placement(steps, cycles, _least(cover, target), _said(found))


def problem_of(cover: Cover, target: Target) -> tuple[Problem, dict[str, Made]]:
    """The cover's instructions as steps, and which is which; a step's name is its result's."""
    made = {_name(cell): way for cell, way in cover.ways.items() if isinstance(way, Made)}
    device = {cell[1] for cell in cover.ways if cell[1] != target.host}
    stored = [cell for cell in cover.ways if cell[1] == target.host and isinstance(cover.ways[cell], Made)]
    memories = [Memory(name, target.size(name)) for name in sorted(device)]
    memories.append(Memory(target.host, max(1, len(stored))))
    values: list[Value] = []
    steps: list[Step] = []
    for cell, way in cover.ways.items():
        if not isinstance(way, Made):
            continue
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
    _check_fixed(cover)
    return Problem(tuple(memories), tuple(values), tuple(steps)), made


def _check_fixed(cover: Cover) -> None:
    for way in cover.ways.values():
        if isinstance(way, Made) and any(not one.field for one in way.meaning.operands):
            raise CompileError(
                f"{way.meaning.instruction} reads from a fixed address, which has no order yet"
            )


def _only_device(steps: tuple[Do, ...], target: Target) -> tuple[Do, ...]:
    """Addresses of the host come from its layout."""
    return tuple(
        Do(
            one.meaning,
            one.operands,
            one.result,
            tuple(
                None if cell[1] == target.host else at
                for cell, at in zip(one.operands, one.addresses, strict=True)
            ),
            None if one.result[1] == target.host else one.at,
        )
        for one in steps
    )


def _least(cover: Cover, target: Target) -> int:
    return sum(target.cycles(one.meaning) for one in cover.ways.values() if isinstance(one, Made))


def _said(found: Refusal) -> str:
    return found.reason if found.proved else f"{found.reason} (not proved)"


def _name(cell: Cell) -> str:
    return f"{cell[0]}@{cell[1]}"


def _cell(name: str) -> Cell:
    value, _, memory = name.partition("@")
    return int(value), memory
