"""Functions of Python files that users give: ``MODEL.py:FUNCTION``."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from axiloom.base.errors import AxiloomError, UsageError

T = TypeVar("T")


def call(path: Path, function: str, defines: Mapping[str, str] | None = None) -> Any:
    """What `function` of the Python file at `path` returns; `defines` gives its parameters integers.

    Raises UsageError where there is no such file, function or parameter, or where the file's code raises.
    """
    return use(path, function, lambda called: call_with(called, defines, f"{path}:{function}"))


def call_with(called: Callable[..., Any], defines: Mapping[str, str] | None, where: str) -> Any:
    return called(**_arguments(called, defines or {}, where))


def use(path: Path, function: str, what: Callable[[Any], T]) -> T:
    """What `what` makes of the function, without what decorates it. Raises UsageError, as `call` does."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"axiloom_model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that it may import what lies beside it
    try:
        spec.loader.exec_module(module)
        functions = {name: getattr(value, "__wrapped__", value) for name, value in vars(module).items()}
        if not callable(functions.get(function)):
            there = [name for name, value in functions.items() if inspect.isfunction(value)]
            raise UsageError(
                f"{path}:{function or '?'}: no such function; there are {', '.join(there) or 'none'}"
            )
        return what(functions[function])
    except AxiloomError:
        raise
    except Exception as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)


def takes_arrays(path: Path, function: str) -> bool:
    """Whether a parameter of the function has an annotation, and no default: by its text, as a model's file
    takes long to import. An ``int`` is a size that ``-D`` gives."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return False  # whoever imports it says what is wrong
    named = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    arguments = next((node.args for node in named), None)
    required = arguments.args[: len(arguments.args) - len(arguments.defaults)] if arguments else []
    return any(argument.annotation and ast.unparse(argument.annotation) != "int" for argument in required)


def _arguments(function: Any, defines: Mapping[str, str], where: str) -> dict[str, int]:
    if not defines:
        return {}
    known = inspect.signature(function).parameters
    arguments = {}
    for name, value in defines.items():
        if name not in known:
            raise UsageError(
                f"{where}: -D {name}: it has no parameter {name}; it has {', '.join(known) or 'none'}"
            )
        try:
            arguments[name] = int(value, 0)
        except ValueError:
            raise UsageError(f"{where}: -D {name}={value}: no integer") from None
    return arguments
