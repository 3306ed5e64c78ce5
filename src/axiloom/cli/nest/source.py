"""Which program a command about loops is given, and by which schedule."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base import extras
from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import read_text

if TYPE_CHECKING:
    from axiloom.nests.program import Program
    from axiloom.nests.program.loaded import Loaded
    from axiloom.nests.schedule import Schedule

DEVICE = "xc7z020"
PARTS = ("xc7z010", "xc7z020", "xczu7ev", "xck26")


def add_source(command: argparse.ArgumentParser) -> None:
    """The arguments that say which program is meant."""
    command.add_argument(
        "source",
        metavar="FILE",
        nargs="+",
        help="FILE.c[:FUNCTION], FILE.mlir, FILE.onnx, or MODEL.py:FUNCTION that returns a program or a "
        "torch module and its inputs",
    )
    command.add_argument(
        "-D",
        dest="define",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a size: a macro or a parameter in C, a parameter of a function in Python",
    )
    add_includes(command)


def add_includes(command: argparse._ActionsContainer) -> None:
    command.add_argument(
        "-I",
        dest="include",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="a folder of headers of C; those beside the file are found anyway",
    )


def defines(definitions: list[str]) -> dict[str, str]:
    """``-D NAME=VALUE`` as a mapping; ``-D NAME`` is 1. Raises UsageError."""
    defined = {}
    for definition in definitions:
        name, equals, value = definition.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"-D {definition}: write NAME=VALUE")
        defined[name] = value if equals else "1"
    return defined


def load(source: str, sizes: Mapping[str, str], includes: Sequence[Path] = ()) -> Loaded:
    """The program, without faults. Raises CompileError with every fault, UsageError, BuildError."""
    try:
        import clang.cindex  # noqa: F401
        import islpy  # noqa: F401
    except ImportError as error:
        from axiloom.base.errors import BuildError

        raise BuildError(
            f"nest: needs {error.name}, which is not installed: {extras.install('nests')}"
        ) from None
    from axiloom.nest import loops
    from axiloom.nests.poly.checks import faults

    loaded = loops.load(source, sizes, includes)
    if wrong := faults(loaded.program):
        raise CompileError("\n".join(wrong))
    return loaded


def scheduled(program: Program, file: Path | None) -> Schedule:
    """`program` by the schedule in `file`. Raises ScheduleError with its line."""
    from axiloom.nests.schedule import Schedule
    from axiloom.nests.schedule.replay import replay

    if file is None:
        return Schedule.of(program)
    return replay(program, read_text(str(file)), str(file))
