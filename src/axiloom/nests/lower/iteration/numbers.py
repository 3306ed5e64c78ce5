"""Number formats as bits: how many, and those of a literal."""

from __future__ import annotations

import numpy as np

from axiloom.base.errors import CompileError
from axiloom.isa.numerics.formats import Format, Kind, format_of


def number_bits(number: str) -> int:
    """Bits of an element."""
    return _format(number).bits


def literal(value: int | float, number: str) -> int:
    """The raw bits of a constant; fixed-point is in units."""
    form = _format(number)
    if form.kind is Kind.FLOAT:
        raw = int(np.asarray(value, np.float32).view(np.uint32))
        return raw if raw & 0x7F800000 else raw & 0x80000000  # subnormals are zero
    return int(value) & ((1 << form.bits) - 1)


def _format(number: str) -> Format:
    try:
        format = format_of(number)
    except ValueError as error:
        raise CompileError(str(error)) from error
    if format.name == "float64":
        raise CompileError("float64: circuits have no double; write float")
    return format
