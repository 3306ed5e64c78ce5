"""``axiloom simulate``: a driver of the user's on the simulated SoC."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from axiloom.base.cache import content_hash
from axiloom.base.errors import CompileError, UsageError
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option
from axiloom.cli.kinds import Kind, Said, Short
from axiloom.cli.run import board_program, by_others, serial
from axiloom.cli.shown import SHOWN, Shown, say_process
from axiloom.cosim import debugger, last_run
from axiloom.cosim import elf as elf_file
from axiloom.cosim.build import bsp as bsp_build
from axiloom.cosim.build.user_code import CXX, CompileOptions
from axiloom.cosim.job import Job
from axiloom.cosim.soc import HungError, Soc, judge, raise_failure
from axiloom.cosim.system import System
from axiloom.explore.asked import Asked
from axiloom.isa import dumps
from axiloom.library.plans import Simulated
from axiloom.library.progress import told
from axiloom.read.mlir import file as mlir_file
from axiloom.report import build as report
from axiloom.report import hang
from axiloom.report.types import Setup
from axiloom.run.compare import compare
from axiloom.run.run import folder_or_temporary


def execute(
    driver: Sequence[Path],
    asked: Asked,
    around: Simulated,
    shown: Shown,
    words: Sequence[str],
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    compiler: Sequence[str] = (),
    bsp: bool = False,
    ip: Sequence[str] = (),
    load: Sequence[str] = (),
    expect: Sequence[str] = (),
    gdb: int | None = None,
    coverage: Path | None = None,
    arguments: str = "",
    **typed: Any,
) -> int:
    """`typed`: what the terminal of :mod:`axiloom.cli.run.board_program` takes."""
    inputs, expected = serial.arrays(load), serial.arrays(expect)
    progress, asked = told(), replace(asked, board=around.board)
    specs = asked.specs()
    system = replace(around, ip=tuple(ip)).system(specs, asked)
    outputs = {symbol: (array.shape, str(array.dtype)) for symbol, array in expected.items()}
    soc = Soc(system, shown.timeline, coverage is not None, inspect=gdb is not None)
    with folder_or_temporary(shown.keep) as folder:
        settings = CompileOptions(
            tuple(define), tuple(include), tuple(compiler), bsp, for_debugger=gdb is not None
        )
        elf = _elf(driver, system, folder, settings, {*inputs, *expected}, progress)
        is_board = board_program.check(elf, typed, inputs)
        argv = shlex.split(arguments)
        if argv and not elf_file.load(elf).is_linux:
            raise UsageError(f"--arguments: are of a Linux program (--os linux), and {elf.name} is none")
        soc.build(progress=progress)
        progress("")
        driver_hash = content_hash(elf)
        hung: HungError | None = None
        about = content_hash(dumps(*specs), tuple(define), tuple(compiler), bsp)
        with board_program.terminal(is_board, typed) as terminal:
            job = Job(elf, inputs, outputs, words=last_run.words(driver, about), terminal=terminal)
            job = replace(job, coverage=coverage is not None, arguments=argv)
            has_lines = sys.stderr.isatty() and not terminal.descriptors  # they would be in its text
            with debugger.waiting(job, gdb) as job:
                result = soc.run_many([job], check=False, progress=has_lines)[0]
        if coverage is not None and result.covered is not None:
            shared.write(result.covered.lcov(elf), coverage)
        board_program.say(result, terminal)
        try:
            raise_failure(result)
            last_run.keep(driver, about, result.fabric["words_in"] + result.fabric["words_out"])
        except HungError as error:
            hung = error
    config: Setup = {
        "problem": " ".join(path.name for path in driver),
        "accelerator": " and ".join(spec.name for spec in specs),
        "spec_hash": content_hash(dumps(*specs)),
        "data_type": system.spec.data_type.value,
        "driver_hash": driver_hash,
    }
    outcome = compare(result, {} if hung else expected)
    if result.stopped is not None:
        outcome["hang"] = hang.of(
            result.hang or "", result.stopped, hang.Setting(None, bool(system.user_rtl))
        )
    built = report.build(system, result, config=config, seed=0, result=outcome, multiply_adds=None)
    sources = [
        file.read_text(encoding="utf-8", errors="replace") for file in driver if file.suffix in (".c", *CXX)
    ]
    source = "\n".join(sources) or None
    if hung is not None:
        raise shown.hung(hung, built, source, words)
    shown.write(built, result.profile.timeline, source, words)
    code = shown.print(built)
    if around.os == "linux":
        say_process(result)
    judge(result)
    return code


def _elf(
    driver: Sequence[Path],
    system: System,
    folder: Path,
    settings: CompileOptions,
    arrays: Collection[str],
    progress: Any,
) -> Path:
    named = [mlir_file.split(str(file)) for file in driver]
    for file, _ in named:
        if not file.is_file():
            raise UsageError(f"{file}: {'is a folder, not a file' if file.is_dir() else 'no such file'}")
    if len(named) == 1 and named[0][0].suffix == ".elf":
        if settings.bsp:
            raise UsageError(f"--bsp: is for sources, and {named[0][0]} is compiled already")
        return named[0][0]
    progress("compiling the driver")
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for file, function in named:
        if file.suffix == ".mlir":
            file = by_others.in_c(file, function, folder, system.spec, settings.defines, system.os == "linux")
        if not file.suffix.startswith(".h"):
            sources.append(file)
    try:
        elf, warnings = system.compile_user(sources, folder / "driver.elf", settings, arrays)
    except CompileError as error:
        lacks = None if settings.bsp else _LACKS.search(str(error))
        if lacks and lacks[1] in bsp_build.headers():
            raise CompileError(f"{error}; it is of Xilinx' standalone API: give --bsp") from None
        raise
    progress("")
    for warning in warnings:
        print(warning, file=sys.stderr)
    return elf


def _finished(said: Said) -> str:
    files = said.get("driver", ())
    return f"{files[0]} is compiled already" if [file.suffix for file in files] == [".elf"] else ""


_LACKS = re.compile(r"'(x\w+\.h)' file not found")


class _CompilerFlag(argparse.Action):
    """A flag that is handed on as it was typed: ``-Wall``, ``-std=c11``."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, flag: str | None = None
    ) -> None:
        typed = f"{flag}={values}" if flag == "-std" else f"{flag}{values}"
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, ()), typed])


_COMPILER = {
    "-W": "warnings (-Wextra, -Wno-unused)",
    "-O": "optimisation (default: -O3)",
    "-f": "the language and its code (-funsigned-char)",
    "-m": "the CPU",
    "-std": "the language (-std=gnu11)",
    "-U": "a macro less",
}
_TERMINAL = Group(
    "a program of a Zynq: with --bsp, or built by other tools",
    (
        option(
            "--input",
            metavar="FILE",
            help="what is typed at its UARTs (default: -, standard input)",
        ),
        option("--until", metavar="TEXT", help="it ends well when it has printed this"),
        option(
            "--limit",
            type=shared.seconds,
            metavar="SECONDS",
            help="of the board's time (default: 100)",
        ),
    ),
)
_GDB = option(
    "--gdb",
    type=shared.port,
    metavar="PORT",
    first=True,
    help="wait at this port of this machine for gdb, which then has the program (0: a free port)",
)
_COVERAGE = option(
    "--coverage",
    type=Path,
    metavar="FILE.info",
    help="write how often each line of the driver was executed, and of --rtl Verilog, as LCOV's text",
)
_ARGUMENTS = option(
    "--arguments", metavar="TEXT", help="of a Linux program: what its main gets, in words as of a shell"
)
_COMMON = (serial.LOAD, serial.EXPECT, _GDB, _COVERAGE, _ARGUMENTS, shared.IP, shared.accelerator())
_AROUND = shared.without(shared.SIMULATION, "seed")
APPLET = Applet(
    "simulate",
    HELP["simulate"],
    execute,
    (
        option(
            "driver", nargs="+", type=Path, metavar="FILE", help="DRIVER.c, .cpp, .mlir, ...; or FILE.elf"
        ),
        shared.define(
            "a macro of the driver's; of a template of MLIR the value of ${NAME}", "NAME[=VALUE]", first=True
        ),
        shared.include("a folder with headers, beside those of the sources", first=True),
        option(
            "--bsp",
            action="store_true",
            first=True,
            help="the sources are written against the vendor's API (xaxidma.h, ...): a Zynq-7000 alone",
            excludes={
                "wait": "such a program polls or sleeps by itself: leave --wait out",
                "os": "such a program has no operating system: leave --os out",
            },
        ),
        *(
            option(
                flag, dest="compiler", action=_CompilerFlag, metavar="...", help=f"of the compiler: {does}"
            )
            for flag, does in _COMPILER.items()
        ),
        _TERMINAL,
        *_COMMON,
        _AROUND,
        SHOWN,
    ),
    "Sources are compiled with the runtime in sw/; main() returns 0 for success. With --accel NAME,NAME "
    "the SoC has several accelerators; C then calls dma_select(AXL_ID_NAME) and dma_init(AXL_DMA_NAME).",
)
FINISHED = Kind(
    Applet(
        "elf run",
        "run a program that is compiled already",
        execute,
        (
            option("driver", nargs=1, type=Path, metavar="FILE.elf", help="as your own tools made it"),
            _TERMINAL,
            *_COMMON,
            shared.without(_AROUND, "wait", "os"),
            shared.without(SHOWN, "keep"),
        ),
    ),
    _finished,
)
APPLETS = (APPLET, FINISHED.applet)
SHORT = {"simulate": Short(APPLET, (serial.SIMULATE, FINISHED))}
