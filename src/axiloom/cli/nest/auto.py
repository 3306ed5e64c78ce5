"""``axiloom nest FILE --auto``: the tool searches for the schedule."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import write_whole
from axiloom.cli.given import Refusal, has, lacks, refuse
from axiloom.cli.nest.source import DEVICE, defines, load

if TYPE_CHECKING:
    from axiloom.nests.program import Program
    from axiloom.nests.schedule import Schedule
    from axiloom.nests.search import Limits, SearchResult
    from axiloom.nests.search.exact import Exact


def add_options(nest: argparse.ArgumentParser) -> None:
    group = nest.add_argument_group("search")
    group.add_argument(
        "--auto",
        action="store_true",
        help="search for the schedule with the fewest cycles: print it, write it to -o, --plan or --run it",
    )
    group.add_argument(
        "--budget", metavar="NAME=N,...", help="other limits: of dsp, lut, ff, bram36, as dsp=140,lut=25000"
    )
    group.add_argument(
        "--multipliers", type=_positive, metavar="N", help="at most so many multiply-adds at once"
    )
    group.add_argument(
        "--points",
        type=Path,
        metavar="FILE.jsonl",
        help="keep every point that was made exact there, with its schedule; a second run goes on from it",
    )
    group.add_argument("--pareto", action="store_true", help="print cycles against DSP slices and LUTs too")
    refuse(
        nest,
        Refusal("budget multipliers points pareto", lacks("auto"), "of a search: give --auto too"),
        Refusal("emit schedule", has("auto"), "with --auto the schedule is what is searched for"),
        Refusal(
            "pareto",
            lambda options: options.run or options.plan,
            "of the search alone: leave --plan, --run out",
        ),
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def search(options: argparse.Namespace, program: Program) -> tuple[SearchResult, list[Exact]]:
    """The best schedule of `program`, and with ``--pareto`` the front of cycles and resources."""
    from axiloom.nests.search import auto
    from axiloom.nests.search.pareto import pareto

    with _Bar() as bar:
        if options.pareto:
            return pareto(program, limits(options), points=options.points, progress=bar)
        return auto(program, limits(options), points=options.points, progress=bar), []


def best(program: Program) -> tuple[Schedule, str]:
    """The best schedule in the limits of `DEVICE`, and what was searched with the schedule, for people.
    Raises CompileError if nothing can be built."""
    from axiloom.nests.search import Limits, auto

    within = Limits.of(DEVICE)
    with _Bar() as bar:
        result = auto(program, within, progress=bar)
    schedule = replayed(program, result)
    text = "".join(f"  {line}\n" for line in result.text.splitlines())
    report = "\n".join(lines(program.name, result, str(within)))
    return schedule, f"Searched, with resident arrays: {report}\n{text or '  (as it is written)'}"


def replayed(program: Program, result: SearchResult) -> Schedule:
    """What was found. Raises CompileError if nothing can be built."""
    from axiloom.nests.schedule.replay import replay

    if result.best.cycles is None:
        raise CompileError(f"{program.name}: no schedule that can be built was found: {result.best.fault}")
    return replay(program, result.text, "the schedule found")


def limits(options: argparse.Namespace) -> Limits:
    from axiloom.nests.search import Limits

    return Limits.of(options.device or DEVICE, options.budget or "", options.multipliers)


def execute(options: argparse.Namespace) -> int:
    """One program; the schedule, and what was searched as comments before it."""
    if len(options.source) > 1:
        raise UsageError(f"--auto: one program, not {len(options.source)}")
    program = load(options.source[0], defines(options.define), options.include).program
    result, front = search(options, program)
    if options.output:
        write_whole(options.output, as_text(program.name, result, options))
        print("\n".join(lines(program.name, result, str(limits(options)))))
    else:
        print(as_text(program.name, result, options), end="")
    for point in front:
        print(f"# {point.cycles:>12,} cycles  {point.amount.dsp:>4} DSP  {point.amount.lut:>7,} LUT")
    if options.json:
        write_whole(options.json, json.dumps(as_json(program.name, result, front), indent=2) + "\n")
    return 128 + result.stopped if result.stopped else 0


def as_text(name: str, result: SearchResult, options: argparse.Namespace) -> str:
    """The schedule, with what was searched as comments before it."""
    report = "\n".join(lines(name, result, str(limits(options))))
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

        self._bar = tqdm(desc="nest --auto", unit="point", disable=None, leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, done: int, total: int, best: str) -> None:
        self._bar.total, self._bar.n = total, done
        self._bar.set_postfix_str(best)
