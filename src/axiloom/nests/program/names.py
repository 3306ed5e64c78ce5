"""Names that nothing else has, and the place of the user's line, for messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from axiloom.base.errors import CompileError
from axiloom.base.wording.names import free_name

RESERVED = frozenset(
    (
        *("and", "or", "not", "mod", "floor", "ceil", "min", "max", "exists", "true", "false", "implies"),
        *("div", "infty", "nan", "rat"),
    )
)
"""Words of isl: no names of loops and statements."""
_HERE = str(Path(__file__).parent)
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def fresh(name: str, taken: set[str]) -> str:
    """`name`, or with the first number that makes it one that is free; taken then."""
    free = free_name(name, taken | RESERVED, str)
    taken.add(free)
    return free


_PLACE: ContextVar[str] = ContextVar("place", default="")


@contextmanager
def at(place: str) -> Iterator[None]:
    """What is built inside stands at this place, not in the line that calls the builder."""
    token = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(token)


def caller() -> str:
    """``model.py:12``: the innermost line that is not of this package, or where :func:`at` says."""
    if place := _PLACE.get():
        return place
    frame = sys._getframe(1)
    inside = (_HERE, "<frozen", str(Path(sys.modules["contextlib"].__file__ or "")))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def fault(why: str) -> CompileError:
    """The error, with the place of the user's line."""
    return CompileError(f"{caller()}: {why}")


def located(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """What `function` finds wrong with its operands becomes :func:`fault`."""

    @wraps(function)
    def inner(*args: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        try:
            return function(*args, **named)
        except (TypeError, ValueError) as error:
            raise fault(str(error)) from None

    return inner
