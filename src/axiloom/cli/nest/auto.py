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
    from axiloom.nests.search import Found, Limits
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
            "pareto", lambda given: given.run or given.plan, "of the search alone: leave --plan, --run out"
        ),
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def search(options: argparse.Namespace, program: Program) -> tuple[Found, list[Exact]]:
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
        found = auto(program, within, progress=bar)
    schedule = replayed(program, found)
    text = "".join(f"  {line}\n" for line in found.text.splitlines())
    report = "\n".join(lines(program.name, found, str(within)))
    return schedule, f"Searched, with resident arrays: {report}\n{text or '  (as it is written)'}"


def replayed(program: Program, found: Found) -> Schedule:
    """What was found. Raises CompileError if nothing can be built."""
    from axiloom.nests.schedule.replay import replay

    if found.best.cycles is None:
        raise CompileError(f"{program.name}: no schedule that can be built was found: {found.best.fault}")
    return replay(program, found.text, "the schedule found")


def limits(options: argparse.Namespace) -> Limits:
    from axiloom.nests.search import Limits

    return Limits.of(options.device or DEVICE, options.budget or "", options.multipliers)


def execute(options: argparse.Namespace) -> int:
    """One program; the schedule, and what was searched as comments before it."""
    if len(options.source) > 1:
        raise UsageError(f"--auto: one program, not {len(options.source)}")
    program = load(options.source[0], defines(options.define), options.include).program
    found, front = search(options, program)
    if options.output:
        write_whole(options.output, as_text(program.name, found, options))
        print("\n".join(lines(program.name, found, str(limits(options)))))
    else:
        print(as_text(program.name, found, options), end="")
    for each in front:
        print(f"# {each.cycles:>12,} cycles  {each.amount.dsp:>4} DSP  {each.amount.lut:>7,} LUT")
    if options.json:
        write_whole(options.json, json.dumps(as_json(program.name, found, front), indent=2) + "\n")
    return 128 + found.stopped if found.stopped else 0


def as_text(name: str, found: Found, options: argparse.Namespace) -> str:
    """The schedule, with what was searched as comments before it."""
    report = "\n".join(lines(name, found, str(limits(options))))
    return "".join(f"# {line}\n" for line in report.splitlines()) + found.text


def lines(name: str, found: Found, limits: str) -> list[str]:
    """For people."""
    best = found.best
    if best.cycles is None:
        return [f"{name}: no schedule that can be built was found: {best.fault}", *found.notes]
    amount = best.amount
    proof = (
        "no other point that fits by its forecast takes fewer cycles"
        if found.proven
        else "not proven" + (f": no point takes fewer than {found.bound:,} cycles" if found.bound else "")
    )
    return [
        f"{name}: {best.cycles:,} cycles; {amount.dsp} DSP, {amount.lut:,} LUT, {amount.ff:,} FF, "
        f"{amount.bram36:g} BRAM36; limits: {limits}",
        f"{found.space:,} points declared, {found.searched:,} looked at, {len(found.points)} made exact, "
        f"in {found.seconds:.1f} s; {proof}",
        *found.notes,
    ]


def as_json(name: str, found: Found, front: list[Exact]) -> Mapping[str, Any]:
    return {
        "program": name,
        "schedule": found.text,
        "cycles": {"predicted": found.best.cycles, "bound": found.bound},
        "ii": list(found.best.intervals),
        "resources": asdict(found.best.amount),
        "search": searched(found),
        "pareto": [{"cycles": each.cycles, **asdict(each.amount), "schedule": each.text} for each in front],
    }


def searched(found: Found) -> dict[str, Any]:
    """What a search says of itself, as JSON."""
    return {
        "points": found.space,
        "looked_at": found.searched,
        "exact": len(found.points),
        "seconds": round(found.seconds, 3),
        "proven": found.proven,
        "bound": found.bound,
        "notes": list(found.notes),
        "stopped": found.stopped,
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
