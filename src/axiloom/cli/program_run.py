"""``axiloom run FILE.program``: commands of an instruction set, their driver, a run on RTL."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, reject
from axiloom.cli.nest_run import OTHERS
from axiloom.errors import UsageError
from axiloom.files import make_folder
from axiloom.run.run import Watch, simulate

if TYPE_CHECKING:
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.selection.program.program import Program

ENDING = ".program"
OPTIONS = "lanes"
"""Options of programs alone."""


def is_program(problem: str) -> bool:
    """Whether a problem is a file of commands."""
    return problem.endswith(ENDING)


def add_options(run: argparse.ArgumentParser) -> None:
    group = run.add_argument_group("programs of an instruction set (FILE.program)")
    group.add_argument("--lanes", type=int, metavar="N", help="elements at once in the device's units")


def execute(options: argparse.Namespace, finish: Any) -> int:
    """`finish` prints the report and writes its files."""
    from axiloom.device.rtl import DEFAULT_LANES, device
    from axiloom.device.values import random_values
    from axiloom.run.program import ProgramRun, by_text
    from axiloom.selection.program.file import read

    others = f"{OTHERS} schedule plain"
    reject(options, [Refusal(others, lambda _: True, "not for programs, whose text says what executes them")])
    if options.dma == "simple":
        raise UsageError("--dma simple: a program's driver queues descriptors: leave --dma out")
    program = read(Path(options.problem))
    isa = target_of(program, options.define, Path(options.problem).parent)
    progress = shared.progress()
    progress("from the text to RTL")
    made = device(isa, options.lanes or DEFAULT_LANES, options.stream_width or 64)
    values = random_values(program, options.seed)
    results = by_text(program, isa, values)
    with tempfile.TemporaryDirectory(prefix="axiloom-") as temporary:
        folder = options.keep or Path(temporary)
        make_folder(folder)
        options.rtl = None
        system = shared.system(options, [made.spec], options.seed)
        system = replace(system, user_rtl=made.rtl(folder))
        run = ProgramRun(program, made, system, values, results, seed=options.seed)
        watch = Watch(progress, sys.stderr.isatty(), options.keep, shared.wants_timeline(options))
        result = simulate(run, watch)
        code: int = finish(run.checked(result), options, progress, result.profile.timeline, run.driver.c)
    foretold = made.foretold(program.commands)
    plan = run.plan
    alone = "" if foretold is None else f"; the device alone takes {foretold:,}"
    print(
        f"Commands: {len(program.commands)}, {plan.bytes_in:,} bytes in, {plan.bytes_out:,} bytes out; "
        f"{result.section_cycles:,} fabric cycles from call to return{alone}"
    )
    return code


def target_of(program: Program, define: list[str], folder: Path) -> InstructionSet:
    """The text that `program` names, with constants of ``-D``."""
    from axiloom.cli.nest_source import defines
    from axiloom.isa.instructions.library import INSTRUCTIONS, targets
    from axiloom.isa.instructions.read import read

    given = {}
    for name, value in defines(define).items():
        try:
            given[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"-D {name}={value}: a constant of a text is a number") from None
    built_in = targets()
    if program.target in built_in:
        return read(built_in[program.target], given)
    if not program.target.endswith(INSTRUCTIONS):
        there = ", ".join(built_in)
        raise UsageError(
            f"{program.name}: no instruction set is called {program.target}; there are {there}, "
            f"and files that end in {INSTRUCTIONS}"
        )
    return read(folder / program.target, given)
