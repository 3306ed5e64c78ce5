"""A board on a serial line, simulated: its top module in Verilator, a pseudo-terminal as its port.

A host opens the port as it would open the one of a board (:mod:`axiloom.remote.serial_host`); the program
(:file:`rtl/serial_main.cpp`) moves the bits. Nothing of Python runs per cycle.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import tty
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import SimulatorError
from axiloom.cosim.build import verilator
from axiloom.hw.rtl_files import yosys

_MAIN = verilator.RTL / "serial_main.cpp"
MODELS = verilator.RTL / "ecp5_models.v"
_QUIET = ("-Wno-lint", "-Wno-PINMISSING", "-Wno-SPECIFYIGN")
"""Verilator looks through the module for the name of each cell that it warns of, also where nobody reads the
warnings: half an hour for the 30,000 cells of a netlist with pins that are not connected."""


def build(
    sources: verilator.Sources,
    top: str,
    *,
    trace: bool = False,
    optimise: bool = True,
    progress: verilator.Progress | None = None,
) -> Path:
    """The simulator's program of the Verilog files, whose module `top` has the ports of a ULX3S.

    With `trace` it can write an FST. Without `optimise` it is compiled sooner and runs slower, for a large
    netlist that runs for a moment. Raises BuildError.
    """
    kind = "fst" if trace else None
    archive = verilator.runtime(kind, progress)
    optimisation = verilator.OPTIMISE if optimise else ["-O0"]

    def fill(folder: Path) -> None:
        if progress:
            progress(f"building the simulation of {top}")
        files = verilator.write_sources(sources, folder)
        generated = folder / "generated"
        arguments = [*_QUIET, "--top-module", top, "--Mdir", generated.name]
        if trace:
            arguments.append("--trace-fst")
        if not optimise:
            arguments.append("-fno-dfg")  # of a netlist's single bits, minutes for nothing
        verilator.verilate([*arguments, *files], f"Verilator cannot build {top}", folder)
        units = [*sorted(generated.glob("*.cpp")), _MAIN]
        (folder / "all.cpp").write_text("".join(f'#include "{unit}"\n' for unit in units))
        flags = [
            *verilator.COMMON,
            *verilator.trace_flags(kind),
            *verilator.include_flags(),
            f"-I{generated}",
        ]
        verilator.compile_cxx(
            [*optimisation, *flags, "all.cpp", archive, "-pthread", "-o", verilator.PROGRAM],
            f"compiling the simulation of {top}",
            folder,
        )
        shutil.rmtree(generated)
        (folder / "all.cpp").unlink()

    key = content_hash(
        verilator.identity(), list(sources), top, kind, optimisation, archive.parent.name, _MAIN
    )
    return cached_build("serial-board", key, fill) / verilator.PROGRAM


@dataclass
class SimulatedBoard:
    """A running simulation; `port` is the path that a host opens. Ends with the block::

    with SimulatedBoard(program, divisor) as board:
        ...
    print(board.cycles)
    """

    program: Path
    divisor: int
    """Cycles a bit of the line."""
    trace: Path | None = None
    port: str = field(default="", init=False)
    cycles: int = field(default=0, init=False)
    """Fabric cycles that were simulated; known at the end."""

    def __enter__(self) -> SimulatedBoard:
        ours, self._theirs = pty.openpty()
        tty.setraw(self._theirs)  # before a byte can come: nothing is echoed
        self.port = os.ttyname(self._theirs)
        arguments = [f"+axl_terminal={ours}", f"+axl_divisor={self.divisor}"]
        if self.trace:
            self.trace.parent.mkdir(parents=True, exist_ok=True)
            arguments.append(f"+axl_trace={self.trace.absolute()}")
        try:
            self._process = processes.start(
                [self.program, *arguments], pass_fds=[ours], stdout=subprocess.PIPE, text=True
            )
        finally:
            os.close(ours)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._theirs)  # the program ends when nobody has the port open
        try:
            if error is not None:
                processes.kill(self._process)
            output, _ = self._process.communicate()
        finally:
            processes.stop(self._process)
        if error is None:
            if self._process.returncode:
                raise SimulatorError(f"the simulated board ended with exit code {self._process.returncode}")
            self.cycles = json.loads(output)["cycles"]


def netlist_sources(netlist: str) -> verilator.Sources:
    """`netlist`, the Verilog that Yosys writes of an ECP5 design, with models of the cells in it.

    Those of LUTs, carries, flip-flops and distributed RAM are Yosys' own.
    """
    folder = yosys.folder() / "share" / "lattice"
    headers = ((path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.vh")))
    return (
        *headers,  # they include each other
        ("cells.v", '`include "common_sim.vh"\n`include "ccu2c_sim.vh"\n'),
        ("netlist.v", netlist),
        (MODELS.name, MODELS.read_text(encoding="utf-8")),
    )
