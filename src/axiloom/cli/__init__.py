"""The ``axiloom`` command: one module a group of subcommands, errors caught once, here.

Exit codes: 0 done (and the result is right), 1 the result is wrong, 2 usage, 3 specification,
4 compile, 5 build, 6 hang, 7 the driver failed, 8 the board is not reached, 70 a fault of Axiloom itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence

import axiloom
from axiloom.errors import AxiloomError, UsageError

EPILOG = """exit codes: 0 right, 1 wrong result, 2 usage, 3 specification, 4 compile, 5 build, 6 hang,
7 driver failed, 8 board not reached, 70 a fault of axiloom itself"""


def parser() -> argparse.ArgumentParser:
    """The whole command line; each group of subcommands adds its own."""
    # Imported here: whoever imports this package does not pay for compiler and simulator at once.
    from axiloom.cli import (
        board,
        bring_up,
        build,
        calibrate,
        compare,
        doctor,
        example,
        explore,
        given,
        nest,
        open_flow,
        prove,
        quantise,
        run,
        spec,
        sweep,
        validate,
    )

    top = given.Parser(
        prog="axiloom",
        description="From an accelerator's instruction set to its RTL, its driver, and a cycle-accurate run.",
        epilog=EPILOG,
    )
    top.add_argument("--version", action="version", version=f"axiloom {axiloom.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for group in (
        run,
        quantise,
        explore,
        sweep,
        calibrate,
        build,
        board,
        bring_up,
        open_flow,
        nest,
        prove,
        validate,
        spec,
        compare,
        example,
        doctor,
    ):
        group.add_commands(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from axiloom.cli import given

    options = parser().parse_args(argv)
    options.words = [*(sys.argv[1:] if argv is None else argv)]  # for reports: what repeats the run

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
