"""What the operations of bodies are on values of a number format."""

from __future__ import annotations

from collections.abc import Callable

from axiloom.isa.numerics import Numerics, Values


def operations(kind: Numerics) -> dict[str, Callable[..., Values]]:
    """The operations of bodies on values of `kind`."""
    return {
        "add": kind.add,
        "sub": lambda a, b: kind.add(a, kind.negate(b)),
        "mul": lambda a, b: kind.narrow(kind.multiply(a, b)),
        "neg": kind.negate,
        "max": kind.maximum,
        "min": kind.minimum,
        "abs": lambda a: kind.maximum(a, kind.negate(a)),
        "number": kind.nearest,
    }
