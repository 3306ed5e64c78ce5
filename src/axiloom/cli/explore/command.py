"""``axiloom explore``: which flow, loop order and tile to take for a problem, and how sure that is."""

from __future__ import annotations

import argparse
import json
import shlex

from axiloom import boards, drivergen
from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.explore import hardware as explore_hardware
from axiloom.cli.explore.tables import as_csv, table
from axiloom.cli.given import Refusal, has, lacks, output_file, output_folder, refuse
from axiloom.drivergen.cost.model import FORMS
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore import chosen
from axiloom.explore.chosen import Task
from axiloom.explore.driver_report import as_json
from axiloom.explore.explore import Exploration, confirm, of_workload
from axiloom.read import models
from axiloom.report.page import front
from axiloom.sweep.sweep import exit_code


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "explore",
        help=HELP["explore"],
        description="Ranks all that the accelerator allows by the time that the cost model predicts. With "
        "--confirm N the best N are simulated as well, and so are the paper's Best and its square tiles.",
    )
    command.add_argument(
        "problems",
        nargs="+",
        metavar="PROBLEM",
        help="matmul:MxNxK[:int8|int16|int32] or conv:iHW_iC_fHW_oC_stride[:TYPE]; with --device also a "
        "network (FILE.mlir, ...)",
    )
    shared.add_accelerator(command, chosen=True)
    command.add_argument(
        "--pipeline",
        choices=tuple(FORMS),
        help="only this one (default: choose among those that the DMA is able to use)",
    )
    command.add_argument("--board", default=boards.DEFAULT, help="default %(default)s")
    command.add_argument(
        "--show", type=shared.positive, default=10, metavar="K", help="rows to show (default 10)"
    )
    command.add_argument(
        "--confirm",
        type=shared.positive,
        default=0,
        metavar="N",
        help="simulate the best N too; of a network, the best N designs",
    )
    explore_hardware.add_options(command)
    command.add_argument("--json", type=output_file, metavar="FILE", help="write what was found as JSON too")
    command.add_argument(
        "--output", type=output_file, metavar="FILE.csv", help="write the rows of the tables as CSV too"
    )
    command.add_argument(
        "--report", type=output_folder, metavar="DIR", help="write a page to DIR: time against what it takes"
    )
    add_sweep(command)
    refuse(
        command,
        Refusal("jobs dask store", lacks("confirm"), "for simulations: give --confirm N too"),
        Refusal(
            "rtl",
            has("device"),
            "--device chooses among generated accelerators; `axiloom estimate --rtl` says what yours takes "
            "of a device",
        ),
        Refusal(
            "rtl",
            lambda o: not o.device and not o.confirm,
            "the cost model knows generated RTL alone; give --confirm N, which simulates yours, or take "
            "`axiloom sweep --rtl`",
        ),
        Refusal("show", has("rtl"), "with --rtl the rows that --confirm N simulates are shown"),
    )
    command.set_defaults(execute=execute)


def add_sweep(command: argparse.ArgumentParser) -> None:
    """Where simulations run and what is kept of them."""
    group = command.add_argument_group("simulations")
    group.add_argument(
        "--jobs", type=shared.positive, metavar="N", help="local processes (default: one a core)"
    )
    group.add_argument("--dask", metavar="ADDRESS", help="run on the Dask scheduler there instead")
    group.add_argument(
        "--store",
        type=output_file,
        metavar="FILE",
        help="JSON-lines file of finished runs, which are not run again (default: in the user's cache)",
    )
    refuse(command, Refusal("jobs", has("dask"), "for local processes; with --dask its workers run"))


def execute(options: argparse.Namespace) -> int:
    asked = shared.asked(options)
    asked.refuse_model(options.command)
    if options.device:
        return explore_hardware.execute(options)
    explorations: list[Exploration] = []
    for text in options.problems:
        if models.is_model(text):
            raise UsageError(
                f"{text}: explore takes problems such as matmul:64x64x64, not files; with --device, which "
                "chooses hardware, it takes networks"
            )
        problem = drivergen.parse_workload(text)
        schedule = Schedule(pipeline=options.pipeline)
        spec = chosen.explored(Task(text, problem.mlir, problem.dtype, asked, schedule))
        rtl = asked.user_rtl(spec)
        top = options.confirm if rtl else max(options.show, options.confirm)
        explorations.append(
            of_workload(text, spec, pipeline=options.pipeline, board=options.board, top=top, user_rtl=rtl)
        )
    if options.confirm:
        explorations = confirm(
            explorations, options.confirm, store=options.store, jobs=options.jobs, dask=options.dask
        )
    print("\n\n".join(table(exploration) for exploration in explorations))
    if options.json:
        write_whole(
            options.json, json.dumps([as_json(exploration) for exploration in explorations], indent=2) + "\n"
        )
    if options.output:
        write_whole(options.output, as_csv(explorations))
    if options.report:
        front.write(
            [*map(as_json, explorations)], None, shlex.join(["axiloom", *options.words]), options.report
        )
    return exit_code(outcome for exploration in explorations for outcome in exploration.outcomes)
