"""``axiloom nest search``: the tool searches for the schedule."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import CompileError
from axiloom.base.files import write_whole
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, Option, option, output_file
from axiloom.cli.nest.source import DEFINE, DEVICE, INCLUDE, PART, SOURCE, defines, load

if TYPE_CHECKING:
    from axiloom.nests.program import Program
    from axiloom.nests.schedule import Schedule
    from axiloom.nests.search import Limits, SearchResult
    from axiloom.nests.search.exact import Exact


@dataclass(frozen=True)
class Search:
    """What a schedule is searched in, and where its points are kept."""

    budget: str = ""
    multipliers: int | None = None
    points: Path | None = None

    def limits(self, device: str) -> Limits:
        from axiloom.nests.search import Limits

        return Limits.of(device, self.budget, self.multipliers)

    def best(self, program: Program, device: str) -> SearchResult:
        """The schedule with the fewest cycles."""
        from axiloom.nests.search import auto

        with _Bar() as bar:
            return auto(program, self.limits(device), points=self.points, progress=bar)

    def front(self, program: Program, device: str) -> tuple[SearchResult, list[Exact]]:
        """... and cycles against resources."""
        from axiloom.nests.search.pareto import pareto

        with _Bar() as bar:
            return pareto(program, self.limits(device), points=self.points, progress=bar)


def searching(**more: Any) -> Group:
    """The options of :class:`Search`; `more`: of each."""
    options: tuple[Option, ...] = (
        option(
            "--budget",
            metavar="NAME=N,...",
            help="other limits: of dsp, lut, ff, bram36, as dsp=140,lut=25000",
            **more,
        ),
        option(
            "--multipliers",
            type=shared.positive,
            metavar="N",
            help="at most so many multiply-adds at once",
            **more,
        ),
        option(
            "--points",
            type=Path,
            metavar="FILE.jsonl",
            help="keep every point that was made exact there, with its schedule; a second run goes on from "
            "it",
            **more,
        ),
    )
    return Group("search", options, "search", Search)


def best(program: Program) -> tuple[Schedule, str]:
    """The best schedule in the limits of `DEVICE`, and what was searched with the schedule, for people.
    Raises CompileError if nothing can be built."""
    search = Search()
    result = search.best(program, DEVICE)
    schedule = replayed(program, result)
    text = "".join(f"  {line}\n" for line in result.text.splitlines())
    report = "\n".join(lines(program.name, result, str(search.limits(DEVICE))))
    return schedule, f"Searched, with resident arrays: {report}\n{text or '  (as it is written)'}"


def replayed(program: Program, result: SearchResult) -> Schedule:
    """What was found. Raises CompileError if nothing can be built."""
    from axiloom.nests.schedule.replay import replay

    if result.best.cycles is None:
        raise CompileError(f"{program.name}: no schedule that can be built was found: {result.best.fault}")
    return replay(program, result.text, "the schedule found")


def execute(
    source: str,
    search: Search,
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    device: str = DEVICE,
    pareto: bool = False,
    json_file: Path | None = None,
    output: Path | None = None,
) -> int:
    """The schedule, and what was searched as comments before it."""
    program = load(source, defines(define), include).program
    result, front = search.front(program, device) if pareto else (search.best(program, device), [])
    limits = str(search.limits(device))
    if output:
        write_whole(output, as_text(program.name, result, limits))
        print("\n".join(lines(program.name, result, limits)))
    else:
        print(as_text(program.name, result, limits), end="")
    for point in front:
        print(f"# {point.cycles:>12,} cycles  {point.amount.dsp:>4} DSP  {point.amount.lut:>7,} LUT")
    if json_file:
        write_whole(json_file, json.dumps(as_json(program.name, result, front), indent=2) + "\n")
    return 128 + result.stopped if result.stopped else 0


def as_text(name: str, result: SearchResult, limits: str) -> str:
    """The schedule, with what was searched as comments before it."""
    report = "\n".join(lines(name, result, limits))
    return "".join(f"# {line}\n" for line in report.splitlines()) + result.text


def lines(name: str, result: SearchResult, limits: str) -> list[str]:
    """For people."""
    best = result.best
    if best.cycles is None:
        return [f"{name}: no schedule that can be built was found: {best.fault}", *result.notes]
    amount = best.amount
    proof = (
        "no other point that fits by its forecast takes fewer cycles"
        if result.proven
        else "not proven" + (f": no point takes fewer than {result.bound:,} cycles" if result.bound else "")
    )
    return [
        f"{name}: {best.cycles:,} cycles; {amount.dsp} DSP, {amount.lut:,} LUT, {amount.ff:,} FF, "
        f"{amount.bram36:g} BRAM36; limits: {limits}",
        f"{result.space:,} points declared, {result.searched:,} looked at, {len(result.points)} made exact, "
        f"in {result.seconds:.1f} s; {proof}",
        *result.notes,
    ]


def as_json(name: str, result: SearchResult, front: list[Exact]) -> Mapping[str, Any]:
    return {
        "program": name,
        "schedule": result.text,
        "cycles": {"predicted": result.best.cycles, "bound": result.bound},
        "ii": list(result.best.intervals),
        "resources": asdict(result.best.amount),
        "search": searched(result),
        "pareto": [
            {"cycles": point.cycles, **asdict(point.amount), "schedule": point.text} for point in front
        ],
    }


def searched(result: SearchResult) -> dict[str, Any]:
    """What a search says of itself, as JSON."""
    return {
        "points": result.space,
        "looked_at": result.searched,
        "exact": len(result.points),
        "seconds": round(result.seconds, 3),
        "proven": result.proven,
        "bound": result.bound,
        "notes": list(result.notes),
        "stopped": result.stopped,
    }


class _Bar:
    """Exact points on standard error, with the time left, if that is a terminal."""

    def __enter__(self) -> _Bar:
        from tqdm import tqdm

        self._bar = tqdm(desc="searching", unit="point", disable=None, leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, done: int, total: int, best: str) -> None:
        self._bar.total, self._bar.n = total, done
        self._bar.set_postfix_str(best)


APPLET = Applet(
    "nest search",
    "search for the schedule with the fewest cycles, and print it",
    execute,
    (
        SOURCE,
        DEFINE,
        INCLUDE,
        PART,
        searching(first=True),
        option(
            "--pareto", action="store_true", first=True, help="print cycles against DSP slices and LUTs too"
        ),
        shared.JSON_TOO,
        option(
            "-o", "--output", type=output_file, metavar="FILE", first=True, help="write the schedule there"
        ),
    ),
)
