"""The ``axiloom`` command: one module a group of subcommands, errors caught once, here.

Exit codes: 0 done (and the result is right), 1 the result is wrong, 2 usage, 3 specification,
4 compile, 5 build, 6 hang, 7 the driver failed, 8 the board is not reached, 70 a fault of Axiloom itself.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence

import axiloom
from axiloom.errors import AxiloomError, UsageError

EPILOG = """exit codes: 0 right, 1 wrong result, 2 usage, 3 specification, 4 compile, 5 build, 6 hang,
7 driver failed, 8 board not reached, 70 a fault of axiloom itself"""


GROUPS: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "simulate"),
    "quantise": ("quantize", "quantise"),
    "explore": ("explore",),
    "sweep": ("sweep",),
    "calibrate": ("calibrate",),
    "build": ("compile", "verilog"),
    "board": ("board",),
    "bring_up": ("bring-up",),
    "open_flow": ("estimate",),
    "nest": ("nest",),
    "prove": ("prove",),
    "validate": ("validate",),
    "spec": ("spec", "list"),
    "compare": ("report",),
    "example": ("example", "docs"),
    "doctor": ("doctor",),
}
"""Modules of this package, in the order of ``--help``, and the commands that each adds."""


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or what of it `command` needs: to import all takes seconds."""
    from axiloom.cli import given

    top = given.Parser(
        prog="axiloom",
        description="From an accelerator's instruction set to its RTL, its driver, and a cycle-accurate run.",
        epilog=EPILOG,
    )
    top.add_argument("--version", action="version", version=f"axiloom {axiloom.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    mine = [group for group, names in GROUPS.items() if command in names]
    for group in mine or GROUPS:
        importlib.import_module(f"axiloom.cli.{group}").add_commands(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from axiloom.cli import given

    words = [*(sys.argv[1:] if argv is None else argv)]
    options = parser(words[0] if words else None).parse_args(words)
    options.words = words  # for reports: what repeats the run

    def command() -> int | None:
        given.check(options)
        code: int | None = options.execute(options)
        return code

    return guarded(command)


def guarded(command: Callable[[], int | None]) -> int:
    """The exit code of `command`; what it raises becomes one line and the code of its class."""
    try:
        code = command()
        sys.stdout.flush()
        return int(code or 0)
    except AxiloomError as error:
        print(f"axiloom: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output has left (`axiloom list | head`): nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            return _fault()
        # A file of the user's that cannot be read or written: no place, no permission, a name that cannot be.
        print(f"axiloom: {error.filename}: {error.strerror}", file=sys.stderr)
        return UsageError.exit_code
    except KeyboardInterrupt:
        print("axiloom: interrupted", file=sys.stderr)
        return 130
    except Exception:
        return _fault()


def _fault() -> int:
    traceback.print_exc()
    print("axiloom: this is a fault of axiloom itself, not of your input; please report it", file=sys.stderr)
    return AxiloomError.exit_code
