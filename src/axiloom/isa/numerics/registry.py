"""Names to numerics. A new format is one more entry of `NAMED`, or of `FAMILIES` where it has parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from axiloom.base.wording.names import hint, shortened
from axiloom.isa.numerics import adaptivfloat, fixed, ufixed
from axiloom.isa.numerics.float32 import FLOAT32
from axiloom.isa.numerics.integer import INT8, INT16, INT32, UINT8, Integer
from axiloom.isa.numerics.numerics import Numerics

NAMED: Mapping[str, Numerics] = {numerics.name: numerics for numerics in (INT8, INT16, INT32, UINT8, FLOAT32)}
FAMILIES: Mapping[str, Callable[[str], Numerics | str | None]] = {
    fixed.FORM: fixed.parse,
    ufixed.FORM: ufixed.parse,
    adaptivfloat.NAME: adaptivfloat.parse,
}
"""How people write a name with parameters, to what reads it: the numerics, or why there is none of this name,
or None where the name is of something else."""
FORMS = (*NAMED, *FAMILIES)
"""All names that :func:`of` takes, with parameters as people write them."""


class NumericsError(ValueError):
    """A name that is of no numerics. The text says what there is; `short` only why it is none."""

    def __init__(self, short: str, there_are: str = "") -> None:
        self.short = short
        super().__init__(short + there_are)


def of(name: str) -> Numerics:
    """The numerics of this name; raises NumericsError."""
    if name in NAMED:
        return NAMED[name]
    for parse in FAMILIES.values():
        parsed = parse(name)
        if isinstance(parsed, Numerics):
            return parsed
        if parsed is not None:
            raise NumericsError(parsed)
    unknown = f"unknown type `{shortened(name)}`{hint(name, FORMS)}"
    raise NumericsError(unknown, f"; there are {', '.join(FORMS)}")


def host(dtype: str) -> Numerics:
    """The numerics whose values are what a NumPy array of this type holds."""
    if dtype in NAMED:
        return NAMED[dtype]
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        raise NumericsError(f"no numerics has elements of {dtype}; there are {', '.join(NAMED)}")
    return Integer(dtype, kind.itemsize * 8, kind.kind == "i")
