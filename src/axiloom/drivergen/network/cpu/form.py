"""What an entry of the registry is, and what all of them ask about a layer's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import BlockArgument, Operation, SSAValue

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.network.passes import generics

LAYERS = "axiloom_layers.h"
_INITS = (arith.ConstantOp, tensor.EmptyOp, linalg.FillOp, func.ReturnOp)


@dataclass(frozen=True)
class Form:
    """One kind of layer."""

    name: str
    statements: Callable[[func.FuncOp], Sequence[str] | None]
    """The C of a layer's body, on ``x``, ``y``, ... and ``out``; None for what it does not take."""
    word: str | None = None
    """What the layer is called by, where its last op does not tell."""
    ops: int = 1
    """Ops that it takes together, without what pads the first."""


def source_of(function: func.FuncOp, header: str, forms: Sequence[Form]) -> str | None:
    """The C file of a layer's function that includes `header`; None where no form takes it.

    Arguments are called as :func:`axiloom.drivergen.network.emit.layer_prototype` calls them.
    """
    for form in forms:
        lines = form.statements(function)
        if lines is None:
            continue
        name = function.sym_name.data
        args = ", ".join(f"const int{width_of(arg)}_t *restrict {arg.name_hint}" for arg in function.args)
        body = "\n".join(f"    {line}" for line in lines)
        return (
            f'/* {name}: {form.name}. */\n#include "{header}"\n#include "{LAYERS}"\n\n'
            f"void {name}({args}, int8_t *restrict out)\n{{\n{body}\n}}\n"
        )
    return None


def ops_of(function: func.FuncOp) -> list[Operation]:
    """What a layer's function does, without what its ops start from."""
    return [op for op in function.body.block.ops if not isinstance(op, _INITS)]


def loops(rank: int) -> str:
    """Of a map that is the identity: ``d0, d1``."""
    return ", ".join(f"d{number}" for number in range(rank))


def kind_of(rank: int, element: str) -> str:
    """A tensor of a pattern, whose sizes count for nothing."""
    return f"tensor<{'2x' * rank}{element}>"


def rank_of(function: func.FuncOp) -> int | None:
    """Of the one result, if that is int8."""
    last = function.body.block.last_op
    assert last is not None
    single = len(last.operands) == 1 and is_int8(last.operands[0])
    return len(shape(last.operands[0])) if single else None


def width_of(value: SSAValue) -> int:
    """Bits of a tensor's integers."""
    return generics.width(generics.element(value))


def shape(value: SSAValue) -> tuple[int, ...]:
    """Of a tensor."""
    assert isinstance(value.type, TensorType)
    return tuple(value.type.get_shape())


def count(value: SSAValue) -> int:
    """Elements of a tensor."""
    return prod(shape(value))


def is_int8(*values: SSAValue) -> bool:
    """Are all of them tensors of int8?"""
    return all(isinstance(v.type, TensorType) and generics.width(generics.element(v)) == 8 for v in values)


def scaled(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Of ``x * constant``: both, in whatever order they stand."""
    op = value.owner
    if not isinstance(op, arith.MuliOp):
        return None
    for source, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        number = accel.constant(other)
        if number is not None:
            return source, number
    return None


def beside_constant(value: SSAValue, kind: type[Operation]) -> tuple[SSAValue, int] | None:
    """Of an op of this `kind` with a constant on its right: its left operand, and the number."""
    op = value.owner
    if not isinstance(op, kind):
        return None
    number = accel.constant(op.operands[1])
    return None if number is None else (op.operands[0], number)


def extended(value: SSAValue) -> BlockArgument | None:
    """Of an argument of the body that is sign extended: the argument."""
    op = value.owner
    argument = op.input if isinstance(op, arith.ExtSIOp) else None
    return argument if isinstance(argument, BlockArgument) else None
