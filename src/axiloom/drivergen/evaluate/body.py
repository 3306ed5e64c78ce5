"""Single operations of a linalg op's body by NumPy, on all elements at once.

Integers wrap at the width of their type; floats are rounded after each operation, as the driver's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.evaluate import elementary

Array = np.ndarray[Any, Any]
Values = dict[SSAValue, Array]
Rule = Callable[..., Array]

_PRECISE = ContextVar("_PRECISE", default=False)
"""Whether float32 is evaluated in float64."""
_MAGNITUDES = ContextVar("_MAGNITUDES", default=False)


@contextmanager
def precisely(*, magnitudes: bool = False) -> Iterator[None]:
    """Evaluate float32 in float64 here; `magnitudes`: constants by their absolute values."""
    precise, absolute = _PRECISE.set(True), _MAGNITUDES.set(magnitudes)
    try:
        yield
    finally:
        _PRECISE.reset(precise)
        _MAGNITUDES.reset(absolute)


def evaluated(dtype: str) -> np.dtype[Any]:
    """The type in which arrays of `dtype` are evaluated."""
    return np.dtype("float64" if dtype == "float32" and _PRECISE.get() else dtype)


def dtype_of(op: Operation, kind: Attribute) -> np.dtype[Any]:
    """NumPy's type of a scalar, or of elements; CompileError (with the place of `op`) where it has none."""
    if isinstance(kind, IndexType):
        return np.dtype(np.int64)
    if isinstance(kind, IntegerType) and kind.width.data in (1, 8, 16, 32, 64):
        return np.dtype(f"int{kind.width.data}" if kind.width.data > 1 else np.bool_)
    if not isinstance(kind, Float32Type | Float64Type):
        fail(op, f"the reference cannot execute {kind}")
    return evaluated("float32" if isinstance(kind, Float32Type) else "float64")


def constant(op: arith.ConstantOp) -> Array:
    """The value of a scalar or dense constant."""
    kind = op.result.type
    if isinstance(op.value, IntegerAttr | FloatAttr):
        return _of_size(np.array(op.value.value.data).astype(dtype_of(op, kind)))
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not isinstance(kind, TensorType):
        fail(op, "the reference cannot execute it")
    values = _of_size(np.array(op.value.get_values()).astype(dtype_of(op, kind.element_type)))
    shape = kind.get_shape()
    return np.full(shape, values.flat[0]) if values.size == 1 else values.reshape(shape)


def _of_size(constants: Array) -> Array:
    return np.abs(constants) if _MAGNITUDES.get() and constants.dtype.kind == "f" else constants


def unsigned(x: Array) -> Array:
    """The same bits without a sign."""
    return x if x.dtype == np.bool_ else x.astype(f"u{x.dtype}")


def _of_unsigned(how: Rule) -> Rule:
    return lambda a, b: np.asarray(how(unsigned(a), unsigned(b))).astype(a.dtype)


def _quotient(a: Array, b: Array) -> Array:
    """Towards zero."""
    exact = np.where(b == 0, 1, b)
    return np.asarray(np.sign(a) * np.sign(exact) * (np.abs(a) // np.abs(exact))).astype(a.dtype)


def _exclusive_or(a: Array, b: Array) -> Array:
    return np.asarray(a != b) if a.dtype == np.bool_ else np.bitwise_xor(a, b)


def _propagating(how: Rule) -> Rule:
    return lambda a, b: np.asarray(how(a, b))


BINARY: Mapping[type[Operation], Rule] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: _exclusive_or,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.MaxUIOp: _of_unsigned(np.maximum),
    arith.MinUIOp: _of_unsigned(np.minimum),
    arith.ShLIOp: lambda a, b: np.left_shift(a, b),
    arith.ShRSIOp: lambda a, b: np.right_shift(a, b),
    arith.ShRUIOp: _of_unsigned(np.right_shift),
    arith.DivSIOp: _quotient,
    arith.RemSIOp: lambda a, b: a - b * _quotient(a, b),
    arith.FloorDivSIOp: np.floor_divide,
    arith.DivUIOp: _of_unsigned(np.floor_divide),
    arith.RemUIOp: _of_unsigned(np.remainder),
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.MaximumfOp: _propagating(np.maximum),
    arith.MinimumfOp: _propagating(np.minimum),
    arith.MaxnumfOp: _propagating(np.fmax),
    arith.MinnumfOp: _propagating(np.fmin),
    math.FPowIOp: elementary.powi,
}
UNARY: Mapping[type[Operation], Rule] = {
    arith.NegfOp: np.negative,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.SqrtOp: np.sqrt,
    math.RsqrtOp: elementary.rsqrt,
    math.FloorOp: np.floor,
    math.CeilOp: np.ceil,
    math.RoundEvenOp: elementary.roundeven,
    math.ExpOp: elementary.exp,
    math.ExpM1Op: elementary.expm1,
    math.LogOp: elementary.log,
    math.Log1pOp: elementary.log1p,
    math.SinOp: elementary.sin,
    math.CosOp: elementary.cos,
    math.TanhOp: elementary.tanh,
    math.ErfOp: elementary.erf,
}
_CASTS = (
    arith.TruncIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.FPToSIOp,
    arith.ExtFOp,
    arith.TruncFOp,
)
_COMPARED: tuple[tuple[Rule, bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    *((how, False) for how in (np.less, np.less_equal, np.greater, np.greater_equal)),
    *((how, True) for how in (np.less, np.less_equal, np.greater, np.greater_equal)),
)
"""By predicate of arith.cmpi: how, and whether without sign."""

_ORDERED: tuple[Rule, ...] = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
"""By predicate of arith.cmpf from 1 (oeq) and 8 (ueq) on; 0 is false, 7 ordered, 14 unordered, 15 true."""


def _compare_floats(predicate: int, a: Array, b: Array) -> Array:
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full_like(unordered, predicate == 15)
    if predicate in (7, 14):
        return unordered if predicate == 14 else ~unordered
    held = _ORDERED[predicate - (8 if predicate > 7 else 1)](a, b)
    return np.asarray(held | unordered if predicate > 7 else held & ~unordered)


def execute(op: Operation, values: Values) -> None:
    """One operation: `values` gets its result. CompileError for what is not known."""
    if isinstance(op, arith.ConstantOp):
        values[op.result] = constant(op)
        return
    operands = [values[v] for v in op.operands]
    kind = dtype_of(op, op.results[0].type)
    if type(op) in BINARY:
        result = BINARY[type(op)](*operands)
    elif type(op) in UNARY:
        result = UNARY[type(op)](*operands)
    elif isinstance(op, arith.ExtSIOp):
        narrow = operands[0]
        result = -narrow.astype(kind) if narrow.dtype == np.bool_ else narrow
    elif isinstance(op, arith.ExtUIOp | arith.UIToFPOp):
        result = unsigned(operands[0])
    elif isinstance(op, arith.TruncIOp) and kind == np.bool_:
        result = np.bitwise_and(operands[0], 1) != 0
    elif isinstance(op, _CASTS):
        result = operands[0]
    elif isinstance(op, arith.CmpiOp):
        how, bare = _COMPARED[op.predicate.value.data]
        result = how(*(map(unsigned, operands) if bare else operands))
    elif isinstance(op, arith.CmpfOp):
        result = _compare_floats(op.predicate.value.data, *operands)
    elif isinstance(op, arith.SelectOp):
        result = np.where(operands[0], operands[1], operands[2])
    else:
        fail(op, "the reference cannot execute it")
    values[op.results[0]] = np.asarray(result).astype(kind)
