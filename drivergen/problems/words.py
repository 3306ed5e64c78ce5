"""What the short forms of problems share: the type behind the colon, and sizes with names."""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.errors import UsageError
from axiloom.isa.contract.names import hint
from axiloom.isa.contract.types import DataType

Pair = tuple[int, int]


def split_type(text: str, form: str) -> tuple[str, str]:
    """What stands between the kind and the type, and the type (default int32): ``4`` of ``dot:4:int8``."""
    body, _, dtype = text.partition(":")[2].partition(":")
    known = [kind.value for kind in DataType]
    dtype = dtype or DataType.INT32.value
    if dtype not in known:
        raise UsageError(f"problem `{text}`: unknown type `{dtype}`{hint(dtype, known)}; it may be {form}")
    return body, dtype


def pairs(text: str, words: str, form: str, known: Mapping[str, Pair]) -> dict[str, Pair]:
    """``,pad=1,stride=2x1`` as numbers for rows and columns, over the defaults in `known`."""
    found = dict(known)
    for word in words.split(",")[1:]:
        name, _, value = word.partition("=")
        if name not in known:
            raise UsageError(f"problem `{text}`: unknown option `{name}`{hint(name, list(known))}; {form}")
        rows, _, columns = value.partition("x")
        found[name] = int(rows), int(columns or rows)
    return found
