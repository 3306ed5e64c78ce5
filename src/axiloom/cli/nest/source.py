"""Which program a command about loops is given, and by which schedule."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.library.works import load, scheduled

__all__ = ["DEVICE", "PARTS", "add_includes", "add_source", "defines", "load", "scheduled"]

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
