"""``axiloom explore``: which flow, loop order and tile to take for a problem, and how sure that is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom import boards, drivergen
from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.explore import hardware
from axiloom.cli.explore.tables import as_csv, table
from axiloom.cli.explore.where import SHOW, Where, ranked
from axiloom.cli.kinds import Short
from axiloom.drivergen.cost.model import FORMS
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore import chosen
from axiloom.explore.asked import Asked
from axiloom.explore.chosen import Task
from axiloom.explore.driver_report import as_json
from axiloom.explore.explore import Exploration, confirm, of_workload
from axiloom.read import models
from axiloom.report.page import front
from axiloom.sweep.sweep import exit_code


def execute(
    problems: Sequence[str],
    asked: Asked,
    where: Where,
    words: Sequence[str],
    pipeline: str | None = None,
    board: str = boards.DEFAULT,
    show: int | None = None,
    confirm_first: int = 0,
    json_file: Path | None = None,
    output: Path | None = None,
    report: Path | None = None,
) -> int:
    asked = replace(asked, board=board)
    asked.refuse_model("explore")
    if asked.rtl and not confirm_first:
        raise UsageError(
            "--rtl: the cost model knows generated RTL alone; give --confirm N, which simulates yours, or "
            "take `axiloom sweep --rtl`"
        )
    if asked.rtl and show is not None:
        raise UsageError("--show: with --rtl the rows that --confirm N simulates are shown")
    explorations: list[Exploration] = []
    for text in problems:
        if models.is_model(text):
            raise UsageError(
                f"{text}: explore takes problems such as matmul:64x64x64, not files; with --device, which "
                "chooses hardware, it takes networks"
            )
        problem = drivergen.parse_workload(text)
        spec = chosen.explored(Task(text, problem.mlir, problem.dtype, asked, Schedule(pipeline=pipeline)))
        rtl = asked.user_rtl(spec)
        top = confirm_first if rtl else max(show or SHOW, confirm_first)
        explorations.append(of_workload(text, spec, pipeline=pipeline, board=board, top=top, user_rtl=rtl))
    if confirm_first:
        explorations = confirm(explorations, confirm_first, **vars(where))
    print("\n\n".join(table(exploration) for exploration in explorations))
    if json_file:
        write_whole(
            json_file, json.dumps([as_json(exploration) for exploration in explorations], indent=2) + "\n"
        )
    if output:
        write_whole(output, as_csv(explorations))
    if report:
        front.write([*map(as_json, explorations)], None, shlex.join(["axiloom", *words]), report)
    return exit_code(outcome for exploration in explorations for outcome in exploration.outcomes)


APPLET = Applet(
    "explore",
    HELP["explore"],
    execute,
    (
        option(
            "problems",
            nargs="+",
            metavar="PROBLEM",
            help="matmul:MxNxK[:int8|int16|int32] or conv:iHW_iC_fHW_oC_stride[:TYPE]; with --device PART "
            "it is `axiloom hardware`, which takes networks, too",
        ),
        shared.accelerator(chosen=True),
        option(
            "--pipeline",
            choices=tuple(FORMS),
            help="only this one (default: choose among those that the DMA is able to use)",
        ),
        shared.BOARD,
        *ranked(
            "rows to show",
            "simulate the best N, too, and the paper's Best and square tiles",
            "write the rows of the tables as CSV too",
            first=True,
        ),
    ),
    "Ranks all that the accelerator allows by the time that the cost model predicts.",
)
APPLETS = (APPLET,)
SHORT = {"explore": Short(APPLET, (hardware.KIND,))}
