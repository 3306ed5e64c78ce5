"""The ``axiloom`` command: one module a group of subcommands, errors caught once, here.

Exit codes: 0 done (and the result is right), 1 the result is wrong, 2 usage, 3 specification,
4 compile, 5 build, 6 hang, 7 the driver failed, 8 the board is not reached, 9 stale data, 10 a bus rule was
broken, 70 a fault of Axiloom itself.
"""

from __future__ import annotations

import errno
import importlib
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, TextIO

import axiloom
from axiloom.base import cache, processes
from axiloom.base.errors import AxiloomError, BuildError, UsageError
from axiloom.cli.applet import Parser

EPILOG = """exit codes: 0 right, 1 wrong result, 2 usage, 3 specification, 4 compile, 5 build, 6 hang,
7 driver failed, 8 board not reached, 9 stale data, 10 bus rule broken, 70 a fault of axiloom itself"""


GROUPS: Mapping[str, tuple[str, ...]] = {
    "run.problem": ("run",),
    "run.network": ("network",),
    "run.program": ("program",),
    "run.simulate": ("simulate", "elf"),
    "run.serial": ("serial",),
    "serve.command": ("serve",),
    "compile.quantise": ("quantize", "quantise"),
    "explore.command": ("explore",),
    "explore.hardware": ("hardware",),
    "explore.sweep": ("sweep",),
    "explore.calibrate": ("calibrate",),
    "compile.command": ("compile", "verilog"),
    "board.command": ("board",),
    "board.bring_up": ("bring-up",),
    "board.open_flow": ("estimate",),
    "nest.command": ("nest",),
    "prove.command": ("prove",),
    "compile.validate": ("validate",),
    "spec.command": ("spec", "list"),
    "compare": ("report",),
    "example": ("example", "docs"),
    "doctor": ("doctor",),
}
"""Modules of this package, in the order of ``--help``, and the commands that each adds, its
`APPLETS`. `SHORT` of a module: commands that stand for others by what they are given."""

HELP: Mapping[str, str] = {
    "run": "compile a problem, build the SoC, simulate both, compare with NumPy, report",
    "network": "the same of a network, or write one as MLIR",
    "program": "the same of commands of an instruction set, or find them for a model",
    "simulate": "run a driver of your own on the same SoC",
    "elf": "run a program that is compiled already",
    "serial": "run problems and drivers on a board behind a serial line",
    "serve": "answer as a board does to PYNQ notebooks",
    "quantize": "turn a float model into an int8 one, with calibration data",
    "explore": "choose flow, loop order and tile by a cost model; simulate the best to be sure",
    "hardware": "choose hardware and driver together, for a problem or a whole network",
    "sweep": "simulate problems x accelerators x flows x pipelines, to CSV; can be interrupted and resumed",
    "calibrate": "fit a board profile to measurements, or say how well it predicts them",
    "compile": "compile a problem to a C driver, or show a stage on the way",
    "verilog": "write the Verilog of an accelerator, alone or in its SoC",
    "board": "everything that brings an accelerator up on a board",
    "bring-up": "run the bring-up ladder, the first program for a new board, on the simulated SoC",
    "estimate": "resources and clock of an accelerator with its DMA, by Yosys and nextpnr",
    "nest": "loop nests: read, check, schedule, run",
    "prove": "prove that hardware keeps its rules, or show a run that does not",
    "validate": "run a whole application on its data, in the numbers of accelerators",
    "spec": "check a specification, or print one to start from",
    "list": "built-in accelerators and boards",
    "report": "compare two runs: time, cycles, cache, words, layers, and what their configurations differ in",
    "example": "list the examples, or write one into the current folder",
    "docs": "list the pages of the documentation, or print one",
    "doctor": "versions found, what is missing, and the command that brings it",
}
"""What each command does. An alias has none of its own."""


def parser(command: str | None = None, *, every: bool = False) -> Parser:
    """The whole command line, or what of it `command` needs: to import all takes seconds. Help
    shows the first options of an applet, or `every` one."""
    top, commands = _top()
    mine = [group for group, names in GROUPS.items() if command in names]
    families: dict[str, Any] = {}
    for applet in (applet for group in mine or GROUPS for applet in _module(group).APPLETS):
        name, _, action = applet.name.partition(" ")
        place = commands
        if action:
            if name not in families:
                family = commands.add_parser(name, help=HELP[name], description=_said(HELP[name]))
                family.add_argument("-h", "--help", action="help", help="this help")
                families[name] = family.add_subparsers(dest="action", metavar="ACTION", required=True)
            place = families[name]
        does = applet.does if action else HELP[name]
        applet.fill(place.add_parser(action or name, help=does, aliases=[*applet.aliases]), every=every)
    return top


def _module(group: str) -> Any:
    return importlib.import_module(f"axiloom.cli.{group}")


def _said(does: str) -> str:
    return f"{does[0].upper()}{does[1:]}."


def _heads() -> Parser:
    """The names of all commands, and nothing of theirs: nothing is imported."""
    top, commands = _top()
    for names in GROUPS.values():
        for i, name in enumerate(names):
            if name in HELP:
                aliases = takewhile(lambda other: other not in HELP, names[i + 1 :])
                commands.add_parser(name, help=HELP[name], aliases=[*aliases])
    return top


def _top() -> tuple[Parser, Any]:
    top = Parser(
        prog="axiloom",
        description="From an accelerator's instruction set to its RTL, its driver, and a cycle-accurate run.",
        epilog=EPILOG,
    )
    top.add_argument("-h", "--help", action="help", help="this help")
    top.add_argument("--version", action="version", version=f"axiloom {axiloom.__version__}")
    return top, top.add_subparsers(dest="command", metavar="COMMAND", required=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = [*(sys.argv[1:] if argv is None else argv)]

    def execute() -> int:
        command = words[0] if words else ""
        group = next((group for group, names in GROUPS.items() if command in names), None)
        if group is None:
            command = _heads().parse_args(words).command
            group = next(group for group, names in GROUPS.items() if command in names)
        elif (short := getattr(_module(group), "SHORT", {}).get(command)) is not None:
            code = short(words)
            if code is not None:
                return int(code)
        values = vars(parser(command).parse_args(words))
        return int(values["applet"].call(values, words))

    return guarded(execute)


def guarded(command: Callable[[], int | None]) -> int:
    """The exit code of `command`; what it raises becomes one line and the code of its class."""
    try:
        with processes.ending_on_signals():
            code = command()
            sys.stdout.flush()
            return int(code or 0)
    except AxiloomError as error:
        if error.exit_code == AxiloomError.exit_code and (line := cache.full(error)):
            return _told(line, BuildError.exit_code)
        return _told(str(error), error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _is_left(sys.stdout):
            # `axiloom list | head`: nothing to say, and nobody to say it to.
            _drop(sys.stdout)
            return 0
        # A file of the user's that cannot be read or written: no place, no permission, a name that cannot be.
        # A copy that finds no place has both names.
        place = error.filename2 if error.filename2 and error.errno in _NO_PLACE else error.filename
        if place is None and error.errno in _NO_PLACE:
            place = _place()
        if place is None and error.errno in _NO_MORE:
            place = "a limit of this machine or of the shell (ulimit -a)"
        if place is None:
            return _fault(error)
        return _told(f"{place}: {error.strerror}", UsageError.exit_code)
    except MemoryError as error:
        what = str(error) or "no more memory"
        return _told(f"{what}: take a smaller problem, or allow more (ulimit -v)", UsageError.exit_code)
    except KeyboardInterrupt:
        return _told("interrupted", 128 + signal.SIGINT)
    except processes.EndedError as error:
        return _told(f"ended by {error}", 128 + error.signal)
    except Exception as error:
        return _fault(error)


_NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Of an error of a file that was open already: it has no name then."""
_NO_MORE = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
"""Of an error of a process that wants one more of something."""


def _is_left(stream: TextIO) -> bool:
    """Whether nobody reads the pipe any more; else it was another one that broke."""
    events = select.poll()
    events.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in events.poll(0))


def _place() -> str:
    """What could not be written: standard output, or something else."""
    try:
        sys.stdout.flush()  # what did not go out is still to be written
    except OSError:
        _drop(sys.stdout)
        return "standard output"
    return f"a file (temporary ones lie in {cache.temporary_root()})"


def _drop(stream: TextIO) -> None:
    """What is still to be written goes nowhere: at its end Python would try once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _told(message: str, code: int) -> int:
    """`code`, with the one line on standard error (where somebody reads it)."""
    try:
        print(f"axiloom: {message}", file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)
    return code


def _fault(error: Exception) -> int:
    if line := cache.full(error):
        return _told(line, BuildError.exit_code)
    traceback.print_exception(error)
    print("axiloom: this is a fault of axiloom itself, not of your input; please report it", file=sys.stderr)
    return AxiloomError.exit_code
