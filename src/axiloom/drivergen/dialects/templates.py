"""Templates of MLIR: texts with ``${NAME}`` in them, as scripts fill in that write one file for each size.

Values are given for the time of a command (``-D NAME=VALUE``): every text that is read meanwhile has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.wording.names import hint

_PLACE = re.compile(r"//[^\n]*|\$\{(?P<name>\w+)\}")
_VALUE = re.compile(r"[\w.$-]+")
_values: ContextVar[Mapping[str, str] | None] = ContextVar("values of templates", default=None)


def places(text: str) -> list[str]:
    """Names in ``${...}``, each once and in order; comments do not count."""
    return list(dict.fromkeys(place["name"] for place in _PLACE.finditer(text) if place["name"]))


@contextmanager
def given(defines: Sequence[str], text: str, name: str) -> Iterator[None]:
    """While it lasts, templates have these values, each ``NAME=VALUE``. Raises UsageError with all faults."""
    values, faults, known = {}, [], places(text)
    for define in defines:
        place, equals, value = define.partition("=")
        if not equals or not _VALUE.fullmatch(value):
            faults.append(f"-D {define}: expected NAME=VALUE, a name or a number")
        elif place not in known:
            faults.append(f"-D {place}: {name} has no ${{{place}}}{hint(place, known)}")
        values[place] = value
    if faults:
        raise UsageError("; ".join(faults))
    token = _values.set(values)
    try:
        yield
    finally:
        _values.reset(token)


def filled(text: str, name: str) -> str:
    """The text with its values; CompileError at the first place without one, which lists all of them."""
    values = _values.get() or {}
    if missing := [place for place in places(text) if place not in values]:
        at = next(place for place in _PLACE.finditer(text) if place["name"] == missing[0]).start()
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        needed = " ".join(f"-D {place}=..." for place in missing)
        raise CompileError(
            f"{name}:{line}:{column}: ${{{missing[0]}}} is a place of a template; give {needed}"
        )
    return _PLACE.sub(lambda place: values[place["name"]] if place["name"] else place[0], text)
