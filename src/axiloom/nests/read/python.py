"""Python to a program: ``MODEL.py:FUNCTION``, a function that returns a `Program`, a `Loaded` or a `Builder`.

``-D NAME=VALUE`` gives the function's parameter NAME an integer.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from axiloom.base.errors import AxiloomError, UsageError
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


def call(path: Path, function: str, defines: Mapping[str, str] | None = None) -> Any:
    """What the function of the file returns."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"axiloom_nest_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that it may import what lies beside it
    try:
        spec.loader.exec_module(module)
        there = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        build = getattr(module, function, None) if function else None
        if not callable(build):
            raise UsageError(
                f"{path}:{function or '?'}: no such function; there are {', '.join(there) or 'none'}"
            )
        return build(**_arguments(build, defines or {}, f"{path}:{function}"))
    except AxiloomError:
        raise
    except Exception as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)


def _arguments(function: Any, defines: Mapping[str, str], where: str) -> dict[str, int]:
    known = inspect.signature(function).parameters
    values = {}
    for name, value in defines.items():
        if name not in known:
            raise UsageError(
                f"{where}: -D {name}: it has no parameter {name}; it has {', '.join(known) or 'none'}"
            )
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"{where}: -D {name}={value}: no integer") from None
    return values
