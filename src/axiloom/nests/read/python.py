"""Python to a program: ``MODEL.py:FUNCTION``, loops over NumPy arrays (`function`), or a function that
returns a `Program`, a `Loaded` or a `Builder`.

``-D NAME=VALUE`` gives a parameter NAME of the latter an integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.base.python_file import call_with, use
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read.function import is_loops
from axiloom.nests.read.function import read as of_function

ACCEPTED = "a Program, a Loaded or a Builder"


def read(
    path: Path, function: str = "", defines: Mapping[str, str] | None = None, includes: Sequence[Path] = ()
) -> Loaded:
    """Raises UsageError where there is no such function or it returns something else."""
    if includes:
        raise UsageError(f"{path}: -I gives headers of C")
    result = result_of(path, function, defines)
    program = loaded(result)
    if program is None:
        raise UsageError(f"{path}:{function}: returned {type(result).__name__}; it must return {ACCEPTED}")
    return program


def result_of(path: Path, function: str, defines: Mapping[str, str] | None = None) -> Any:
    """The loops that the function is, or else what it returns. Raises UsageError, CompileError."""

    def result(called: Any) -> Any:
        if not is_loops(called):
            return call_with(called, defines, f"{path}:{function}")
        if defines:
            raise UsageError(f"{path}:{function}: -D: sizes of loops in Python stand in the annotations")
        return of_function(called)

    return use(path, function, result)


def loaded(result: Any) -> Loaded | None:
    """What a function returned, or is, as `Loaded`; None if it is nothing of the kind."""
    if is_loops(result):
        return of_function(result)
    if isinstance(result, Builder):
        result = result.program()
    if isinstance(result, Program):
        return Loaded(result)
    return result if isinstance(result, Loaded) else None
