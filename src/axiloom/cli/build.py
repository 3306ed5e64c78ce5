"""``axiloom compile`` and ``axiloom verilog``: the driver and the hardware, without a run."""

from __future__ import annotations

import argparse

from axiloom import drivergen
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, output_file, refuse
from axiloom.hw.verilog import emit as verilog

STAGES = ("linalg", "accel", "calls", "c")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compile_ = commands.add_parser(
        "compile", help="compile a problem to a C driver, or show a stage on the way"
    )
    compile_.add_argument("problem", help="matmul:MxNxK[:int8|int16|int32], or FILE.mlir")
    shared.add_accelerator(compile_)
    shared.add_schedule(compile_)
    compile_.add_argument("--emit", choices=STAGES, default="c", help="default %(default)s")
    compile_.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: standard output")
    compile_.set_defaults(execute=execute_compile)

    emit = commands.add_parser(
        "verilog",
        help="write the Verilog of an accelerator, alone or in its SoC",
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
    mlir, spec, schedule = shared.chosen(options)
    shared.user_rtl(options, spec)  # a driver does not depend on it, but has to fit it
    driver = drivergen.compile_mlir(mlir, spec, **schedule.options(), stop=options.emit, name=options.problem)
    shared.write(driver.stages[options.emit], options.output)
    return 0


def execute_verilog(options: argparse.Namespace) -> int:
    specs = shared.accelerators(options, options.data_type)
    rtl = shared.user_rtl(options, *specs)
    shared.write(verilog.emit(specs, top=options.part, user_rtl=rtl), options.output)
    return 0
