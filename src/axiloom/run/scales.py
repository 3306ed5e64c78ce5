"""Real numbers at the border of an int8 network: inputs in steps of their scale, results back to floats.

`axiloom quantize` writes both as attributes of the function, ``axiloom.input_scales`` and
``axiloom.output_scales``; 0 is a value that is an integer for the user too, such as the index of a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FloatAttr
from xdsl.dialects.func import FuncOp

from axiloom.errors import UsageError

Array = np.ndarray[Any, Any]
LIMIT = 127
"""Of int8, symmetric as the network has it."""


def of(function: FuncOp, what: str, count: int) -> list[float]:
    """The scales of its ``input`` or ``output`` values; zeros where the function has none."""
    found = function.attributes.get(f"axiloom.{what}_scales")
    if not isinstance(found, ArrayAttr):
        return [0.0] * count
    scales = [one.value.data for one in found if isinstance(one, FloatAttr)]
    return (scales + [0.0] * count)[:count]


def given(array: Array, name: str, shape: tuple[int, ...], dtype: str, scale: float) -> Array:
    """`array` as the network takes it: as it is, or real numbers in steps of `scale`.

    Raises UsageError for another shape, or a type that has no such form.
    """
    kind = np.dtype(dtype)
    if array.shape != shape:
        raise UsageError(f"`{name}` has shape {array.shape}, the network takes {shape}")
    if array.dtype == kind:
        return array
    if array.dtype.kind == "f" and scale:
        if not np.isfinite(array).all():
            raise UsageError(f"`{name}` has values that are no numbers (NaN or infinity)")
        return np.clip(np.rint(array.astype(np.float64) / scale), -LIMIT, LIMIT).astype(kind)
    if array.dtype.kind in "iu" and kind.kind in "iu" and not scale and array.size:
        whole = np.iinfo(kind)
        if int(array.min()) < whole.min or int(array.max()) > whole.max:
            raise UsageError(
                f"`{name}` has values from {array.min()} to {array.max()}, the network takes {kind}"
            )
        return array.astype(kind)
    also = f", or floats, which become steps of {scale:.6g}" if scale else ""
    raise UsageError(f"`{name}` is {array.dtype} {array.shape}, the network takes {kind} {shape}{also}")


def result(array: Array, scale: float) -> Array:
    """A result for the user: float32 where it has a scale."""
    return (array * scale).astype(np.float32) if scale else array
