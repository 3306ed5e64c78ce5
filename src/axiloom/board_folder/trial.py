"""A folder's programs on the board and in simulation: ``axiloom board test``.

The ladder, then the self-test: the same programs, built once. On the board they must pass; their checksums
must be those of the simulated board, and their times are put beside its times.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom import boards, isa
from axiloom.base import processes
from axiloom.base.cache import writable_root
from axiloom.base.errors import (
    AxiloomError,
    BoardError,
    BuildError,
    DriverError,
    HangError,
    MismatchError,
    UsageError,
)
from axiloom.board_folder.write import MARK, mark_of
from axiloom.boards import hardware
from axiloom.bringup import ladder as bring_up
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc, judge, raise_failure
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.remote.board import RemoteBoard

PROGRAMS = ("ladder", "selftest")
_MEASURED = re.compile(r"^(.+?)(?: is right,|:) checksum (0x[0-9a-f]+), (\d+) us$", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """A line of a program: what it is of, checksum of the result, microseconds of the driver's call."""

    what: str
    checksum: str
    us: int


@dataclass(frozen=True)
class Row:
    """The same line from the board and from simulation, if both have it."""

    program: str
    what: str
    board: Measured | None
    simulated: Measured | None

    @property
    def same(self) -> bool | None:
        """None: simulation has no such line, so that there is nothing to compare with."""
        if self.simulated is None:
            return None
        return self.board is not None and self.board.checksum == self.simulated.checksum


def manifest(folder: Path) -> dict[str, Any]:
    """The folder's board.json. UsageError for a folder that is none of ours, or for a board without Linux."""
    manifest_ = mark_of(folder)
    try:
        family, name = str(manifest_["family"]), str(manifest_["board"])
    except KeyError:
        raise UsageError(f"{folder} is no board folder: it has no {MARK} of axiloom") from None
    if hardware.profile(name, family) is None:
        raise UsageError(f"{name} has no Linux: axiloom run PROBLEM --board {name} --port TTY is its test")
    return manifest_


def profile(folder: Path) -> boards.Board:
    """The simulated board that is nearest to the folder's."""
    manifest_ = manifest(folder)
    nearest = hardware.profile(manifest_["board"], manifest_["family"])
    assert nearest is not None
    return nearest


def build(folder: Path) -> list[str]:
    """Build the folder's programs with its own Makefile; returns their names in the order of running."""
    makefile = (folder / "Makefile").read_text(encoding="utf-8")
    names = [name for name in PROGRAMS if name != "ladder" or "\nladder:" in makefile]
    if shutil.which("make") is None:
        raise UsageError("make is not installed: apt-get install make")
    goals = ["linux" if name == "selftest" else name for name in names]
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(writable_root() / "zig")}
    done = processes.run(
        ["make", "-s", *goals, f"PYTHON={sys.executable}"],
        cwd=folder,
        env=environment,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise BuildError(f"{folder}: make {' '.join(goals)}: {lines[0] if lines else done.returncode}")
    return names


def user_rtl(folder: Path, ports: RtlPorts | None = None) -> UserRtl | None:
    """The user's Verilog that the folder was written with, from its own copies."""
    told = manifest(folder).get("rtl")
    return UserRtl([folder / name for name in told["files"]], told["top"], ports) if told else None


def simulate(folder: Path, programs: list[Path], progress: Callable[[str], None]) -> list[tuple[int, str]]:
    """Exit status and output of Linux programs on the simulated board of a folder.

    Raises what is wrong with a run, as ``axiloom run`` does: the error of its class, with the program's name.
    """
    specs = list(isa.load_links(folder / "accelerator.json").values())
    soc = Soc(System(specs, profile(folder), user_rtl=user_rtl(folder, specs[0].link.rtl)))
    soc.build(progress=progress)
    progress("")
    results = soc.run_many([Job(path, strict=True) for path in programs], check=False)
    for path, result in zip(programs, results, strict=True):
        try:
            raise_failure(result)
            if not result.exit_code:  # else the program itself has said what is wrong
                judge(result)
        except AxiloomError as error:
            print(result.console, end="")
            raise type(error)(f"{path.name} in simulation: {error}") from None
    return [(result.exit_code, result.console) for result in results]


def run(
    board: RemoteBoard,
    folder: Path,
    *,
    load: bool = False,
    compare: bool = True,
    timeout_s: float = 120,
    say: Callable[[str], None] = print,
    progress: Callable[[str], None] = lambda _line: None,
) -> list[Row]:
    """Copy, load (if asked for), run and compare; returns a row for each result that a program names.

    Raises DriverError where a program fails on the board, MismatchError for a checksum that is not the
    simulation's, and what :class:`RemoteBoard` raises.
    """
    manifest_ = manifest(folder)
    bit = folder / "build" / f"{manifest_['name']}.bit"
    if load and not bit.is_file():
        raise BuildError(f"{bit}: no such file; `make bitstream` builds it, or leave --load out")
    progress("building the programs")
    names = build(folder)
    progress("")
    there = board.folder()
    try:
        for name in names:
            board.send(folder / "build" / name, there)
        if load:
            board.load(bit, there)
            say(f"{bit.name} is loaded")
        outputs = {name: _run(board, there, name, timeout_s, say) for name in names}
    finally:
        # A board that hangs cannot be tidied up either, and what it said before matters more.
        with suppress(BoardError, HangError):
            board.remove(there)
    if not compare:
        return [
            Row(name, measured.what, measured, None)
            for name in names
            for measured in _measured(outputs[name])
        ]
    simulated = simulate(folder, [folder / "build" / name for name in names], progress)
    rows: list[Row] = []
    for name, (code, console) in zip(names, simulated, strict=True):
        if code:
            said = console.splitlines()
            raise DriverError(f"{name} in simulation: {said[-1] if said else f'it ends with {code}'}")
        ours, theirs = (
            {measured.what: measured for measured in _measured(text)} for text in (outputs[name], console)
        )
        rows += [Row(name, what, ours.get(what), theirs.get(what)) for what in {**ours, **theirs}]
    return rows


def table(rows: list[Row]) -> str:
    """A line a result: is it the simulation's, and the driver's time on both."""
    lines = [f"{'':<34}{'result':<12}{'board':>12}{'simulation':>14}{'factor':>9}"]
    for row in rows:
        verdict = {True: "same", False: "DIFFERENT", None: "not compared"}[row.same]
        times = [f"{measured.us:,} us" if measured else "-" for measured in (row.board, row.simulated)]
        both = row.board is not None and row.simulated is not None and row.simulated.us
        factor = f"{row.board.us / row.simulated.us:.2f}" if both and row.board and row.simulated else "-"
        lines.append(
            f"{f'{row.program}, {row.what}':<34}{verdict:<12}{times[0]:>12}{times[1]:>14}{factor:>9}"
        )
    return "\n".join(lines)


def check(rows: list[Row]) -> None:
    """MismatchError if a result is not the simulation's."""
    if not rows:
        raise MismatchError("no program printed a checksum, so there is nothing to compare")
    wrong = [f"{row.program}, {row.what}" for row in rows if not row.same]
    if wrong:
        raise MismatchError(f"the board and the simulation differ: {'; '.join(wrong)}")


def _run(board: RemoteBoard, there: str, name: str, timeout_s: float, say: Callable[[str], None]) -> str:
    ran = board.run(board.as_owner(there, f"./{name}"), timeout_s=timeout_s)
    for line in ran.output.splitlines():
        say(f"  {name}: {line}")
    if ran.code:
        failed = bring_up.judge_text(ran.output, ran.complaint) if name == "ladder" else None
        told = [str(failed)] if failed else [ran.reason]
        told += [ran.complaint] if failed and ran.errors.strip() and ran.complaint not in told[0] else []
        raise DriverError(f"{board.host}: {name}: {'; '.join(told)}")
    return ran.output


def _measured(text: str) -> list[Measured]:
    return [Measured(what, checksum, int(us)) for what, checksum, us in _MEASURED.findall(text)]
