"""Python to a program: ``MODEL.py:FUNCTION``, a function that returns a `Program`, a `Loaded` or a `Builder`.

``-D NAME=VALUE`` gives the function's parameter NAME an integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.base.python_file import call
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.loaded import Loaded

ACCEPTED = "a Program, a Loaded or a Builder"


def read(
    path: Path, function: str = "", defines: Mapping[str, str] | None = None, includes: Sequence[Path] = ()
) -> Loaded:
    """Raises UsageError where there is no such function or it returns something else."""
    if includes:
        raise UsageError(f"{path}: -I gives headers of C")
    result = call(path, function, defines)
    program = loaded(result)
    if program is None:
        raise UsageError(f"{path}:{function}: returned {type(result).__name__}; it must return {ACCEPTED}")
    return program


def loaded(result: Any) -> Loaded | None:
    """What a function returned, as `Loaded`; None if it is nothing of the kind."""
    if isinstance(result, Builder):
        result = result.program()
    if isinstance(result, Program):
        return Loaded(result)
    return result if isinstance(result, Loaded) else None
