"""Types of elements that a problem may name."""

from __future__ import annotations

from axiloom.base.errors import UsageError
from axiloom.isa import numerics

TYPES = "int8, int16, int32, uint8, float32 or fixed<BITS,FRACTION>"


def elements(problem: str, name: str | None, form: str) -> numerics.Numerics:
    """The numerics that `problem` names, int32 by default; UsageError says what is accepted, as `form`."""
    try:
        kind = numerics.of(name or numerics.INT32.name)
    except numerics.NumericsError as error:
        raise UsageError(f"problem `{problem}`: {error.short}; it may be {form}") from None
    if not kind.in_mlir:
        why = f"MLIR has no products of {kind}, so there is no driver"
        raise UsageError(f"problem `{problem}`: {why}; it may be {form}")
    return kind
