"""``axiloom run`` and ``axiloom simulate`` with ``--board ulx3s``.

The driver runs on this machine, the accelerator behind a serial line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import write_whole
from axiloom.boards.ulx3s_design import NAME
from axiloom.cli import options as shared
from axiloom.cli.given import flag
from axiloom.cli.nest import run as nest_run
from axiloom.isa import Link
from axiloom.library.progress import told
from axiloom.remote.serial_run import PIPELINE, SerialResult, run, run_problem
from axiloom.run.resolve import resolve
from axiloom.run.run import folder_or_temporary

_HONOURED = {
    *("accel", "size", "spec", "encoding", "post", "stream_width", "macs", "dma", "memory_port"),
    *("flow", "order", "tile", "pipeline", "seed", "load", "expect"),
    *("board", "clock", "port", "trace", "json"),
}
"""Options that a board on a serial line takes; `execute_run` takes --keep too."""


_POLLED = {"sim": "verilator", "os": "none", "wait": "poll"}
"""A simulated board runs in Verilator, and its driver polls: whoever says so is right."""


def is_serial(options: argparse.Namespace) -> bool:
    """Whether the board is on a serial line. UsageError where another one is given what is for those."""
    if options.board == NAME:
        return True
    flags = [
        flag for flag, value in (("--clock", options.clock), ("--port", options.port)) if value is not None
    ]
    if flags:
        raise UsageError(
            f"{', '.join(flags)}: for a board on a serial line (--board {NAME}), not {options.board}"
        )
    return False


def execute_run(options: argparse.Namespace) -> int:
    """``axiloom run PROBLEM --board ulx3s``."""
    if nest_run.is_loops(options):
        raise UsageError(
            f"{options.problem}: loops do not run on a board on a serial line. Without --board {NAME} they "
            f"run on a simulated SoC; `axiloom board new {NAME} --problem FILE.c` writes their board folder"
        )
    _refuse(options, _HONOURED | {"keep"})
    mlir, data_type = shared.problem(options.problem, options.flow)
    spec = shared.asked(options).spec(data_type, options.problem)
    schedule = resolve(mlir, spec, shared.schedule(options, PIPELINE), name=options.problem)
    with folder_or_temporary(options.keep) as folder:
        result, expected = run_problem(
            mlir,
            spec,
            folder,
            name=options.problem,
            schedule=schedule,
            seed=options.seed,
            clock_hz=round((options.clock or 0) * 1e6),
            port=options.port,
            trace=options.trace,
            progress=told(),
        )
    return _finish(options, spec, options.problem, result, expected)


def execute_simulate(options: argparse.Namespace, inputs: Any, expected: Any) -> int:
    """``axiloom simulate DRIVER.c... --board ulx3s``, with the arrays of --load and --expect."""
    _refuse(options, _HONOURED)
    for file in options.driver:
        if file.suffix != ".c":
            raise UsageError(f"{file}: on {NAME} the driver runs on this machine: give its C sources")
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
    spec = shared.asked(options).spec()
    result = run(
        options.driver,
        spec,
        inputs,
        {symbol: (array.shape, str(array.dtype)) for symbol, array in expected.items()},
        include=sorted({file.parent for file in options.driver}),
        clock_hz=round((options.clock or 0) * 1e6),
        port=options.port,
        trace=options.trace,
        progress=told(),
    )
    return _finish(options, spec, " ".join(file.name for file in options.driver), result, expected)


def _refuse(options: argparse.Namespace, honoured: set[str]) -> None:
    if options.port is not None and options.trace is not None:
        raise UsageError("--trace: waveforms are of a simulated board: leave --port out")
    if options.trace is not None and options.trace.suffix != ".fst":
        raise UsageError(
            f"--trace {options.trace}: waveforms of {NAME} are FST: give a name that ends in .fst"
        )
    said = _POLLED if options.port is None else {}
    refused = [
        flag(options, name) + (f" {getattr(options, name)}" if name in _POLLED else "")
        for name in options.given
        if name not in honoured and getattr(options, name) != said.get(name, ...)
    ]
    if refused:
        takes = ", ".join(
            f"--{name}" for name in ("clock", "port", "trace", "keep", "json") if name in honoured
        )
        raise UsageError(
            f"{', '.join(refused)}: not for a board on a serial line, whose driver runs on this machine "
            f"(--board {NAME} takes {takes})"
        )


def _finish(
    options: argparse.Namespace,
    spec: Link,
    problem: str,
    result: SerialResult,
    expected: Mapping[str, np.ndarray[Any, Any]],
) -> int:
    wrong = sum(int((result.outputs[symbol] != want).sum()) for symbol, want in expected.items())
    elements = sum(want.size for want in expected.values())
    told: dict[str, Any] = {
        "problem": problem,
        "accelerator": spec.name,
        "board": NAME,
        "port": options.port or "simulated",
        "clock_hz": result.clock_hz,
        "baud": result.baud,
        "result": {"matches": wrong == 0 if expected else None, "mismatches": wrong, "elements": elements},
        "line": {"commands": result.commands, "words_out": result.words_out, "words_in": result.words_in},
        "cycles": result.cycles,
    }
    if options.json:
        write_whole(Path(options.json), json.dumps(told, indent=2) + "\n")
    print(f"{problem} on {spec.name}, {NAME} ({told['port']})")
    print(f"  clock    {result.clock_hz / 1e6:g} MHz, line {result.baud} baud")
    outcome = f"{wrong} of {elements} elements are wrong" if wrong else f"{elements} elements, all right"
    print(f"  result   {outcome if expected else 'not compared'}")
    words = f"{result.words_out:,} words out, {result.words_in:,} words in"
    print(f"  traffic  {result.commands:,} commands, {words}")
    if result.cycles is not None:
        seconds = result.cycles / result.clock_hz
        print(f"  cycles   {result.cycles:,} of the fabric, the line's among them ({seconds * 1e3:.3f} ms)")
    return MismatchError.exit_code if wrong else 0
