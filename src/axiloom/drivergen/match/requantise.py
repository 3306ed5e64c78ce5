"""Is this `linalg.generic` the rounding of sums to int8 that accelerators with post-processing do?

It works element by element on sums (i32) and on three vectors (i32) along their channels, and is
:mod:`axiloom.isa.kernels.requantise` in 64 bits, with the constants zp, lo and hi::

    min(max((((sum + bias) * multiplier + ((1 << shift) >> 1)) >> shift) + zp, lo), hi)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i8, i32, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from axiloom.drivergen.match.matmul import NoMatchError

WHAT = "the op behind it does not round sums to int8 as post-processing does"


@dataclass(frozen=True)
class Requantisation:
    """Numbers of the op's operands, the dim of the sums along which channels lie, and the constants."""

    sums: int
    bias: int
    multiplier: int
    shift: int
    axis: int
    zp: int
    lo: int
    hi: int


_OpT = TypeVar("_OpT", bound=Operation)


def _by(value: SSAValue, kind: type[_OpT]) -> _OpT:
    if not isinstance(value.owner, kind):
        raise NoMatchError(WHAT)
    return value.owner


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.value.value.data)
    return None


def _with_constant(op: Operation) -> tuple[SSAValue, int]:
    """The other operand of a commutative op with a constant."""
    for value, other in (tuple(op.operands), tuple(reversed(op.operands))):
        if (number := _constant(other)) is not None:
            return value, number
    raise NoMatchError(WHAT)


def _extended(value: SSAValue, kind: type[arith.ExtUIOp | arith.ExtSIOp]) -> SSAValue:
    owner = _by(value, kind)
    if owner.result.type != i64 or owner.input.type != i32:
        raise NoMatchError(WHAT)
    return owner.input


def _argument(op: linalg.GenericOp, value: SSAValue) -> int:
    if not isinstance(value, BlockArgument) or value.block is not op.body.block:
        raise NoMatchError(WHAT)
    return value.index


def match_requantise(op: linalg.GenericOp) -> Requantisation:
    """The parts of such an op; raises NoMatchError."""
    last = op.body.block.last_op
    if last is None or len(last.operands) != 1 or len(op.outputs) != 1:
        raise NoMatchError(WHAT)
    narrow = _by(last.operands[0], arith.TruncIOp)
    if narrow.result.type != i8 or narrow.input.type != i64:
        raise NoMatchError(WHAT)
    above, hi = _with_constant(_by(narrow.input, arith.MinSIOp))
    moved, lo = _with_constant(_by(above, arith.MaxSIOp))
    zp = 0
    if isinstance(moved.owner, arith.AddiOp):
        moved, zp = _with_constant(moved.owner)
    shifted = _by(moved, arith.ShRSIOp)
    shift = _argument(op, _extended(shifted.rhs, arith.ExtUIOp))
    scaled = _scaled(op, shifted.lhs, shift)
    for value, other in (tuple(scaled.operands), tuple(reversed(scaled.operands))):
        if isinstance(value.owner, arith.ExtSIOp) and isinstance(other.owner, arith.ExtUIOp):
            biased, multiplier = (
                _extended(value, arith.ExtSIOp),
                _argument(op, _extended(other, arith.ExtUIOp)),
            )
            break
    else:
        raise NoMatchError(WHAT)
    terms = [_argument(op, value) for value in _by(biased, arith.AddiOp).operands]
    if not all(-128 <= number <= 127 for number in (zp, lo, hi)):
        raise NoMatchError(WHAT)
    sums, bias, axis = _sides(op, terms, (multiplier, shift))
    return Requantisation(sums, bias, multiplier, shift, axis, zp, lo, hi)


def _scaled(op: linalg.GenericOp, value: SSAValue, shift: int) -> arith.MuliOp:
    """p of p + ((1 << shift) >> 1)."""
    rounded = _by(value, arith.AddiOp)
    for product, half in (tuple(rounded.operands), tuple(reversed(rounded.operands))):
        if isinstance(product.owner, arith.MuliOp) and isinstance(half.owner, arith.ShRUIOp):
            shr = half.owner
            power = shr.lhs.owner
            if not isinstance(power, arith.ShLIOp) or (_constant(power.lhs), _constant(shr.rhs)) != (1, 1):
                continue
            if _argument(op, _extended(power.rhs, arith.ExtUIOp)) == shift:
                return product.owner
    raise NoMatchError(WHAT)


def _sides(op: linalg.GenericOp, terms: Sequence[int], others: tuple[int, int]) -> tuple[int, int, int]:
    """Which of two operands is the sums, which the bias, and the dim of the sums along which channels lie."""
    maps = [attr.data.results for attr in op.get_indexing_maps()]
    output = maps[-1]
    if any(kind.data != IteratorType.PARALLEL for kind in op.get_iterator_types()):
        raise NoMatchError(WHAT)
    if not all(isinstance(e, AffineDimExpr) for results in maps for e in results):
        raise NoMatchError(WHAT)
    sums = [number for number in terms if maps[number] == output]
    vectors = [number for number in terms if len(maps[number]) == 1 and number not in sums]
    if len(output) == 1:
        raise NoMatchError(WHAT)  # sums and vectors cannot be told apart, and no product has one dim
    if len(sums) != 1 or len(vectors) != 1 or len({maps[n] for n in (*vectors, *others)}) != 1:
        raise NoMatchError(WHAT)
    return sums[0], vectors[0], output.index(maps[vectors[0]][0])
