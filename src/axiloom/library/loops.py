"""Loop nests as values: each primitive gives a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.base.errors import CompileError, MismatchError, UsageError
from axiloom.base.files import read_text, write_whole
from axiloom.library.progress import Progress
from axiloom.library.works import Work, read, scheduled

if TYPE_CHECKING:
    from axiloom.nest.measure import Design
    from axiloom.nest.measure import Run as Measured
    from axiloom.nests.program.loaded import Loaded
    from axiloom.nests.schedule import Schedule
    from axiloom.nests.search import SearchResult
    from axiloom.nests.search.exact import Exact

Array = np.ndarray[Any, Any]
STATEMENT = "statement"
"""What most primitives take, by the name of their parameter."""


class Nest:
    """A program of loops and a schedule of it: made by :func:`nest`.

    Primitives are methods (``nest.tile("S1", i=4, j=16)``); where there is one statement, it may be left
    out. One that is not legal raises Error, with the two statements that it would swap.
    """

    def __init__(self, work: Work, schedule: Schedule, function: object = None) -> None:
        self.work, self.schedule, self.__wrapped__ = work, schedule, function

    def __getattr__(self, name: str) -> Callable[..., Nest]:
        from axiloom.nests.schedule.schedule import primitives

        if name not in primitives():
            raise AttributeError(f"a nest has no `{name}`, and no primitive is called so")
        primitive = getattr(self.schedule, name)
        names = [*signature(primitive).parameters]
        alone = [statement.name for statement in self._loaded.program.statements]

        def applied(*args: Any, **options: Any) -> Nest:
            if len(alone) == 1 and STATEMENT in names and STATEMENT not in options:
                at = names.index(STATEMENT)
                if alone != [*args[at : at + 1]]:
                    args = (*args[:at], *alone, *args[at:])
            return Nest(self.work, primitive(*args, **options))

        return applied

    def __dir__(self) -> list[str]:
        from axiloom.nests.schedule.schedule import primitives

        return sorted({*super().__dir__(), *primitives()})

    def by(self, lines: str) -> Nest:
        """After the primitives of a text, or of a file that it names, a line each."""
        from axiloom.nests.schedule.replay import replay

        is_file = "\n" not in lines and Path(lines).is_file()
        text, where = (read_text(lines), lines) if is_file else (lines, self.work.name)
        return Nest(self.work, replay(self.schedule, text, where))

    def ways(self, part: str, seconds: float | None, say: Progress) -> Schedules:
        """For :func:`explore`."""
        from axiloom.nests.search import Limits
        from axiloom.nests.search.pareto import pareto

        def progress(done: int, total: int, best: str) -> None:
            say(f"{self.work.name}: {done} of at most {total} circuits, {best}")

        plain = Nest(self.work, scheduled(self._loaded.program, None))
        result, front = pareto(self._loaded.program, Limits.of(part), progress=progress, seconds=seconds)
        say("")
        return Schedules(plain, result, front, part)

    @cached_property
    def _design(self) -> Design:
        from axiloom.nest.measure import design

        return design(self._loaded.program, self.schedule)

    @property
    def _loaded(self) -> Loaded:
        assert self.work.loops is not None
        return self.work.loops

    @property
    def scheduled_work(self) -> Work:
        """For :func:`plan`."""
        return replace(self.work, schedule=self.schedule)

    @property
    def cycles(self) -> int:
        """Exact, with resident arrays, before anything runs."""
        return self._design.timing.cycles

    @property
    def bound(self) -> int:
        """No circuit with as many units takes fewer cycles."""
        return self._design.bound.cycles

    @property
    def pipes(self) -> list[Mapping[str, Any]]:
        """Each nest's circuit: interval and its reason, lanes, operators, cycles."""
        return list(self._design.summary["pipes"])

    @property
    def resources(self) -> dict[str, float]:
        """What the circuit takes of an FPGA, foretold: ``dsp``, ``lut``, ``ff``, ``bram36``."""
        from axiloom.nests.resources import estimate

        return asdict(estimate(self._design.lowered.circuit).total)

    def run(self, seed: int = 0, **arrays: Array) -> Measured:
        """Its RTL in Verilator with resident arrays, beside the user's own text; random arrays unless given.

        `outputs` are arrays by name. Raises Error where a bit differs.
        """
        from axiloom.nest.measure import measure
        from axiloom.nest.reference import reference
        from axiloom.nest.values import values_of

        values = values_of(self._loaded, arrays or None, seed, self.work.name)
        ran = measure(self._design, values, reference(self._loaded, self.schedule, values))
        if not ran.right:
            raise MismatchError(f"{self.work.name}: the circuit differs from {ran.reference.text}")
        return ran

    def verilog(self) -> str:
        """Of the circuit behind AXI-Stream ports."""
        from axiloom.nest.accelerator import accelerator

        return accelerator(self.schedule).verilog().text

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` to `folder`: loops, pipes over time, banks, resources; the page's path."""
        from axiloom.report.nest import FILE

        path = Path(folder) / FILE
        write_whole(path, self._page())
        return path

    def _page(self) -> str:
        from axiloom.report.nest import Setting, build, render

        data = build(
            self._design, None, Setting(self.work.name, "scheduled here" if self.schedule.log else "")
        )
        return render(self._design, data, repr(self))

    def _repr_html_(self) -> str:
        from axiloom.report.page.document import framed

        return framed(self._page())

    def __str__(self) -> str:
        from axiloom.nests.schedule.show import tree

        return tree(self.schedule)

    def __repr__(self) -> str:
        return f"ax.nest({self.work.name!r})" + (
            f".by({chr(10).join(self.schedule.log)!r})" if self.schedule.log else ""
        )


class Schedules:
    """Ways to schedule a nest on a part, the fastest first: made by :func:`explore`."""

    def __init__(self, nest: Nest, result: SearchResult, front: Sequence[Exact], part: str) -> None:
        self.nest, self.front, self._result, self._part = nest, tuple(front), result, part

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Exact cycles with resident arrays, intervals of the pipes, and what the circuit takes of a part."""
        return [
            {
                "cycles": point.cycles,
                **asdict(point.amount),
                "intervals": ",".join(map(str, point.intervals)),
                "schedule": point.text,
            }
            for point in self.front
        ]

    @property
    def best(self) -> Nest:
        """By the schedule with the fewest cycles. Raises Error where nothing that was tried can be built."""
        if self._result.best.cycles is None:
            raise CompileError(f"{self.nest.work.name}: nothing can be built: {self._result.best.fault}")
        return self.nest.by(self._result.text + "\n")

    @property
    def bound(self) -> int:
        """Nothing in the searched space takes fewer cycles."""
        return self._result.bound

    @property
    def stopped(self) -> bool:
        """Whether the time was over before the search."""
        return bool(self._result.stopped)

    def __len__(self) -> int:
        return len(self.front)

    def save(self, folder: str | Path) -> Path:
        """Writes ``index.html`` to `folder`: cycles against what circuits take; the page's path."""
        from axiloom.report.page import FILE

        path = Path(folder) / FILE
        write_whole(path, self._page())
        return path

    def _page(self) -> str:
        from axiloom.report.nest import front

        return front.render(self.rows, self.nest.work.name, self._part, self.bound)

    def _repr_html_(self) -> str:
        from axiloom.report.page.document import framed

        return framed(self._page())

    def __repr__(self) -> str:
        return f"ax.explore({self.nest!r}, part={self._part!r})  # {len(self)} schedules"


def nest(source: Any, *, schedule: str | Path | None = None, **options: Any) -> Nest:
    """Loops as a value: of ``FILE.c[:FUNCTION]``, of a function over NumPy arrays (which it may decorate), of
    a `Program` or a `Builder`, or of what `read` gave.

    `schedule`: a file of primitives; `options` are those of `read`: ``defines``, ``include``.
    """
    if isinstance(source, Work) and options:
        raise UsageError(f"ax.nest: {', '.join(options)}: of files of C alone")
    work = source if isinstance(source, Work) else read(source, **options)
    if work.loops is None:
        raise UsageError(
            f"{work.name}: no loops; ax.nest takes FILE.c[:FUNCTION], a function over NumPy arrays, "
            "a `Program` or a `Builder`"
        )
    decorated = source if isinstance(source, FunctionType) else None
    steps = scheduled(work.loops.program, None if schedule is None else Path(schedule))
    return Nest(work, steps, decorated)
