"""Constant operands as drivers have them: packed before anything runs, tile by tile as they are sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr, i64
from xdsl.ir import Attribute

from axiloom.drivergen.dialects.packing import Array, Packing, PackingAttr

MULTIPLIER_BITS = 16
"""Of the word with a channel's multiplier and shift: the multiplier's, the lowest."""
CONSTANT = "accel.constant"
"""Attribute of an argument: it holds the same whenever the function is called, and is known now."""
SOURCES = "accel.sources"
"""Attribute of an argument: numbers of those of the original function that it is made of."""
PACKED = "accel.packed"
"""Attribute of an argument, an ``#accel.packing``: it is the array of the original function, packed so."""


def made_of(arrays: Sequence[Array]) -> Array:
    """The argument that has these `SOURCES`: one array as it is, or P of bias, multiplier and shift."""
    if len(arrays) == 1:
        return arrays[0]
    bias, multiplier, shift = (array.astype(np.uint32) for array in arrays)
    return np.stack([bias, multiplier | shift << np.uint32(MULTIPLIER_BITS)], axis=1).view(np.int32)


def sources(function: func.FuncOp) -> list[tuple[int, ...]]:
    """For each argument the numbers of the original ones; none of one that takes a result."""
    found: list[tuple[int, ...]] = []
    for number, attrs in enumerate(argument_attributes(function)):
        attr = attrs.get(SOURCES)
        own = () if attrs.get("accel.kind") == StringAttr("out") else (number,)
        found.append(tuple(attr.get_values()) if isinstance(attr, DenseArrayBase) else own)
    return found


def packings(function: func.FuncOp) -> dict[int, Packing]:
    """Those of the arguments that are packed, by number."""
    attributes = (attrs.get(PACKED) for attrs in argument_attributes(function))
    return {
        number: packing.data for number, packing in enumerate(attributes) if isinstance(packing, PackingAttr)
    }


def argument_attributes(function: func.FuncOp) -> list[dict[str, Attribute]]:
    """Those of each argument, none where there are none."""
    attrs = function.arg_attrs
    count = len(function.body.block.args)
    return [dict(attr.data) for attr in attrs] if attrs is not None else [{} for _ in range(count)]


def set_attributes(function: func.FuncOp, attributes: Sequence[dict[str, Attribute]]) -> None:
    """Write them back."""
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))


def source_numbers(numbers: Sequence[int]) -> DenseArrayBase:
    """The attribute `SOURCES`."""
    return DenseArrayBase.from_list(i64, list(numbers))
