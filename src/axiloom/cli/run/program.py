"""``axiloom run FILE.program``: commands of an instruction set, their driver, a run on RTL."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.base import processes
from axiloom.base.errors import UsageError
from axiloom.base.files import make_folder
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, reject
from axiloom.cli.nest.run import OTHERS
from axiloom.cli.run import select
from axiloom.library.progress import told
from axiloom.run.run import Watch, simulate

if TYPE_CHECKING:
    from axiloom.device.rtl import DeviceRtl
    from axiloom.isa.instructions.tree import InstructionSet
    from axiloom.run.selected import Selected

ENDING = ".program"
OPTIONS = "lanes product_rows"
"""Options of programs alone."""


def is_program(problem: str) -> bool:
    """Whether a problem is a file of commands."""
    return problem.endswith(ENDING)


def add_options(run: argparse.ArgumentParser) -> None:
    group = run.add_argument_group("programs of an instruction set (FILE.program, or --select egraph)")
    select.add_option(group)
    group.add_argument("--lanes", type=int, metavar="N", help="elements at once in the device's units")
    group.add_argument(
        "--product-rows", type=int, metavar="N", help="rows of a product at once, each with that many lanes"
    )


def execute(options: argparse.Namespace, finish: Any) -> int:
    """`finish` prints the report and writes its files."""
    from axiloom.device.rtl import DEFAULT_LANES, device
    from axiloom.device.values import random_values
    from axiloom.run.program import BY_TEXT, ProgramRun
    from axiloom.selection.drive.execute import execute as by_text
    from axiloom.selection.program.file import read

    others = select.OTHERS if select.by_text(options) else f"{OTHERS} schedule plain auto"
    reject(options, [Refusal(others, lambda _: True, "not for programs, whose text says what executes them")])
    if options.dma == "simple":
        raise UsageError("--dma simple: a program's driver queues descriptors: leave --dma out")
    progress = told()

    devices: dict[str, DeviceRtl] = {}

    def built(isa: InstructionSet) -> DeviceRtl:
        text = repr(isa)
        if text not in devices:
            progress("from the text to RTL")
            lanes, rows = options.lanes or DEFAULT_LANES, options.product_rows or 1
            devices[text] = device(isa, lanes, options.stream_width or 64, rows)
        return devices[text]

    chosen: Selected | None = None
    if select.by_text(options):
        chosen = select.selected(options, built, progress)
        program, isa = chosen.program, chosen.isa
    else:
        program = read(Path(options.problem))
        constants, folder = select.constants(options.define), Path(options.problem).parent
        isa = select.instruction_set(program.target, folder, constants, program.name)
    rtl = built(isa)
    values = random_values(program, options.seed)
    results, reference = by_text(program, isa, values), BY_TEXT
    if chosen is not None and _same(chosen, values, results):
        reference = "the application, evaluated with NumPy"
    with processes.scratch("axiloom-") as temporary:
        folder = options.keep or Path(temporary)
        make_folder(folder)
        options.rtl = None
        system = shared.system(options, [rtl.link], options.seed)
        system = replace(system, user_rtl=rtl.rtl(folder))
        run = ProgramRun(program, rtl, system, values, results, reference, seed=options.seed)
        watch = Watch(progress, sys.stderr.isatty(), options.keep, shared.wants_timeline(options))
        result = simulate(run, watch)
        code: int = finish(run.checked(result), options, progress, result, run.driver.c)
    foretold = rtl.foretold(program)
    plan = run.plan
    alone = "" if foretold is None else f"; the device alone takes {foretold:,}"
    print(*(chosen.lines() if chosen else [f"Commands: {len(program.commands)}"]), sep="\n")
    print(
        f"Words: {plan.bytes_in:,} bytes in, {plan.bytes_out:,} bytes out; "
        f"{result.section_cycles:,} fabric cycles from call to return{alone}"
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
