"""A problem, or a driver of the user's, on a board on a serial line: a simulated one, or one at a port."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import drivergen
from axiloom.base.errors import DriverError
from axiloom.boards.ulx3s_design import NAME, TOP, Design
from axiloom.cosim import serial_board
from axiloom.cosim.serial_board import SimulatedBoard
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.remote.driver import Shapes, compile_remote, run_remote
from axiloom.remote.serial_host import PATIENCE_S, Bridge, SerialPort
from axiloom.run.compare import random_inputs

PIPELINE = "copying"
"""What a driver may do whose matrices no DMA reaches."""

SLOW_S = 600.0
"""Until an answer of a simulated board: a netlist runs some thousand cycles a second."""

Progress = Callable[[str], None]
Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class SerialResult:
    """What a run gave. `cycles`, of a simulation alone, are the fabric's, the line's among them."""

    outputs: dict[str, np.ndarray[Any, Any]]
    clock_hz: int
    baud: int
    commands: int
    words_out: int
    words_in: int
    cycles: int | None


def run(
    sources: Sequence[Path],
    spec: AcceleratorSpec,
    inputs: Arrays,
    outputs: Shapes,
    *,
    include: Sequence[Path] = (),
    clock_hz: int = 0,
    port: str | None = None,
    netlist: str | None = None,
    trace: Path | None = None,
    progress: Progress = lambda _line: None,
) -> SerialResult:
    """Compile the C `sources` for this machine, and run them against the board at `port` or a simulated one.

    `clock_hz` is the one that the board was built for (0: its own): it decides the speed of the line.
    `netlist` is the Verilog of the board's top module after synthesis, to be simulated in place of the RTL.
    Raises :exc:`SpecError` for a specification that cannot be behind a serial line, :exc:`DriverError` if the
    driver returns an error or the board does not answer.
    """
    design = Design(spec, clock_hz)
    progress("compiling the driver")
    library = compile_remote(sources, spec, include)
    with _board(design, port, netlist, trace, progress) as (path, simulated):
        progress(f"running on {path}")
        with SerialPort(path, design.baud, SLOW_S if simulated else PATIENCE_S) as line:
            bridge = Bridge(line)
            told_hz = bridge.check(spec)
            code, got = run_remote(library, bridge, inputs, outputs)
    progress("")
    if code:
        raise DriverError(f"the driver returned {code} on {NAME}: see dma_status in sw/include/axiloom.h")
    traffic = bridge.traffic
    return SerialResult(
        got,
        told_hz,
        design.baud,
        traffic.commands,
        traffic.words_out,
        traffic.words_in,
        simulated.cycles if simulated else None,
    )


def run_problem(
    mlir: str,
    spec: AcceleratorSpec,
    folder: Path,
    *,
    name: str,
    schedule: Schedule | None = None,
    seed: int = 0,
    clock_hz: int = 0,
    port: str | None = None,
    netlist: str | None = None,
    trace: Path | None = None,
    progress: Progress = lambda _line: None,
) -> tuple[SerialResult, Arrays]:
    """As :func:`run`, with the driver that is generated for `mlir` into `folder`, on random inputs.

    Returns the result and the outputs by NumPy, not yet compared.
    """
    schedule = schedule or Schedule(pipeline=PIPELINE)
    driver = drivergen.compile_mlir(mlir, spec, **schedule.options(), name=name)
    files = {"driver.c": driver.c, driver.header_name: driver.header, "driver_main.c": driver.harness}
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    inputs = random_inputs(driver, seed)
    result = run(
        [folder / "driver.c", folder / "driver_main.c"],
        spec,
        inputs,
        {arg.symbol: (arg.shape, arg.dtype) for arg in driver.args if arg.kind != "in"},
        include=[folder],
        clock_hz=clock_hz,
        port=port,
        netlist=netlist,
        trace=trace,
        progress=progress,
    )
    return result, drivergen.reference(mlir, inputs, name=name)


@contextmanager
def _board(
    design: Design, port: str | None, netlist: str | None, trace: Path | None, progress: Progress
) -> Iterator[tuple[str, SimulatedBoard | None]]:
    """The path of the board's port, and the simulation behind it if there is one."""
    if port is not None:
        yield port, None
        return
    if netlist is None:
        models = (serial_board.MODELS.name, serial_board.MODELS.read_text(encoding="utf-8"))
        sources = (*design.sources, models)
    else:
        sources = serial_board.netlist_sources(netlist)
    program = serial_board.build(
        sources, TOP, trace=trace is not None, optimise=netlist is None, progress=progress
    )
    with SimulatedBoard(program, design.divisor, trace) as board:
        yield board.port, board
