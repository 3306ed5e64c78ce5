"""``axiloom run FILE.c``: loops become RTL behind a port, its driver, and a run on the SoC.
Models become loops with ``--schedule`` or ``--auto``; without them they are a network for an accelerator."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base import processes
from axiloom.base.files import make_folder, write_arrays
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, has, refuse, reject
from axiloom.cli.nest import auto as nest_auto
from axiloom.cli.nest import resident as nest_resident
from axiloom.cli.nest.source import DEVICE, add_includes
from axiloom.library.progress import told
from axiloom.library.works import is_loops as is_loops_file
from axiloom.run.run import Watch, simulate

if TYPE_CHECKING:
    from axiloom.nest.accelerator import Accelerator
    from axiloom.nests.program.loaded import Loaded

OTHERS = (
    "accel size spec encoding post rtl top macs memory_port flow order tile pipeline against weights "
    "stop_after layers offload_from offload port data_type rebase"
)
"""Options of other accelerators."""
OPTIONS = "schedule define include plain"
"""Options of loops alone."""
ACCEPTED = "FILE.c[:FUNCTION], FILE.py:FUNCTION; with --schedule or --auto FILE.mlir, FILE.onnx, a model too"


def is_c(problem: str) -> bool:
    """Whether a problem is a file of C, perhaps with a function."""
    return problem.partition(":")[0].endswith(".c")


def is_loops(options: argparse.Namespace) -> bool:
    """Whether the problem of ``axiloom run`` is meant as loops."""
    problem: str = options.problem
    if options.schedule is None and not options.auto:
        return is_loops_file(problem)
    return problem.partition(":")[0].endswith((".c", ".mlir", ".onnx", ".py"))


def add_options(run: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = run.add_argument_group("loops (FILE.c[:FUNCTION])")
    group.add_argument(
        "--schedule", type=Path, metavar="FILE", help="primitives, a line each (default: as it is written)"
    )
    group.add_argument(
        "-D",
        dest="define",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a macro: a size; of a template of MLIR: ${NAME}",
    )
    add_includes(group)
    group.add_argument(
        "--plain", action="store_true", help="all inputs, then one nest after the other, then all results"
    )
    return group


def add_search(run: argparse.ArgumentParser) -> None:
    """The options of loops, and ``--auto``."""
    group = add_options(run)
    group.title = f"loops ({ACCEPTED})"
    group.add_argument(
        "--auto",
        action="store_true",
        help=f"search for the schedule, in the limits of {DEVICE} and as if arrays were resident; print it",
    )
    refuse(run, Refusal("schedule", has("auto"), "with --auto the schedule is what is searched for"))


def execute(options: argparse.Namespace, finish: Any) -> int:
    """`finish` prints the report and writes its files."""
    from axiloom.cli.nest.source import load, scheduled
    from axiloom.nest.accelerator import accelerator, multiply_adds
    from axiloom.nest.reference import reference
    from axiloom.nests.timing import cycles
    from axiloom.run.nest import NestRun

    reject(
        options, [Refusal(OTHERS, lambda _: True, "not for loops, which become an accelerator of their own")]
    )
    loaded = load(options.problem, sizes(options), options.include)
    progress = told()
    schedule, searched = scheduled(loaded.program, options.schedule), ""
    if options.auto:
        schedule, searched = nest_auto.best(loaded.program)
    progress("from the schedule to RTL")
    built = accelerator(
        schedule,
        options.stream_width or 64,
        plain=options.plain,
        scatter_gather=options.dma != "simple",
    )
    if built.deadlock:
        progress(f"one nest after the other, as overlapped they would never end: {built.deadlock}")
    values = nest_resident.inputs(loaded, options.input, options.seed)
    right = reference(loaded, schedule, values)
    with processes.scratch("axiloom-") as temporary:
        folder = options.keep or Path(temporary)
        make_folder(folder)
        options.rtl = None
        system = shared.system(options, [built.link], options.seed)
        system = replace(system, user_rtl=built.rtl(folder))
        run = NestRun(
            loaded.program,
            built.packets,
            system,
            values,
            dict(right.results),
            right.text,
            multiply_adds(loaded.program),
            options.seed,
        )
        watch = Watch(progress, sys.stderr.isatty(), options.keep, shared.wants_timeline(options))
        result = simulate(run, watch)
        if options.output:
            write_arrays(options.output, run.outputs(result))
        code: int = finish(run.checked(result), options, progress, result, run.driver.c)
    print(searched, end="")
    print("".join(f"warning: {warning}\n" for warning in right.warnings), end="")
    timing = cycles(built.circuit)
    bound = max(packet.beats for packet in built.packets)
    print(
        f"Nests: {timing.cycles:,} cycles from the first word on, predicted; the port alone takes {bound:,} "
        f"({timing.cycles / bound:.3f} times that)"
    )
    if built.deadlock:
        print(f"Nests: they run one after the other, as with --plain. Overlapped: {built.deadlock}")
    return code


def sizes(options: argparse.Namespace) -> dict[str, str]:
    """Of ``-D``."""
    from axiloom.cli.nest.source import defines

    return defines(options.define)


def compiled(options: argparse.Namespace, width: int, scatter_gather: bool) -> tuple[Loaded, Accelerator]:
    """The program of ``--problem``, and its accelerator."""
    from axiloom.cli.nest.source import load, scheduled
    from axiloom.nest.accelerator import accelerator

    loaded = load(options.problem[0], sizes(options), options.include)
    schedule = scheduled(loaded.program, options.schedule)
    return loaded, accelerator(schedule, width, plain=options.plain, scatter_gather=scatter_gather)
