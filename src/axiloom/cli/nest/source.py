"""Which program a command about loops is given, and by which schedule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli.applet import option
from axiloom.cli.options import define, include
from axiloom.library.works import load, scheduled

__all__ = ["DEVICE", "PARTS", "defines", "load", "scheduled"]

DEVICE = "xc7z020"
PARTS = ("xc7z010", "xc7z020", "xczu7ev", "xck26")
SOURCE = option(
    "source",
    metavar="FILE",
    help="FILE.c[:FUNCTION], FILE.mlir, FILE.onnx, or MODEL.py:FUNCTION that returns a program or a torch "
    "module and its inputs",
)
SOURCES = replace(SOURCE, settings={**SOURCE.settings, "nargs": "+"})
DEFINE = define("a size: a macro or a parameter in C, a parameter of a function in Python", first=True)
INCLUDE = include("a folder of headers of C; those beside the file are found anyway", first=True)
SCHEDULE = option(
    "--schedule",
    type=Path,
    metavar="FILE",
    first=True,
    help="primitives, a line each (default: as it is written)",
)
PLAIN = option("--plain", action="store_true", first=True, help="one nest after the other")
PART = option("--device", choices=PARTS, first=True, help=f"whose resources count (default {DEVICE})")


def defines(definitions: Sequence[str]) -> dict[str, str]:
    """``-D NAME=VALUE`` as a mapping; ``-D NAME`` is 1. Raises UsageError."""
    defined = {}
    for definition in definitions:
        name, equals, value = definition.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"-D {definition}: write NAME=VALUE")
        defined[name] = value if equals else "1"
    return defined
