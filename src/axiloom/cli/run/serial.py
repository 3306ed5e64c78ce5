"""``axiloom serial``: the driver runs on this machine, the accelerator on a board behind a serial line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import read_array, write_whole
from axiloom.boards.ulx3s_design import NAME
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, Group, option, output_file
from axiloom.cli.kinds import Kind, Said
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.explore.asked import Asked
from axiloom.isa import AcceleratorSpec
from axiloom.library.progress import told
from axiloom.remote.serial_run import PIPELINE, SerialResult, run_problem
from axiloom.remote.serial_run import run as run_driver
from axiloom.run.resolve import resolve
from axiloom.run.run import folder_or_temporary


@dataclass(frozen=True)
class Line:
    """The board on the line: simulated, or there."""

    clock_hz: int = 0
    port: str | None = None
    trace: Path | None = None

    def __post_init__(self) -> None:
        if self.port is not None and self.trace is not None:
            raise UsageError("--trace: waveforms are of a simulated board: leave --port out")
        if self.trace is not None and self.trace.suffix != ".fst":
            raise UsageError(
                f"--trace {self.trace}: waveforms of {NAME} are FST: give a name that ends in .fst"
            )


def arrays(assignments: Sequence[str]) -> dict[str, Any]:
    """Of ``SYMBOL=FILE.npy``, each."""
    read = {}
    for text in assignments:
        symbol, equals, file = text.partition("=")
        if not equals or not Path(file).is_file():
            raise UsageError(f"{text!r}: expected SYMBOL=FILE.npy with a file that exists")
        read[symbol] = read_array(Path(file))
    return read


def run(
    problem: str,
    asked: Asked,
    use: Schedule,
    line: Line,
    json: Path | None = None,
    keep: Path | None = None,
    seed: int = 0,
) -> int:
    asked = replace(asked, board=NAME)
    mlir, data_type = shared.problem(problem, use.flow)
    spec = asked.spec(data_type, problem)
    schedule = resolve(mlir, spec, replace(use, pipeline=use.pipeline or PIPELINE), name=problem)
    with folder_or_temporary(keep) as folder:
        result, expected = run_problem(
            mlir, spec, folder, name=problem, schedule=schedule, seed=seed, progress=told(), **vars(line)
        )
    return _finish(json, line, spec, problem, result, expected)


def simulate(
    driver: Sequence[Path],
    asked: Asked,
    line: Line,
    load: Sequence[str] = (),
    expect: Sequence[str] = (),
    json: Path | None = None,
) -> int:
    for file in driver:
        if file.suffix != ".c":
            raise UsageError(f"{file}: on {NAME} the driver runs on this machine: give its C sources")
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
    inputs, expected = arrays(load), arrays(expect)
    spec = replace(asked, board=NAME).spec()
    result = run_driver(
        driver,
        spec,
        inputs,
        {symbol: (array.shape, str(array.dtype)) for symbol, array in expected.items()},
        include=sorted({file.parent for file in driver}),
        progress=told(),
        **vars(line),
    )
    return _finish(json, line, spec, " ".join(file.name for file in driver), result, expected)


def _finish(
    file: Path | None,
    line: Line,
    spec: AcceleratorSpec,
    problem: str,
    result: SerialResult,
    expected: Mapping[str, np.ndarray[Any, Any]],
) -> int:
    wrong = sum(int((result.outputs[symbol] != want).sum()) for symbol, want in expected.items())
    elements = sum(want.size for want in expected.values())
    report: dict[str, Any] = {
        "problem": problem,
        "accelerator": spec.name,
        "board": NAME,
        "port": line.port or "simulated",
        "clock_hz": result.clock_hz,
        "baud": result.baud,
        "result": {"matches": wrong == 0 if expected else None, "mismatches": wrong, "elements": elements},
        "line": {"commands": result.commands, "words_out": result.words_out, "words_in": result.words_in},
        "cycles": result.cycles,
    }
    if file:
        write_whole(file, dumps(report, indent=2) + "\n")
    print(f"{problem} on {spec.name}, {NAME} ({report['port']})")
    print(f"  clock    {result.clock_hz / 1e6:g} MHz, line {result.baud} baud")
    outcome = f"{wrong} of {elements} elements are wrong" if wrong else f"{elements} elements, all right"
    print(f"  result   {outcome if expected else 'not compared'}")
    words = f"{result.words_out:,} words out, {result.words_in:,} words in"
    print(f"  traffic  {result.commands:,} commands, {words}")
    if result.cycles is not None:
        seconds = result.cycles / result.clock_hz
        print(f"  cycles   {result.cycles:,} of the fabric, the line's among them ({seconds * 1e3:.3f} ms)")
    return MismatchError.exit_code if wrong else 0


def _line(clock: float = 0.0, **others: Any) -> Line:
    return Line(round(clock * 1e6), **others)


def _meant(said: Said) -> str:
    return f"--board {NAME} is on a serial line" if said.get("board") == NAME else ""


ACCELERATOR = shared.without(shared.accelerator(), "rtl", "top")
LINE = Group(
    "board",
    (
        option(
            "--clock",
            type=shared.megahertz,
            metavar="MHZ",
            first=True,
            help="what `board build --clock` was given",
        ),
        option("--port", metavar="TTY", first=True, help="a board that is there, not a simulated one"),
        option("--trace", type=output_file, metavar="FILE.fst", first=True, help="waveforms"),
    ),
    "line",
    _line,
)
LOAD = option(
    "--load", action="append", metavar="SYMBOL=FILE.npy", first=True, help="fill an array before main"
)
EXPECT = option(
    "--expect", action="append", metavar="SYMBOL=FILE.npy", first=True, help="compare an array after main"
)
RUN = Kind(
    Applet(
        "serial run",
        f"run a problem of one op on a {NAME}, there or simulated",
        run,
        (
            option("problem", metavar="PROBLEM", help="matmul:MxNxK[:int8|int16|int32], ..., FILE.mlir"),
            ACCELERATOR,
            shared.USE,
            LINE,
            shared.JSON,
            shared.KEEP,
            shared.SEED,
        ),
        "The driver runs on this machine, the accelerator behind the board's serial line. Exit code 0 only "
        "if the result equals NumPy's.",
    ),
    _meant,
    ("--board", NAME),
)
SIMULATE = Kind(
    Applet(
        "serial simulate",
        f"run a driver of your own on a {NAME}, there or simulated",
        simulate,
        (
            option("driver", nargs="+", type=Path, metavar="DRIVER.c"),
            ACCELERATOR,
            LINE,
            LOAD,
            EXPECT,
            shared.JSON,
        ),
        "The driver runs on this machine, the accelerator behind the board's serial line.",
    ),
    _meant,
    ("--board", NAME),
)
APPLETS = (RUN.applet, SIMULATE.applet)
