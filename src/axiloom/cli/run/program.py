"""``axiloom program``: commands of an instruction set with meaning, their driver and their RTL."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option
from axiloom.cli.kinds import Kind, Said
from axiloom.cli.nest.source import defines
from axiloom.cli.run import network
from axiloom.cli.shown import SHOWN, Shown
from axiloom.cosim.soc import judge
from axiloom.device.rtl import DEFAULT_LANES
from axiloom.explore.asked import Asked
from axiloom.isa.instructions.library import INSTRUCTIONS, targets
from axiloom.library.accelerators import WIDTH, TextDevice
from axiloom.library.devices import CPU
from axiloom.library.plans import Layers, Simulated
from axiloom.library.progress import told
from axiloom.library.works import PROGRAM, Work, of_model, read
from axiloom.read import models
from axiloom.run.selection import EGRAPH


def is_program(problem: str) -> bool:
    """Whether a problem is a file of commands."""
    return problem.endswith(PROGRAM)


def by_text(problem: str, accel: str | None, select: str | None) -> bool:
    """Whether a program is to be found for an instruction set: as asked, or because `accel` names one for a
    model."""
    if select is None:
        return models.is_model(problem) and _names_text(accel)
    return select == EGRAPH and (accel is None or _names_text(accel))


def _names_text(accel: str | None) -> bool:
    names = (accel or "").split(",")
    return any(name in targets() or name.endswith(INSTRUCTIONS) for name in names)


def constants(define: Sequence[str]) -> dict[str, int]:
    """Constants of a text, of ``-D NAME=VALUE``. Raises UsageError."""
    values = {}
    for name, value in defines(define).items():
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"-D {name}={value}: a constant of a text is a number") from None
    return values


def instructions(
    name: str | None,
    define: Sequence[str],
    stream_width: int = WIDTH,
    lanes: int = DEFAULT_LANES,
    product_rows: int = 1,
) -> TextDevice:
    """The instruction set of `name`. Raises UsageError where it is none."""
    there = f"{', '.join(targets())}, or FILE{INSTRUCTIONS}"
    if name is None:
        raise UsageError(f"say for which instruction set: --accel {there}")
    if not _names_text(name):
        raise UsageError(f"--accel {name}: is no instruction set; there are {there}")
    return TextDevice(
        name,
        Asked(),
        constants=constants(define),
        lanes=lanes,
        product_rows=product_rows,
        stream_width=stream_width,
    )


def run(
    program: str,
    around: Simulated,
    shown: Shown,
    words: Sequence[str],
    accel: str | None = None,
    define: Sequence[str] = (),
    stream_width: int = WIDTH,
    output: Path | None = None,
    **sizes: int,
) -> int:
    """`sizes`: of the units of its RTL."""
    from axiloom.library.programs import named, of_program
    from axiloom.plan import figures

    progress = told()
    work: Work | str = program
    if is_program(program):
        if accel is not None:
            raise UsageError(
                f"--accel {accel}: {program} says which instruction set executes it: leave it out"
            )
        work = read(program)
        accel = named(work)
    device = instructions(accel, define, stream_width, **sizes)
    plan = of_program(work, program, device, around, keep=shown.keep, say=progress)
    job = plan.job()
    ran = shown.run(plan, job, words, watch=shown.watch(progress))
    code = shown.end(ran, words, output)
    judge(ran.result)
    foretold = plan.rtl.foretold(plan.commands)
    alone = "" if foretold is None else f"; the device alone takes {foretold:,}"
    print(*(plan.chosen.lines() if plan.chosen else [f"Commands: {len(plan.commands.commands)}"]), sep="\n")
    moved = figures(job.plan)
    print(
        f"Words: {4 * moved.sent:,} bytes in, {4 * moved.received:,} bytes out; "
        f"{ran.result.section_cycles:,} fabric cycles from call to return{alone}"
    )
    return code


def run_network(
    model: str,
    accel: str,
    around: Simulated,
    layers: Layers,
    shown: Shown,
    words: Sequence[str],
    define: Sequence[str] = (),
    stream_width: int = WIDTH,
    against: str | None = None,
    input: Path | None = None,
    output: Path | None = None,
) -> int:
    """Each layer that the text's instructions can compute is a program of its own; the CPU does the rest."""
    from axiloom.library.programs import of_network

    names = [name for name in accel.split(",") if name != CPU]
    if len(names) != 1:
        raise UsageError(f"--accel {accel}: one instruction set shares a network with the CPU")
    if not models.is_model(model):
        raise UsageError(f"{model}: --accel {accel} is for networks: MLIR, model.py:build or .onnx")
    device = instructions(names[0], define, stream_width)
    work = of_model(model, models.load(model))
    plan, by_text = of_network(work, model, device, around, layers, keep=shown.keep, say=told())
    code = network.simulated(plan, shown, words, layers, against, input, output)
    print("", *by_text.lines(), sep="\n")
    return code


def compile_(
    model: str,
    accel: str | None = None,
    define: Sequence[str] = (),
    stream_width: int = WIDTH,
    emit: str = "c",
    output: Path | None = None,
) -> int:
    """A validated program, or its driver; what was chosen is said beside it."""
    from axiloom.library.programs import selected
    from axiloom.selection.drive.driver import driver
    from axiloom.selection.program.file import write
    from axiloom.selection.validate.transfers import plan

    device, progress = instructions(accel, define, stream_width), told()
    chosen = selected(model, device, progress, with_rtl=emit != "program")
    progress("")
    print(*chosen.lines(), sep="\n", file=sys.stderr)
    if emit == "program":
        shared.write(write(chosen.program), output)
    else:
        rtl, steps = device.rtl(chosen.isa), plan(chosen.program, chosen.isa, stream_width)
        shared.write(driver(chosen.program, steps, rtl.spec.link).c, output)
    return 0


def _of_text(said: Said) -> bool:
    return "problem" in said and by_text(said["problem"], said.get("accel"), said.get("select"))


def _meant(said: Said) -> str:
    if "problem" not in said:
        return ""
    if is_program(said["problem"]):
        return f"{said['problem']} is a program"
    return f"{said['problem']} becomes a program of an instruction set" if _of_text(said) else ""


def _shared(said: Said) -> str:
    if not (_of_text(said) and CPU in said.get("accel", "").split(",")):
        return ""
    return f"{said['problem']} is shared by an instruction set and the CPU"


ACCEL = option(
    "--accel", metavar="NAME|FILE.isa", first=True, help="the instruction set, which finds a model's program"
)
DEFINE = shared.define("a constant of its text", first=True)
STREAM_WIDTH = shared.stream_width(f"bits of the streams (default {WIDTH})")
RUN = Kind(
    Applet(
        "program run",
        "run commands of an instruction set, written or found for a model, on the RTL of its text",
        run,
        (
            option("program", metavar="FILE.program|MODEL", help="commands, or what they are found for"),
            ACCEL,
            DEFINE,
            shared.LANES,
            option(
                "--product-rows",
                type=shared.positive,
                metavar="N",
                first=True,
                help="rows of a product at once, each with that many lanes",
            ),
            STREAM_WIDTH,
            shared.SIMULATION,
            SHOWN,
            replace(shared.OUTPUT, first=False),
        ),
        "A model's program is found by proved rules, validated, and simulated. Exit code 0 only if the "
        "results are those of the application or, of FILE.program, of the text's simulator.",
    ),
    _meant,
    ("--select", EGRAPH),
)
ON_NETWORK = Kind(
    Applet(
        "program network",
        "run a network whose layers are programs of an instruction set, the rest on the CPU",
        run_network,
        (
            network.MODEL,
            option("--accel", required=True, metavar="NAME,cpu", first=True, help="the instruction set"),
            DEFINE,
            STREAM_WIDTH,
            shared.SIMULATION,
            SHOWN,
            network.AGAINST_CPU,
            network.INPUT,
            network.OUTPUT,
            Group("layers", network.WHERE, "layers", Layers),
        ),
    ),
    _shared,
    ("--select", EGRAPH),
)
COMPILE = Kind(
    Applet(
        "program compile",
        "find a model's program for an instruction set, and print its driver or its commands",
        compile_,
        (
            option("model", metavar="MODEL", help="FILE.mlir, FILE.onnx, FILE.py:FUNCTION, HLO text"),
            ACCEL,
            DEFINE,
            STREAM_WIDTH,
            option(
                "--emit",
                choices=("c", "program"),
                first=True,
                help="the driver (default), or the commands",
            ),
            replace(shared.TO, first=True),
        ),
    ),
    _meant,
    ("--select", EGRAPH),
)
APPLETS = (RUN.applet, ON_NETWORK.applet, COMPILE.applet)
