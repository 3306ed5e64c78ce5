"""Order and addresses at once, by CP-SAT: rectangles of time and rows that do not overlap.

A step that may be executed again has as many executions as its values have readers; each reader takes one of
them. One search, with one worker and a fixed seed: the same problem has the same plan, unless the clock ends
the search. It runs in a process of its own (`within`), since what takes longer than it may is killed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from axiloom.base.worker import NoAnswerError, Worker
from axiloom.selection.allocate.bounds import readers, writers
from axiloom.selection.allocate.problem import Problem, Step, Value

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Answer = tuple[str, list[tuple[str, int, int, dict[str, int]]], int]
"""``found``, ``best``, ``none`` or ``limit``; (step, execution, start, addresses); a bound on cycles."""


@dataclass(frozen=True)
class Ask:
    """`most` cycles; `sizes` instead of the memories' own; `least`: find the fewest rows of this memory."""

    problem: Problem
    most: int
    seconds: float
    sizes: dict[str, int] = field(default_factory=dict)
    least: str = ""


@dataclass
class _Execution:
    step: Step
    copy: int
    there: Any
    start: Any
    end: Any


@dataclass
class _Copy:
    """A value as one execution leaves it."""

    value: Value
    there: Any
    start: Any
    end: Any
    at: Any


def solve(ask: Ask) -> Answer:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    build = _Build(model, ask)
    build.run()
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = ask.seconds
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.solve(model)
    status = solver.status_name()
    if status == "INFEASIBLE":
        return "none", [], ask.most + 1
    if status not in ("OPTIMAL", "FEASIBLE"):
        return "limit", [], 0
    placed = []
    for execution in build.executions:
        if solver.boolean_value(execution.there):
            where = {
                name: solver.value(build.address(execution, name, solver))
                for name in dict.fromkeys((*execution.step.reads, *execution.step.writes))
            }
            placed.append((execution.step.name, execution.copy, solver.value(execution.start), where))
    placed.sort(key=lambda row: (row[2], row[0]))
    best = status == "OPTIMAL"
    if ask.least:
        return ("best" if best else "found"), placed, int(solver.objective_value)
    bound = int(solver.best_objective_bound) // build.scale
    return ("best" if best else "found"), placed, bound


class _Build:
    def __init__(self, model: cp_model.CpModel, ask: Ask) -> None:
        self.model, self.ask, self.problem = model, ask, ask.problem
        self.values = {value.name: value for value in self.problem.values}
        self.made, self.read = writers(self.problem), readers(self.problem)
        self.single = len({step.unit for step in self.problem.steps}) == 1
        self.executions: list[_Execution] = []
        self.of: dict[str, list[_Execution]] = {}
        self.copies: dict[str, list[_Copy]] = {}
        self.taken: dict[tuple[str, int, str], list[Any]] = {}
        """(step, execution, value): which copy it reads."""
        self.ends = self._ends()
        self.scale = 1

    def run(self) -> None:
        for step in self.problem.steps:
            self._executions(step)
        for value in self.problem.values:
            self.copies[value.name] = [self._copy(value, i) for i in range(self._count(value))]
        for execution in self.executions:
            for name in dict.fromkeys(execution.step.reads):
                self._reads(execution, name)
        for execution in self.executions:
            self._writes(execution)
        self._units()
        self._memories()
        self._objective()

    def _ends(self) -> int:
        return self.ask.most

    def _count(self, value: Value) -> int:
        maker = self.made.get(value.name)
        return len(self.of[maker.name]) if maker else 1

    def _executions(self, step: Step) -> None:
        """As many as what it writes has readers, if it may be executed again."""
        users = sum(len(self.read[name]) + self.values[name].kept for name in step.writes)
        count = max(1, users) if step.again and step.writes else 1
        model, most = self.model, self.ask.most
        executions = []
        for copy in range(count):
            there = model.new_bool_var("") if copy else model.new_constant(1)
            start = model.new_int_var(0, most - step.cycles, "")
            executions.append(_Execution(step, copy, there, start, start + step.cycles))
        for ahead, behind in pairwise(executions):
            model.add_implication(behind.there, ahead.there)
            model.add(behind.start >= ahead.start + step.cycles).only_enforce_if(behind.there)
        self.of[step.name] = executions
        self.executions += executions

    def _copy(self, value: Value, number: int) -> _Copy:
        model, most = self.model, self.ask.most
        size = self.ask.sizes.get(value.memory) or next(
            memory.units for memory in self.problem.memories if memory.name == value.memory
        )
        highest = size - value.units
        at: cp_model.LinearExprT
        if value.at is not None:
            at = model.new_constant(value.at)
        elif value.align == 1:
            at = model.new_int_var(0, highest, "")
        else:
            at = value.align * model.new_int_var(0, highest // value.align, "")
        maker = self.made.get(value.name)
        end = model.new_int_var(0, most, "")
        if maker is None:
            return _Copy(value, model.new_constant(1), model.new_constant(0), end, at)
        execution = self.of[maker.name][number]
        return _Copy(value, execution.there, execution.start, end, at)

    def _reads(self, execution: _Execution, name: str) -> None:
        """One copy, which is finished before and lasts until it is read."""
        model, step = self.model, execution.step
        copies = self.copies[name]
        chosen = [model.new_bool_var("") for _ in copies] if len(copies) > 1 else [execution.there]
        if len(copies) > 1:
            model.add(sum(chosen) == execution.there)
        self.taken[step.name, execution.copy, name] = chosen
        early = (self.single and not step.apart) or name in step.in_place.values()
        last = execution.start if early else execution.end
        maker = self.made.get(name)
        for literal, copy in zip(chosen, copies, strict=True):
            model.add_implication(literal, copy.there)
            done = copy.start + (maker.cycles if maker else 0)
            model.add(execution.start >= done).only_enforce_if(literal)
            model.add(copy.end >= last).only_enforce_if(literal)

    def _writes(self, execution: _Execution) -> None:
        step = execution.step
        for name in step.writes:
            copy = self.copies[name][execution.copy]
            # What is written is there while it is, and a row that nobody reads was written all the same.
            self.model.add(copy.end >= execution.end).only_enforce_if(execution.there)
            if copy.value.kept and execution.copy == 0 and len(self.of[step.name]) == 1:
                self.model.add(copy.end == self.ask.most)
            old = step.in_place.get(name)
            if old is None:
                continue
            for literal, source in zip(
                self.taken[step.name, execution.copy, old], self.copies[old], strict=True
            ):
                self.model.add(copy.at == source.at).only_enforce_if(literal)
                self.model.add(source.end == execution.start).only_enforce_if(literal)
        for name in step.writes:
            copies = self.copies[name]
            if self.values[name].kept and len(copies) > 1 and execution.copy == 0:
                kept = [self.model.new_bool_var("") for _ in copies]
                self.model.add_bool_or(kept)
                for literal, copy in zip(kept, copies, strict=True):
                    self.model.add_implication(literal, copy.there)
                    self.model.add(copy.end == self.ask.most).only_enforce_if(literal)

    def _units(self) -> None:
        for unit in dict.fromkeys(step.unit for step in self.problem.steps):
            self.model.add_no_overlap(
                self.model.new_optional_fixed_size_interval_var(
                    execution.start, execution.step.cycles, execution.there, ""
                )
                for execution in self.executions
                if execution.step.unit == unit
            )

    def _memories(self) -> None:
        model = self.model
        for memory in self.problem.memories:
            times, rows = [], []
            for copies in self.copies.values():
                for copy in copies:
                    if copy.value.memory != memory.name:
                        continue
                    length = model.new_int_var(0, self.ask.most, "")
                    times.append(
                        model.new_optional_interval_var(copy.start, length, copy.end, copy.there, "")
                    )
                    rows.append(
                        model.new_optional_fixed_size_interval_var(copy.at, copy.value.units, copy.there, "")
                    )
            if times:
                model.add_no_overlap_2d(times, rows)

    def _objective(self) -> None:
        model = self.model
        if self.ask.least:
            top = model.new_int_var(0, self.ask.sizes[self.ask.least], "")
            for copies in self.copies.values():
                for copy in copies:
                    if copy.value.memory == self.ask.least:
                        model.add(top >= copy.at + copy.value.units)
            model.minimize(top)
            return
        extra = [execution.there for execution in self.executions if execution.copy]
        if self.single:
            total = sum(execution.step.cycles * execution.there for execution in self.executions)
            latest: Any = total
        else:
            latest = model.new_int_var(0, self.ask.most, "")
            for executed in self.executions:
                model.add(latest >= executed.end).only_enforce_if(executed.there)
        self.scale = len(extra) + 1
        model.minimize(self.scale * latest + sum(extra))

    def address(self, execution: _Execution, name: str, solver: Any) -> Any:
        """Of what an execution reads or writes."""
        if name in execution.step.writes:
            return self.copies[name][execution.copy].at
        chosen = self.taken[execution.step.name, execution.copy, name]
        return next(
            copy.at
            for literal, copy in zip(chosen, self.copies[name], strict=True)
            if solver.boolean_value(literal)
        )


GRACE_S = 10.0
"""Beyond the solver's own limit, for building the model."""
WORKER = Worker()


def within(seconds: float, ask: Ask) -> Answer | None:
    """What `solve` answers; None if there is no answer in time."""
    try:
        return WORKER.ask(solve, ask, seconds=seconds + GRACE_S)
    except NoAnswerError:
        return None
