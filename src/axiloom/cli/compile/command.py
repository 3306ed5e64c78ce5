"""``axiloom compile`` and ``axiloom verilog``: the driver and the hardware, without a run."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from axiloom import drivergen
from axiloom.base.errors import CompileError, SpecError, UsageError
from axiloom.base.files import check_file
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, output_file, refuse, reject
from axiloom.cli.run import select
from axiloom.drivergen.network import is_network
from axiloom.explore import chosen
from axiloom.hw.verilog import emit as verilog
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.read.context.model import weights_file
from axiloom.read.mlir import file as mlir_file
from axiloom.run.resolve import BEST

if TYPE_CHECKING:
    from axiloom.device.rtl import DeviceRtl
    from axiloom.isa.instructions.tree import InstructionSet

STAGES = ("linalg", "accel", "calls", "c")
PROGRAM = "program"
CALLS = 10
"""Of a driver in its application, where nobody says how many: most calls then find the caches warm."""
NETWORKS = "A network becomes many files: axiloom run {} --keep DIR writes its C, and runs it"


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compile_ = commands.add_parser("compile", help=HELP["compile"])
    compile_.add_argument(
        "problem",
        help="matmul:MxNxK[:int8|int16|int32], or FILE.mlir; with --emit linalg also FILE.onnx and "
        "FILE.py:FUNCTION",
    )
    shared.add_accelerator(compile_, chosen=True)
    shared.add_schedule(compile_)
    compile_.add_argument(
        "--calls",
        type=shared.calls,
        default=CALLS,
        metavar="N",
        help="choose hardware and use for a program that calls the driver N times (default %(default)s)",
    )
    select.add_option(compile_)
    compile_.add_argument(
        "-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="a constant of the text"
    )
    compile_.add_argument(
        "--emit",
        choices=(*STAGES, PROGRAM),
        default="c",
        help=f"default %(default)s; {PROGRAM}: the commands, with --select egraph",
    )
    compile_.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    refuse(
        compile_,
        Refusal(
            "emit",
            lambda o: o.emit == PROGRAM and not select.by_text(o),
            "for --select egraph, which makes one",
        ),
        Refusal(
            "emit",
            lambda o: o.emit not in ("c", PROGRAM) and select.by_text(o),
            f"with --select egraph there are c and {PROGRAM}",
        ),
        Refusal(
            "define", lambda o: not select.by_text(o), "constants of an instruction set: --select egraph"
        ),
    )
    compile_.set_defaults(execute=execute_compile)

    emit = commands.add_parser(
        "verilog",
        help=HELP["verilog"],
        description="With --accel NAME,NAME the SoC has several accelerators, each with its DMA.",
    )
    shared.add_accelerator(emit)
    emit.add_argument(
        "--part", choices=("soc", "accelerator"), default="soc", help="which top module (default %(default)s)"
    )
    emit.add_argument(
        "--data-type", choices=("int8", "int16", "int32"), help="of a built-in accelerator (default int32)"
    )
    emit.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    refuse(
        emit,
        Refusal(
            "dma", lambda o: o.part == "accelerator", "the accelerator alone has no DMA (--part soc has one)"
        ),
    )
    emit.set_defaults(execute=execute_verilog)


def execute_compile(options: argparse.Namespace) -> int:
    if select.by_text(options):
        return _compile_selected(options)
    if models.is_network(options.problem):
        return _compile_model(options)
    try:
        return _compile_problem(options)
    except CompileError as error:
        text = mlir_file.read_mlir(options.problem) if mlir_file.is_mlir(options.problem) else ""
        if "tensor<" in text and is_network(text, options.problem):  # one without arguments is none
            raise CompileError(f"{error}. {NETWORKS.format(options.problem)}") from error
        raise


def _compile_model(options: argparse.Namespace) -> int:
    """The MLIR of a model from PyTorch or ONNX, and its weights beside it."""
    if options.emit != "linalg":
        raise CompileError(
            f"{options.problem}: a model. {NETWORKS.format(options.problem)}; --emit linalg writes its MLIR"
        )
    others = [name for name in options.given if name not in ("problem", "emit", "output")]
    reject(
        options,
        [Refusal(" ".join(others), lambda _: True, "for a driver; --emit linalg has the model alone")],
    )
    model = models.load(options.problem)
    if options.output is None:
        shared.write(model.mlir, None)
        if model.weights:
            print("note: the weights are not in the text; -o FILE.mlir writes FILE.npz, too", file=sys.stderr)
        return 0
    if options.output.suffix != ".mlir":
        raise UsageError(f"--output {options.output}: expected is a name that ends in .mlir")
    if model.weights:
        check_file(weights_file(options.output))
    model.write(options.output)
    return 0


def _compile_problem(options: argparse.Namespace) -> int:
    mlir, data_type = shared.problem(options.problem)
    taken = chosen.of_problem(shared.task(options, mlir, data_type))
    spec = taken.spec
    all_given = taken.choice is None and options.flow != BEST
    reject(
        options,
        [Refusal("calls", lambda _: all_given, f"for a choice, and nothing is chosen: --flow {BEST}")],
    )
    shared.asked(options).user_rtl(spec, command=options.command)
    driver = drivergen.compile_mlir(
        mlir,
        spec,
        **taken.schedule.options(),
        stop=options.emit,
        name=options.problem,
        remarks=chosen.remarks(taken),
    )
    shared.write(driver.stages[options.emit], options.output)
    return 0


def _compile_selected(options: argparse.Namespace) -> int:
    """A validated program, or its driver; what was chosen is said beside it."""
    from axiloom.device.rtl import device
    from axiloom.selection.drive.driver import driver
    from axiloom.selection.drive.plan import plan
    from axiloom.selection.program.file import write

    reject(
        options,
        [Refusal(f"{select.OTHERS} calls", lambda _: True, "not with --select egraph, whose text says that")],
    )
    width = options.stream_width or 64

    def built(isa: InstructionSet) -> DeviceRtl | None:
        try:
            return device(isa, stream_width=width)
        except SpecError:
            return None  # nothing builds it: costs are then those of its text alone

    chosen = select.selected(options, built, told())
    print(*chosen.lines(), sep="\n", file=sys.stderr)
    if options.emit == PROGRAM:
        shared.write(write(chosen.program), options.output)
        return 0
    rtl = built(chosen.isa)
    if rtl is None:
        raise CompileError(f"{chosen.isa.name}: no RTL, so no driver; --emit {PROGRAM} has the commands")
    shared.write(driver(plan(chosen.program, chosen.isa, width), rtl.link).c, options.output)
    return 0


def execute_verilog(options: argparse.Namespace) -> int:
    specs = shared.asked(options).specs(options.data_type)
    rtl = shared.asked(options).user_rtl(*specs, command=options.command)
    shared.write(verilog.emit(specs, top=options.part, user_rtl=rtl), options.output)
    return 0
