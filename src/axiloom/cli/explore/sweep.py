"""``axiloom sweep``: problems, accelerators, flows and pipelines in all combinations, to CSV."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from axiloom import boards, drivergen
from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.explore.command import add_sweep
from axiloom.cli.given import output_file
from axiloom.read.mlir import file as mlir_file
from axiloom.run.resolve import BEST
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.sweep import Outcome, exit_code, failures, sweep

COUNTERS = ("task-clock", "cpu-cycles", "instructions", "cache-references", "cache-misses")
FABRIC = ("cycles", "words_in", "words_out", "transfers_in", "transfers_out")
COLUMNS = (
    *("problem", "accelerator", "rtl", "flow", "loops", "tile", "pipeline", "board"),
    *("task_clock_ns", "cpu_cycles", "instructions", "cache_references", "cache_misses"),
    *(f"fabric_{name}" for name in FABRIC),
    *("limit_ratio", "error"),
)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "sweep",
        help=HELP["sweep"],
        description="Every combination is simulated and checked; what has finished is kept and never runs "
        "again. Flows that an accelerator does not have are left out for it.",
    )
    command.add_argument("problems", nargs="+", metavar="PROBLEM", help="matmul:MxNxK[:int8|int16|int32]")
    shared.add_accelerator(command)
    command.add_argument(
        "--flows",
        type=_names,
        default=None,
        metavar="ID,...",
        help="flows, `best` for the cost model's choice (default: all that the accelerator has)",
    )
    command.add_argument(
        "--pipelines",
        type=_names,
        default=None,
        metavar="NAME,...",
        help=f"of {', '.join(drivergen.PIPELINES)} (default: what `axiloom run` takes)",
    )
    command.add_argument("--tile", type=shared.sizes, metavar="m,n,k", help="tile of a flexible accelerator")
    command.add_argument("--board", default=boards.DEFAULT, help="default %(default)s")
    command.add_argument(
        "-o", "--output", type=output_file, metavar="FILE.csv", help="default: standard output"
    )
    add_sweep(command)
    command.set_defaults(execute=execute)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def points(options: argparse.Namespace) -> list[Point]:
    """All combinations, in the order of the command line. UsageError if there is none."""
    asked, swept = shared.asked(options), list[Point]()
    known: set[str] = set()
    if options.rtl and "," in (options.accel or ""):
        raise UsageError(f"--rtl takes the place of one accelerator, and --accel {options.accel} are several")
    boards.load(options.board)  # refused once, not for each point
    for text, name in product(options.problems, options.accel.split(",") if options.accel else (None,)):
        if mlir_file.is_mlir(text):
            raise UsageError(f"{text}: sweep takes problems such as matmul:64x64x64, not files")
        problem = drivergen.parse_problem(text)
        spec = replace(asked, accel=name).spec(problem.dtype)
        rtl = asked.user_rtl(spec)
        known |= {*spec.flows, BEST}
        flows = [flow for flow in options.flows or spec.flows if flow in (*spec.flows, BEST)]
        for flow, pipeline in product(flows, options.pipelines or (drivergen.default_pipeline(spec),)):
            drivergen.optimisations(pipeline)
            swept.append(
                point(
                    f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}",
                    spec,
                    flow=flow,
                    tile=options.tile,
                    pipeline=pipeline,
                    board=options.board,
                    user_rtl=rtl,
                )
            )
    if unknown := [flow for flow in options.flows or () if flow not in known]:
        raise UsageError(
            f"no accelerator here has a flow `{unknown[0]}`; there are {', '.join(sorted(known))}"
        )
    return swept


def execute(options: argparse.Namespace) -> int:
    shared.asked(options).refuse_model(options.command)
    outcomes = sweep(
        points(options),
        simulate,
        options.store or default_store(),
        jobs=options.jobs,
        dask=options.dask,
        group=hardware,
        retry_failed=True,
    )
    shared.write(table(outcomes), options.output)
    return exit_code(failures(outcomes))


def table(outcomes: Sequence[Outcome]) -> str:
    """CSV: a line a combination; of one that failed, the error."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_row, outcomes))
    return text.getvalue()


def _row(outcome: Outcome) -> dict[str, Any]:
    point = outcome.point
    row: dict[str, Any] = {
        "problem": point["problem"],
        "accelerator": point["spec"]["accelerators"][0]["name"],
        "rtl": point["rtl"]["top"] if "rtl" in point else "generated",
        "flow": point["flow"],
        "pipeline": point["pipeline"],
        "board": point["board"],
    }
    if outcome.error:
        return {**row, "error": f"{outcome.error['class']}: {outcome.error['message']}"}
    report = outcome.result
    row |= {
        name: report["config"][key]
        for name, key in (("flow", "flow"), ("loops", "loop_order"), ("tile", "tile"))
    }
    names = ("task_clock_ns", *(name.replace("-", "_") for name in COUNTERS[1:]))
    row |= {name: report["counters"][counter] for name, counter in zip(names, COUNTERS, strict=True)}
    row |= {f"fabric_{name}": report["fabric"][name] for name in FABRIC}
    return {**row, "limit_ratio": report["limit"]["ratio"]}
