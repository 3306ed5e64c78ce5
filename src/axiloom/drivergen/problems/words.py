"""What the short forms of problems share: the type behind the colon, and sizes with names."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint, number, shortened
from axiloom.drivergen.problems.elements import elements

Pair = tuple[int, int]


def split_type(text: str, form: str) -> tuple[str, str]:
    """What stands between the kind and the type, and the type (default int32): ``4x4`` of
    ``dot:4x4:int8``."""
    body, _, dtype = text.partition(":")[2].partition(":")
    return body, elements(shortened(text), dtype or None, form).name


def pairs(text: str, words: str, form: str, known: Mapping[str, Pair]) -> dict[str, Pair]:
    """``,pad=1,stride=2x1`` as numbers for rows and columns, over the defaults in `known`."""
    named = dict(known)
    for word in words.split(",")[1:]:
        name, _, value = word.partition("=")
        if name not in known:
            unknown = f"unknown option `{shortened(name)}`{hint(name, list(known))}"
            raise UsageError(f"problem `{shortened(text)}`: {unknown}; {form}")
        rows, _, columns = value.partition("x")
        named[name] = number(rows), number(columns or rows)
    return named
