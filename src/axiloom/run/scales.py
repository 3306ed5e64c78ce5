"""The border of a network: what its user gives and gets, and what its integers are.

`axiloom quantize` writes scales as attributes of the function, ``axiloom.input_scales`` and
``axiloom.output_scales``; 0 is a value that is an integer for the user too, such as the index of a word.
Integers of MLIR have no sign; where a model has unsigned ones, ``axiloom.input_types`` and
``axiloom.output_types`` say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, StringAttr
from xdsl.dialects.func import FuncOp

from axiloom.base.attributes import SOURCE, TYPES
from axiloom.base.errors import UsageError

Array = np.ndarray[Any, Any]
LIMIT = 127
"""Of int8, symmetric as the network has it."""


@dataclass(frozen=True)
class Border:
    """One value of the function."""

    scale: float = 0.0
    """What one step is worth; 0 where the user has the integers themselves."""
    kind: np.dtype[Any] | None = None
    """The user's type, where it is another than the function's: as wide, and unsigned."""

    def given(self, array: Array, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        """`array` as the network takes it: as it is, or real numbers in steps of the scale.

        Raises UsageError for another shape, or a type that has no such form.
        """
        kind = self.kind or np.dtype(dtype)
        if array.shape != shape:
            raise UsageError(f"`{name}` has shape {array.shape}, the network takes {shape}")
        if array.dtype == kind:
            return array.view(dtype)
        if array.dtype.kind == "f" and self.scale:
            if not np.isfinite(array).all():
                raise UsageError(f"`{name}` has values that are no numbers (NaN or infinity)")
            return np.clip(np.rint(array.astype(np.float64) / self.scale), -LIMIT, LIMIT).astype(kind)
        if array.dtype.kind in "iu" and kind.kind in "iu" and not self.scale and array.size:
            whole = np.iinfo(kind)
            if int(array.min()) < whole.min or int(array.max()) > whole.max:
                raise UsageError(
                    f"`{name}` has values from {array.min()} to {array.max()}, the network takes {kind}"
                )
            return array.astype(kind).view(dtype)
        also = f", or floats, which become steps of {self.scale:.6g}" if self.scale else ""
        raise UsageError(f"`{name}` is {array.dtype} {array.shape}, the network takes {kind} {shape}{also}")

    def out(self, array: Array) -> Array:
        """A value for the user: float32 where it has a scale."""
        if self.scale:
            return (array * self.scale).astype(np.float32)
        return array if self.kind is None else array.view(self.kind)


def of(function: FuncOp, what: str, count: int) -> list[Border]:
    """Its ``input`` or ``output`` values."""
    scales = [0.0] * count
    attribute = function.attributes.get(f"axiloom.{what}_scales")
    if isinstance(attribute, ArrayAttr):
        known = [scale.value.data for scale in attribute if isinstance(scale, FloatAttr)]
        scales = (known + scales)[:count]
    types: list[np.dtype[Any] | None] = [None] * count
    names = function.attributes.get(TYPES.format(what))
    if isinstance(names, ArrayAttr):
        words = [np.dtype(name.data) for name in names if isinstance(name, StringAttr)]
        types = ([kind if kind.kind == "u" else None for kind in words] + types)[:count]
    return [Border(scale, kind) for scale, kind in zip(scales, types, strict=True)]


def compared(function: FuncOp) -> str:
    """What `axiloom quantize` has compared the integers with, where it wrote the function."""
    attribute = function.attributes.get(SOURCE)
    return f"when it was quantised, {attribute.data}" if isinstance(attribute, StringAttr) else ""
