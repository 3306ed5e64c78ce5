"""A function of a file that its accelerator cannot execute, by the CPU alone."""

from __future__ import annotations

import argparse

from axiloom import boards
from axiloom.base.errors import MismatchError
from axiloom.cli import terminal
from axiloom.read.mlir import file as mlir_file
from axiloom.run.host_function import HostFunction
from axiloom.run.problem import Workload
from axiloom.run.run import folder_or_temporary


def execute(options: argparse.Namespace, problem: str) -> int:
    """Run it, and print its result and its time. The exit code is 0 if the result is NumPy's."""
    workload = Workload(problem, mlir_file.read_mlir(problem), options.seed)
    with folder_or_temporary(None) as folder:
        ran = HostFunction(workload, boards.load(options.board)).run(folder)
    result, clock = ran["result"], ran["counters"]["task-clock"]
    if result["matches"]:
        said = f"Result: equal to NumPy in all {result['elements']:,} elements"
    else:
        wrong = f"{result['mismatches']:,} of {result['elements']:,}"
        said = f"Result: WRONG in {wrong} elements; first: {result['first']}"
    print(terminal.painted(f"{said}\nTime: {clock / 1e6:,.3f} ms, the CPU alone", terminal.has_colour()))
    return 0 if result["matches"] else MismatchError.exit_code
