"""Operators of programs as operations of `arith`, `math` and `nest`, and back: one table for both ways.

Integers are signless, as in MLIR; signs are in the names of operations and in ``nest.number``. Where an
upstream operation leaves something open, programs do not: integers wrap, and what is divided by zero or
shifted too far has the result that ``hw/nest/operators`` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine import attributes as at
from axiloom.nests.affine.dialect import ApplyOp

_INTEGER: dict[str, tuple[type[Operation], type[Operation]]] = {
    "div": (arith.DivSIOp, arith.DivUIOp),
    "rem": (arith.RemSIOp, arith.RemUIOp),
    "max": (arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinSIOp, arith.MinUIOp),
}
"""With sign, without."""
_BOTH: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}
_FLOAT: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "max": arith.MaxnumfOp,
    "min": arith.MinnumfOp,
}
_FLOAT_UNARY: dict[str, type[Operation]] = {
    "neg": arith.NegfOp,
    "abs": math.AbsFOp,
    "sqrt": math.SqrtOp,
    "exp": math.ExpOp,
}
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_ORDERED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
COMPARISONS = frozenset(_SIGNED)
_FIXED_AS_INTEGER = frozenset({"add", "sub", "max", "min"})
_INT_PREDICATES = dict(enumerate(("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")))
_FLOAT_PREDICATES = {1: "eq", 2: "gt", 3: "ge", 4: "lt", 5: "le", 13: "ne"}


def mlir_type(number: str) -> Attribute:
    format = format_of(number)
    if format.kind is Kind.FLOAT:
        return f32 if format.bits == 32 else f64
    return IntegerType(format.bits)


@dataclass(frozen=True)
class Meaning:
    """What an operation is in a program: the operator, and the formats of its operands and its result."""

    operator: str
    operands: tuple[str, ...]
    number: str


def operation(operator: str, operands: Sequence[SSAValue], numbers: Sequence[str], number: str) -> Operation:
    """`operator` of operands of formats `numbers`, with a result of format `number`."""
    source = format_of(numbers[-1])
    # Upstream's have one type for operands and result.
    is_other = number != numbers[-1] and operator not in COMPARISONS
    make = None if is_other else _upstream(operator, source)
    if make is None:
        op: Operation = ApplyOp(operator, operands, mlir_type(number))
    else:
        op = make(*operands)
    if is_other:
        op.attributes[at.NUMBER] = at.text(number)
    return op


def _upstream(operator: str, source: Format) -> Callable[..., Operation] | None:
    if operator == "select":
        return arith.SelectOp
    if source.kind is Kind.FLOAT:
        if operator in _ORDERED:
            return lambda a, b: arith.CmpfOp(a, b, _ORDERED[operator])
        return _FLOAT.get(operator) or _FLOAT_UNARY.get(operator)
    if operator in COMPARISONS:
        predicate = (_SIGNED if source.signed else _UNSIGNED)[operator]
        return lambda a, b: arith.CmpiOp(a, b, predicate)
    if source.kind is Kind.FIXED and operator not in _FIXED_AS_INTEGER:
        return None
    if operator in _INTEGER:
        return _INTEGER[operator][0 if source.signed else 1]
    return _BOTH.get(operator)


def constant(value: int | float, number: str) -> Operation:
    kind = mlir_type(number)
    if isinstance(kind, IntegerType):
        op: Operation = arith.ConstantOp(IntegerAttr(int(value), kind, truncate_bits=True))
    else:
        op = arith.ConstantOp(FloatAttr(float(value), f32 if format_of(number).bits == 32 else f64))
    op.attributes[at.NUMBER] = at.text(number)
    return op


_NAMES: dict[type[Operation], str] = {
    **{kind: name for name, pair in _INTEGER.items() for kind in pair},
    **{kind: name for table in (_BOTH, _FLOAT, _FLOAT_UNARY) for name, kind in table.items()},
    arith.SelectOp: "select",
}


def meaning(op: Operation, numbers: Sequence[str]) -> Meaning | None:
    """What `op` computes from operands of formats `numbers`; None if it is no operator."""
    if isinstance(op, ApplyOp):
        name: str | None = op.operator.data
    elif isinstance(op, arith.CmpiOp):
        name = _INT_PREDICATES[op.predicate.value.data]
    elif isinstance(op, arith.CmpfOp):
        name = _FLOAT_PREDICATES.get(op.predicate.value.data)
    else:
        name = _NAMES.get(type(op))
    if name is None:
        return None
    result = "bool" if name in COMPARISONS else at.read_text(op.attributes, at.NUMBER) or numbers[-1]
    return Meaning(name, tuple(numbers), result)
