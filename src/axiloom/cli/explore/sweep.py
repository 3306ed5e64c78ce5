"""``axiloom sweep``: problems, accelerators, flows and pipelines in all combinations, to CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen
from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file
from axiloom.cli.explore.where import WHERE, Where
from axiloom.explore.asked import Asked
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def points(
    problems: Sequence[str],
    asked: Asked,
    flows: Sequence[str] = (),
    pipelines: Sequence[str] = (),
    tile: tuple[int, ...] | None = None,
) -> list[Point]:
    """All combinations, in this order. UsageError if there is none."""
    swept = list[Point]()
    known: set[str] = set()
    if asked.rtl and "," in (asked.accel or ""):
        raise UsageError(f"--rtl takes the place of one accelerator, and --accel {asked.accel} are several")
    boards.load(asked.board)  # refused once, not for each point
    for text, name in product(problems, asked.accel.split(",") if asked.accel else (None,)):
        if mlir_file.is_mlir(text):
            raise UsageError(f"{text}: sweep takes problems such as matmul:64x64x64, not files")
        problem = drivergen.parse_problem(text)
        spec = replace(asked, accel=name).spec(problem.dtype)
        rtl = asked.user_rtl(spec)
        known |= {*spec.flows, BEST}
        used = [flow for flow in flows or spec.flows if flow in (*spec.flows, BEST)]
        for flow, pipeline in product(used, pipelines or (drivergen.default_pipeline(spec),)):
            drivergen.optimisations(pipeline)
            swept.append(
                point(
                    f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}",
                    spec,
                    flow=flow,
                    tile=tile,
                    pipeline=pipeline,
                    board=asked.board,
                    user_rtl=rtl,
                )
            )
    if unknown := [flow for flow in flows if flow not in known]:
        raise UsageError(
            f"no accelerator here has a flow `{unknown[0]}`; there are {', '.join(sorted(known))}"
        )
    return swept


def execute(
    problems: Sequence[str],
    asked: Asked,
    where: Where,
    flows: Sequence[str] = (),
    pipelines: Sequence[str] = (),
    tile: tuple[int, ...] | None = None,
    board: str = boards.DEFAULT,
    output: Path | None = None,
) -> int:
    asked = replace(asked, board=board)
    asked.refuse_model("sweep")
    outcomes = sweep(
        points(problems, asked, flows, pipelines, tile),
        simulate,
        where.store or default_store(),
        jobs=where.jobs,
        dask=where.dask,
        group=hardware,
        retry_failed=True,
    )
    shared.write(table(outcomes), output)
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


APPLETS = (
    Applet(
        "sweep",
        HELP["sweep"],
        execute,
        (
            option("problems", nargs="+", metavar="PROBLEM", help="matmul:MxNxK[:int8|int16|int32]"),
            shared.accelerator(),
            option(
                "--flows",
                type=_names,
                metavar="ID,...",
                help="flows, `best` for the cost model's choice (default: all that the accelerator has)",
            ),
            option(
                "--pipelines",
                type=_names,
                metavar="NAME,...",
                help=f"of {', '.join(drivergen.PIPELINES)} (default: what `axiloom run` takes)",
            ),
            option("--tile", type=shared.sizes, metavar="m,n,k", help="tile of a flexible accelerator"),
            shared.BOARD,
            option("-o", "--output", type=output_file, metavar="FILE.csv", help="default: standard output"),
            WHERE,
        ),
        "Every combination is simulated and checked; what has finished is kept and never runs again. Flows "
        "that an accelerator does not have are left out for it.",
    ),
)
