"""``axiloom compile`` and ``axiloom verilog``: the driver and the hardware, without a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from axiloom import drivergen
from axiloom.base.errors import CompileError, UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.cli.kinds import Short
from axiloom.cli.run import network, program
from axiloom.drivergen.network import is_network
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore import chosen
from axiloom.explore.asked import Asked
from axiloom.explore.chosen import Task
from axiloom.hw.verilog import emit as emitted
from axiloom.read.mlir import file as mlir_file
from axiloom.run.resolve import BEST

STAGES = ("linalg", "accel", "calls", "c")
CALLS = 10
"""Of a driver in its application, where nobody says how many: most calls then find the caches warm."""


def compile_(
    problem: str,
    asked: Asked,
    use: Schedule,
    calls: int | None = None,
    emit: str = "c",
    output: Path | None = None,
) -> None:
    try:
        mlir, data_type = shared.problem(problem)
        taken = chosen.of_problem(Task(problem, mlir, data_type, asked, use, calls or CALLS))
        if calls is not None and taken.choice is None and use.flow != BEST:
            raise UsageError(f"--calls: for a choice, and nothing is chosen: --flow {BEST}")
        asked.user_rtl(taken.spec, command="compile")
        driver = drivergen.compile_mlir(
            mlir,
            taken.spec,
            **taken.schedule.options(),
            stop=emit,
            name=problem,
            remarks=chosen.remarks(taken),
        )
    except CompileError as error:
        text = mlir_file.read_mlir(problem) if mlir_file.is_mlir(problem) else ""
        if "tensor<" in text and is_network(text, problem):  # one without arguments is none
            raise CompileError(f"{error}. {network.BY_RUN.format(problem)}") from error
        raise
    shared.write(driver.stages[emit], output)


def verilog(asked: Asked, part: str = "soc", output: Path | None = None) -> None:
    if part == "accelerator" and asked.dma:
        raise UsageError("--dma: the accelerator alone has no DMA (--part soc has one)")
    specs = asked.specs()
    rtl = asked.user_rtl(*specs, command="verilog")
    shared.write(emitted.emit(specs, top=part, user_rtl=rtl), output)


APPLET = Applet(
    "compile",
    HELP["compile"],
    compile_,
    (
        option(
            "problem",
            metavar="PROBLEM",
            help="matmul:MxNxK[:int8|int16|int32], or FILE.mlir; FILE.onnx and FILE.py:FUNCTION with --emit "
            "linalg; a model with --accel FILE.isa: `axiloom program compile`",
        ),
        shared.accelerator(chosen=True),
        shared.USE,
        option(
            "--calls",
            type=shared.calls,
            metavar="N",
            help=f"choose hardware and use for a program that calls the driver N times (default {CALLS})",
        ),
        option("--emit", choices=STAGES, first=True, help="default c"),
        replace(shared.TO, first=True),
    ),
    "The text says which hardware it is for.",
)
VERILOG = Applet(
    "verilog",
    HELP["verilog"],
    verilog,
    (
        shared.accelerator(typed=True),
        option("--part", choices=("soc", "accelerator"), first=True, help="which top module (default soc)"),
        replace(shared.TO, first=True),
    ),
    "With --accel NAME,NAME the SoC has several accelerators, each with its DMA.",
)
APPLETS = (APPLET, VERILOG)
SHORT = {"compile": Short(APPLET, (program.COMPILE, network.READ))}
