"""Starts a simulator that embeds Python with cocotb, and watches over it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError


def environment(
    toplevel: str,
    modules: str,
    results: Path,
    *,
    sim: str = "verilator",
    libraries: Sequence[Path] = (),
    seed: int = 0,
    log_level: str = "WARNING",
) -> dict[str, str]:
    """The environment in which a simulator's program runs cocotb with this very Python.

    `modules` are the test modules (comma separated), `results` is where cocotb writes its JUnit XML,
    `libraries` are folders of shared libraries that the program needs besides cocotb's.
    """
    import cocotb_tools.config
    import find_libpython

    libpython = os.environ.get("LIBPYTHON_LOC") or find_libpython.find_libpython()
    if not libpython:
        raise BuildError(
            f"{sys.executable} has no shared libpython, which the simulator must embed: "
            "install one (apt install libpython3-dev, or a Python built with --enable-shared)"
        )
    search = [str(cocotb_tools.config.libs_dir), *map(str, _without_colons(libraries, results.parent))]
    if before := os.environ.get("LD_LIBRARY_PATH"):
        search.append(before)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COCOTB_", "PYGPI_", "GPI_", "PYTEST_"))}
    return kept | {
        "COCOTB_TOPLEVEL": toplevel,
        "COCOTB_TEST_MODULES": modules,
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_LOG_LEVEL": log_level,
        "COCOTB_ANSI_OUTPUT": "0",
        # main.cpp applies writes at the end of the region, as the standard says; Icarus applies them at
        # once, and cocotb must hold them back itself or they race with the clock.
        "COCOTB_TRUST_INERTIAL_WRITES": str(int(sim == "verilator")),
        "TOPLEVEL_LANG": "verilog",
        "GPI_USERS": f"{libpython};{_entry_point(cocotb_tools.config.libs_dir.parent)}",
        "GPI_LOG_LEVEL": "ERROR",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "LD_LIBRARY_PATH": os.pathsep.join(search),
    }


def _entry_point(cocotb: Path) -> str:
    """As ``cocotb_tools.config.pygpi_entry_point``, without the import of cocotb and pytest, which takes as
    long as a short run."""
    simulator = PathFinder.find_spec("simulator", [str(cocotb)])
    if simulator is None or simulator.origin is None:
        raise BuildError(f"no simulator module in {cocotb}: reinstall cocotb from a wheel")
    return f"{simulator.origin},initialize"


def _without_colons(libraries: Sequence[Path], work: Path) -> Iterator[Path]:
    """These folders, or links to them in `work`: a colon or a semicolon in one would end it.

    The simulator runs in `work`, whose own name may have one: a link is named as it is seen from there.
    """
    for number, folder in enumerate(libraries):
        if not {*":;"} & {*str(folder)}:
            yield folder
            continue
        link = work / f"libraries{number}"
        link.symlink_to(folder)
        yield Path(link.name)


@dataclass(frozen=True)
class Ended:
    """How a simulator's process ended: exit code (negative: the signal), what it printed."""

    returncode: int
    output: str
    timed_out: bool = False

    def describe(self) -> str:
        """One clause for an error message: how it ended, and the last line that it printed."""
        if self.returncode < 0:
            try:
                how = f"was killed by {signal.Signals(-self.returncode).name}"
            except ValueError:
                how = f"was killed by signal {-self.returncode}"
        else:
            how = f"ended with exit code {self.returncode}"
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return f"{how}; its last line: {lines[-1]}" if lines else f"{how} and printed nothing"


def run(
    command: Sequence[str | Path],
    env: dict[str, str],
    cwd: Path,
    timeout_s: float | None,
    *,
    pass_stderr: bool = False,
    pass_fds: Sequence[int] = (),
) -> Ended:
    """Run a simulator in a session of its own; on a timeout, or an interrupt here, kill all of it.

    With `pass_stderr` the process's stderr (progress lines) goes to ours instead of into the output.
    `pass_fds` are open in it, too.
    """
    process = processes.start(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if pass_stderr else subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=pass_fds,
    )
    timed_out = False
    try:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            processes.kill(process)
            output, _ = process.communicate()
    finally:
        processes.stop(process)
    return Ended(process.returncode, output, timed_out)
