"""Arrays of the host as raw elements, and back: the bits of a format, without those of its container."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.formats import Kind, format_of

Host = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]


def to_raw(values: Host, number: str) -> Words:
    """`values` in the container of format `number`; the result has the bits above those of the format clear.
    Raises ValueError for another container."""
    format = format_of(number)
    if values.dtype != format.numpy:
        raise ValueError(f"an array of {number} is {format.numpy}, not {values.dtype}")
    container = np.asarray(values).view(np.dtype(f"uint{format.container}"))
    return container.astype(np.uint64) & np.uint64((1 << format.bits) - 1)


def from_raw(raw: Words, number: str) -> Host:
    """Back, with the sign extended."""
    format = format_of(number)
    raw = np.asarray(raw, np.uint64)
    if format.signed and format.kind is not Kind.FLOAT:
        sign, above = np.uint64(1 << (format.bits - 1)), ~np.uint64((1 << format.bits) - 1)
        raw = np.where(raw & sign, raw | above, raw)
    return np.asarray(raw.astype(np.dtype(f"uint{format.container}"))).view(format.numpy)
