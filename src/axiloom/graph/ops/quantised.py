"""Operations of networks in int8: what one accelerator, or one loop on a CPU, does at once.

An int8 value stands for a real number in steps of a scale; sums are int32 and wrap. Factors are integers
with a shift to the right behind them, which rounds halves up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axiloom.graph.graph import Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.checks import dimension_of, integer, ints, need, per_dimension, rank_of, text
from axiloom.graph.ops.composite import along, composite, splat_like
from axiloom.graph.ops.op import Array, Arrays, Attributes, Make

Operands = Sequence[Node]
Types = Sequence[Type]

NORM_BITS, ROOT_BITS = 10, 24
"""Fraction of a normalised value of `layer_norm_int8`, and of the root that divides by the deviation."""


def _of(wanted: str, *nodes: Node) -> None:
    for node in nodes:
        need(node.type.number == wanted, f"{wanted} is needed, not {node.type}")


def _ends(attributes: Attributes) -> tuple[int, int]:
    low, high = integer(attributes, "low"), integer(attributes, "high")
    need(-128 <= low <= high <= 127, f"a clamp to {low} ... {high}")
    return low, high


def _shift_of(attributes: Attributes) -> int:
    shift = integer(attributes, "shift")
    need(0 <= shift < 32, f"a shift of {shift} places: 0 to 31 are needed")
    return shift


def _convert(make: Make, node: Node, to: str) -> Node:
    return make("convert", node, number=to)


def _scalar(make: Make, op: str, x: Node, value: int) -> Node:
    return make(op, x, splat_like(make, x, str(value)))


def _clamped(make: Make, x: Node, low: int, high: int) -> Node:
    """In int8."""
    clamped = make("clamp", splat_like(make, x, str(low)), x, splat_like(make, x, str(high)))
    return _convert(make, clamped, "int8")


def _rounded(make: Make, x: Node, shift: int) -> Node:
    """x by 2^shift, halves up."""
    return _scalar(make, "shift_right_arithmetic", _scalar(make, "add", x, (1 << shift) >> 1), shift)


def _rows(make: Make, x: Node, kind: str) -> Node:
    """All along the last dimension."""
    return make("reduce", x, kind=kind, dimensions=(len(x.type.shape) - 1,))


def _back(make: Make, rows: Node, like: Node) -> Node:
    """One number a row, repeated along it."""
    return make(
        "broadcast_in_dim", rows, shape=like.type.shape, dimensions=tuple(range(len(rows.type.shape)))
    )


def _requantise(make: Make, operands: Operands, attributes: Attributes) -> Node:
    sums, bias, multiplier, shift = operands
    _of("int32", *operands)
    for tensor in operands[1:]:
        rank_of(tensor.type, 1, "what belongs to channels")
    low, high = _ends(attributes)
    dimension = dimension_of(sums.type, integer(attributes, "dimension"))

    def wide(node: Node) -> Node:
        return _convert(make, node, "int64")

    biased = wide(make("add", sums, along(make, bias, sums, dimension)))
    factor = wide(along(make, multiplier, sums, dimension))
    amount = wide(along(make, shift, sums, dimension))
    unit = splat_like(make, biased, "1")
    half = make("shift_right_logical", make("shift_left", unit, amount), unit)
    scaled = make("shift_right_arithmetic", make("add", make("multiply", biased, factor), half), amount)
    return _clamped(make, _scalar(make, "add", scaled, integer(attributes, "zero")), low, high)


def _requantised(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    """As it is defined, in a sixth of the time: what belongs to channels is not repeated."""
    sums, *channels = arrays
    shape = [-1 if d == attributes["dimension"] else 1 for d in range(sums.ndim)]
    bias, factor, shift = (array.reshape(shape) for array in channels)
    places, low, high = shift.astype(np.int64), integer(attributes, "low"), integer(attributes, "high")
    half = ((np.uint64(1) << places.view(np.uint64)) >> np.uint64(1)).astype(np.int64)
    scaled = (sums + bias).astype(np.int64) * factor + half
    moved = (scaled >> places) + integer(attributes, "zero")  # by 64 and more: all bits, as in Graph
    return np.asarray(np.clip(moved, low, high).astype(np.int8))


def _requantise_shift(make: Make, operands: Operands, attributes: Attributes) -> Node:
    sums, bias = operands
    _of("int32", sums, bias)
    rank_of(bias.type, 1, "the bias")
    biased = make(
        "add", sums, along(make, bias, sums, dimension_of(sums.type, integer(attributes, "dimension")))
    )
    shifted = _scalar(make, "shift_right_arithmetic", biased, _shift_of(attributes))
    return _clamped(make, shifted, *_ends(attributes))


def _both(make: Make, a: Node, b: Node) -> tuple[Node, Node]:
    """Two int8 in int32, the second repeated as NumPy broadcasts it."""
    _of("int8", a, b)
    rank = len(a.type.shape)
    need(len(b.type.shape) <= rank, f"{b.type} has more dimensions than {a.type}")
    b = make(
        "broadcast_in_dim", b, shape=a.type.shape, dimensions=tuple(range(rank - len(b.type.shape), rank))
    )
    return _convert(make, a, "int32"), _convert(make, b, "int32")


def _add_scaled(make: Make, operands: Operands, attributes: Attributes) -> Node:
    a, b = _both(make, *operands)
    scaled = (
        _scalar(make, "multiply", x, integer(attributes, by)) for x, by in ((a, "first"), (b, "second"))
    )
    return _clamped(make, _rounded(make, make("add", *scaled), _shift_of(attributes)), *_ends(attributes))


def _multiply_scaled(make: Make, operands: Operands, attributes: Attributes) -> Node:
    product = _scalar(
        make, "multiply", make("multiply", *_both(make, *operands)), integer(attributes, "factor")
    )
    return _clamped(make, _rounded(make, product, _shift_of(attributes)), -128, 127)


def _lookup(make: Make, operands: Operands, _: Attributes) -> Node:
    x, table = operands
    _of("int8", x, table)
    need(table.type.shape == (256,), f"a table of 256 is needed, not {table.type}")
    return make("take", table, _scalar(make, "add", _convert(make, x, "int32"), 128))


def _embedding(make: Make, operands: Operands, _: Attributes) -> Node:
    rows, table = operands
    need(number(rows.type.number).signed, f"row numbers with a sign are needed, not {rows.type}")
    return make("take", table, rows)


def _softmax(make: Make, operands: Operands, attributes: Attributes) -> Node:
    x, table = operands
    _of("int8", x)
    _of("int32", table)
    need(bool(x.type.shape), "x has no dimensions")
    need(table.type.shape == (256,), f"a table of 256 is needed, not {table.type}")
    wide = _convert(make, x, "int32")
    powers = make("take", table, make("subtract", _back(make, _rows(make, wide, "max"), x), wide))
    total = _rows(make, powers, "add")
    inverse = make("divide", splat_like(make, total, str(integer(attributes, "numerator"))), total)
    scaled = _rounded(make, make("multiply", powers, _back(make, inverse, x)), _shift_of(attributes))
    return _convert(make, _scalar(make, "minimum", scaled, 127), "int8")


def _layer_norm(make: Make, operands: Operands, attributes: Attributes) -> Node:
    x, gain, offset = operands
    _of("int8", x)
    _of("int32", gain, offset)
    need(bool(x.type.shape), "x has no dimensions")
    last, size = len(x.type.shape) - 1, x.type.shape[-1]
    for channels in (gain, offset):
        rank_of(channels.type, 1, "gain and offset")
    wide = _convert(make, x, "int32")
    total, squares = _rows(make, wide, "add"), _rows(make, make("multiply", wide, wide), "add")
    long = _convert(make, total, "int64")
    spread = make(
        "subtract",
        _scalar(make, "multiply", _convert(make, squares, "int64"), size),
        make("multiply", long, long),
    )
    real = _convert(make, spread, "float32")
    root = make("sqrt", make("add", real, splat_like(make, real, text(attributes, "epsilon"))))
    unit = splat_like(make, root, number("float32").text(1 << ROOT_BITS))
    inverse = _convert(make, make("divide", unit, root), "int32")
    centred = make("subtract", _scalar(make, "multiply", wide, size), _back(make, total, x))
    normal = _rounded(make, make("multiply", centred, _back(make, inverse, x)), ROOT_BITS - NORM_BITS)
    scaled = make("add", make("multiply", normal, along(make, gain, x, last)), along(make, offset, x, last))
    shifted = _scalar(make, "shift_right_arithmetic", scaled, _shift_of(attributes))
    return _clamped(make, shifted, -128, 127)


def _sum_pool(make: Make, operands: Operands, attributes: Attributes) -> Node:
    (x,) = operands
    _of("int8", x)
    rank_of(x.type, 4, "the image")
    window, strides, (rows, columns) = (
        per_dimension(ints(attributes, name), 2, name, least)
        for name, least in (("window", 1), ("strides", 1), ("padding", 0))
    )
    return make(
        "reduce_window", _convert(make, x, "int32"), kind="add", window=(1, 1, *window),
        strides=(1, 1, *strides), padding=(0, 0, 0, 0, rows, rows, columns, columns), dilation=(1, 1, 1, 1),
    )  # fmt: skip


_ENDS = {"low": int, "high": int}
OPS = (
    composite(
        "requantise", 4, _requantise, {"dimension": int, "zero": int, **_ENDS},
        "sums, and for each channel along a dimension its bias, multiplier (16 bits without sign) and shift "
        "(0 to 63): clamp(((sums + bias) * multiplier + half >> shift) + zero, low, high) in int8",
        evaluate=_requantised,
    ),
    composite(
        "requantise_shift", 2, _requantise_shift, {"dimension": int, "shift": int, **_ENDS},
        "sums, and a bias for each channel along a dimension: clamp((sums + bias) >> shift, low, high)",
    ),
    composite(
        "add_scaled", 2, _add_scaled, {"first": int, "second": int, "shift": int, **_ENDS},
        "int8, the second broadcast: clamp((a * first + b * second + half) >> shift, low, high)",
    ),
    composite(
        "multiply_scaled", 2, _multiply_scaled, {"factor": int, "shift": int},
        "int8, the second broadcast: clamp((a * b * factor + half) >> shift)",
    ),
    composite("lookup", 2, _lookup, doc="int8 x and a table of 256: table[x + 128]"),
    composite(
        "embedding", 2, _embedding,
        doc="row numbers and a table, as `take`; numbers outside it are a fault of the caller",
    ),
    composite(
        "softmax_int8", 2, _softmax, {"numerator": int, "shift": int},
        "int8 x and a table: over the last dimension, with e = table[max x - x], "
        "min((e * (numerator / sum e) + half) >> shift, 127); the quotient is rounded down",
    ),
    composite(
        "layer_norm_int8", 3, _layer_norm, {"epsilon": str, "shift": int},
        "int8 x, gain, offset: over the last dimension of n, with s = sum x, d = n * sum(x * x) - s * s and "
        "r = 2^24 / sqrt(float(d) + epsilon) truncated, z = ((n * x - s) * r + 8192) >> 14 is the normalised "
        "value times 1024; clamp((z * gain + offset) >> shift)",
    ),
    composite(
        "sum_pool", 1, _sum_pool, {"window": tuple, "strides": tuple, "padding": tuple},
        "int32 sums over windows of int8 images (b, c, h, w); padding of rows and columns counts as zeros",
    ),
)  # fmt: skip
