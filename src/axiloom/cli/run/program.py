"""``axiloom program``: commands of an instruction set with meaning, their driver and their RTL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.base.files import make_folder
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option
from axiloom.cli.kinds import Kind, Said
from axiloom.cli.nest.source import defines
from axiloom.cli.run import network
from axiloom.cli.shown import SHOWN, Shown
from axiloom.cosim.soc import judge
from axiloom.explore.asked import Asked
from axiloom.library.plans import Layers, Plan, Simulated
from axiloom.library.progress import Progress, told
from axiloom.library.works import Work, of_model
from axiloom.read import models
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import folder_or_temporary
from axiloom.run.selection import EGRAPH, check_extra

if TYPE_CHECKING:
    from axiloom.device.rtl import DeviceRtl
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.run.selected import Selected

ENDING = ".program"
CPU = "cpu"
WIDTH = 64
"""Bits of a stream, where nobody says them."""


def is_program(problem: str) -> bool:
    """Whether a problem is a file of commands."""
    return problem.endswith(ENDING)


def by_text(problem: str, accel: str | None, select: str | None) -> bool:
    """Whether a program is to be found for an instruction set: as asked, or because `accel` names one for a
    model."""
    if select is None:
        return models.is_model(problem) and _names_text(accel)
    return select == EGRAPH and (accel is None or _names_text(accel))


def _names_text(accel: str | None) -> bool:
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets

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


def instruction_set(name: str, folder: Path, values: Mapping[str, int], where: str) -> InstructionSet:
    """A built-in text by its name, or a file. Raises UsageError, SpecError."""
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.isa.instructions.read import read

    built_in = targets()
    if name in built_in:
        return read(built_in[name], dict(values))
    if not name.endswith(INSTRUCTIONS):
        raise UsageError(
            f"{where}: no instruction set is called {name}; there are {', '.join(built_in)}, "
            f"and files that end in {INSTRUCTIONS}"
        )
    return read(folder / name, dict(values))


def selected(
    problem: str,
    accel: str | None,
    define: Sequence[str],
    device: Callable[[InstructionSet], DeviceRtl | None],
    progress: Progress,
) -> Selected:
    """An application as a validated program of the instruction set that `accel` names."""
    check_extra()
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.read import read
    from axiloom.run.selected import select

    if accel is None:
        names = ", ".join(targets())
        raise UsageError(f"{problem}: say for which instruction set: --accel {names}, or FILE.isa")
    values = constants(define)
    path, _, function = problem.partition(":")
    graph = read(Path(path), function or None)
    return select(
        graph,
        lambda more: instruction_set(accel, Path(), {**more, **values}, "--accel"),
        device,
        progress,
        Path(accel).name if accel.endswith(INSTRUCTIONS) else "",
    )


def run(
    program: str,
    around: Simulated,
    shown: Shown,
    words: Sequence[str],
    accel: str | None = None,
    define: Sequence[str] = (),
    lanes: int | None = None,
    product_rows: int = 1,
    stream_width: int = WIDTH,
    output: Path | None = None,
) -> int:
    from axiloom.device.rtl import DEFAULT_LANES, device
    from axiloom.device.values import random_values
    from axiloom.plan import figures
    from axiloom.run.program import BY_TEXT, ProgramRun
    from axiloom.selection.drive.execute import execute as by_simulator
    from axiloom.selection.program.file import read

    progress = told()
    devices: dict[str, DeviceRtl] = {}

    def built(isa: InstructionSet) -> DeviceRtl:
        text = repr(isa)
        if text not in devices:
            progress("from the text to RTL")
            devices[text] = device(isa, lanes or DEFAULT_LANES, stream_width, product_rows)
        return devices[text]

    chosen: Selected | None = None
    if not is_program(program):
        chosen = selected(program, accel, define, built, progress)
        commands, isa = chosen.program, chosen.isa
    elif accel is not None:
        raise UsageError(f"--accel {accel}: {program} says which instruction set executes it: leave it out")
    else:
        commands = read(Path(program))
        isa = instruction_set(commands.target, Path(program).parent, constants(define), commands.name)
    rtl = built(isa)
    values = random_values(commands, around.seed)
    results, reference = by_simulator(commands, isa, values), BY_TEXT
    if chosen is not None and _same(chosen, values, results):
        reference = "the application, evaluated with NumPy"
    with folder_or_temporary(shown.keep) as folder:
        system = replace(around.system([rtl.link], Asked()), user_rtl=rtl.rtl(folder))
        job = ProgramRun(commands, rtl, system, values, results, reference, seed=around.seed)
        plan = Plan(Work(program), program, system, lambda _inputs: job)
        ran = shown.run(plan, job, words, watch=shown.watch(progress))
        code = shown.end(ran, words, output)
        judge(ran.result)
    foretold = rtl.foretold(commands)
    alone = "" if foretold is None else f"; the device alone takes {foretold:,}"
    print(*(chosen.lines() if chosen else [f"Commands: {len(commands.commands)}"]), sep="\n")
    moved = figures(job.plan)
    print(
        f"Words: {4 * moved.sent:,} bytes in, {4 * moved.received:,} bytes out; "
        f"{ran.result.section_cycles:,} fabric cycles from call to return{alone}"
    )
    return code


def _same(chosen: Selected, values: Any, results: Any) -> bool:
    """Whether the application gives the program's results on these values, bit for bit."""
    import numpy as np

    from axiloom.graph.evaluate import evaluate

    names = {str(parameter.attributes["name"]) for parameter in chosen.graph.parameters}
    if names != set(values):
        return False
    expected = evaluate(chosen.graph, values)
    outs = ["y"] if len(expected) == 1 else [f"y{i}" for i in range(len(expected))]
    return all(np.array_equal(results[name], array) for name, array in zip(outs, expected, strict=True))


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
    """Each layer that the text's instructions can compute is a program of its own, found by equality
    saturation and validated; the CPU does the rest."""
    check_extra()
    from axiloom.device.rtl import device
    from axiloom.run.text_layers import TextLayers

    if around.os == "linux":
        raise UsageError("--os linux is for functions with one op, not for networks")
    names = [name for name in accel.split(",") if name != CPU]
    if len(names) != 1:
        raise UsageError(f"--accel {accel}: one instruction set shares a network with the CPU")
    work = of_model(model, models.load(model)) if models.is_model(model) else None
    if work is None or work.model is None:
        raise UsageError(f"{model}: --accel {accel} is for networks: MLIR, model.py:build or .onnx")
    network_of = work.model
    values = constants(define)

    def read(more: Mapping[str, int]) -> InstructionSet:
        return instruction_set(names[0], Path(), {**more, **values}, "--accel")

    progress = told()
    progress("from the text to RTL")
    rtl = device(read({}), stream_width=stream_width)
    text_layers = TextLayers(read, rtl, progress)
    with folder_or_temporary(None) as folder:
        make_folder(shown.keep or folder)
        system = replace(around.system([rtl.link], Asked()), user_rtl=rtl.rtl(folder))

        def job(inputs: Any) -> NetworkRun:
            of = Network(model, network_of.mlir, network_of.weights, inputs, around.seed, network_of.referee)
            return NetworkRun(of, system, layers=text_layers, **layers.fields)

        plan = Plan(work, model, system, job)
        code = network.simulated(plan, shown, words, layers, against, input, output)
    print("", *text_layers.lines(), sep="\n")
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
    import sys

    from axiloom.device.rtl import device
    from axiloom.selection.drive.driver import driver
    from axiloom.selection.drive.plan import plan
    from axiloom.selection.program.file import write

    def built(isa: InstructionSet) -> DeviceRtl | None:
        try:
            return device(isa, stream_width=stream_width)
        except SpecError:
            return None  # nothing builds it: costs are then those of its text alone

    chosen = selected(model, accel, define, built, told())
    print(*chosen.lines(), sep="\n", file=sys.stderr)
    if emit == "program":
        shared.write(write(chosen.program), output)
        return 0
    rtl = built(chosen.isa)
    if rtl is None:
        raise CompileError(f"{chosen.isa.name}: no RTL, so no driver; --emit program has the commands")
    shared.write(driver(chosen.program, plan(chosen.program, chosen.isa, stream_width), rtl.link).c, output)
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
