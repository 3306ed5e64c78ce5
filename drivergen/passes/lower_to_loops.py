"""Linalg ops that stay on the CPU become plain loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialect import constant
from axiloom.drivergen.match import NoMatchError, match
from axiloom.drivergen.mlir import fail, index


def _nest(
    before: Operation, ends: dict[int, int], names: dict[int, str]
) -> tuple[Builder, dict[int, SSAValue]]:
    """Loops over ``0 .. end`` in the order of `ends`; where their body starts, and their counters."""
    builder = Builder(InsertPoint.before(before))
    zero, one = index(before, 0), index(before, 1)
    counters: dict[int, SSAValue] = {}
    for loop, end in ends.items():
        body = Block([scf.YieldOp()], arg_types=[IndexType()])
        body.args[0].name_hint = names[loop]
        builder.insert(scf.ForOp(zero, index(before, end), one, [], Region(body)))
        builder.insertion_point = InsertPoint.at_start(body)
        counters[loop] = body.args[0]
    return builder, counters


def _order(op: LinalgStructuredOperation, maps: list[AffineMap]) -> list[int]:
    """Loops with the one innermost that most operands run along, so that the compiler can vectorise it.

    For C[m, n] += A[m, k] B[k, n] that is n, and the order m, k, n; for a convolution the columns of the
    output. Reductions keep their order among each other: the order of a sum of floats is part of its result.
    """
    loops = list(range(op.get_num_loops()))
    kinds = [attr.data for attr in op.get_iterator_types()]
    reductions = [loop for loop in loops if kinds[loop] != IteratorType.PARALLEL]
    movable = [loop for loop in loops if loop not in reductions[:-1]]
    if not movable or not any(m.results for m in maps):
        return loops
    sizes = op.get_static_loop_ranges()

    def merit(loop: int) -> tuple[int, bool, int]:
        cost = sum(_stride_cost(m, loop) for m in maps) + (2 if sizes[loop] < SHORT else 0)
        if loop in reductions and sizes[loop] < SHORT_SUM:
            cost += 2
        return -cost, loop not in reductions, loop

    inner = max(movable, key=merit)
    return [loop for loop in loops if loop != inner] + [inner]


SHORT = 4
"""Iterations below which a loop is not worth being the innermost one: a vector of int32 in NEON."""
SHORT_SUM = 16
"""The same for a sum, which is added up across a vector at its end."""


def _stride_cost(m: AffineMap, loop: int) -> int:
    """How far apart the elements are that consecutive iterations of `loop` touch: 0 and 1 are near."""
    if not any(loop in expression.used_dims() for expression in m.results):
        return 0
    if any(loop in expression.used_dims() for expression in m.results[:-1]):
        return 3
    steps = [0] * m.num_dims
    first = m.results[-1].eval(steps, [])
    steps[loop] = 1
    return 0 if abs(m.results[-1].eval(steps, []) - first) <= 1 else 1


def _position(
    builder: Builder, op: Operation, expression: AffineExpr, counters: dict[int, SSAValue]
) -> SSAValue:
    """The value of an affine expression of the loops' counters."""
    if isinstance(expression, AffineDimExpr):
        return counters[expression.position]
    if isinstance(expression, AffineConstantExpr):
        return index(op, expression.value)
    if not isinstance(expression, AffineBinaryOpExpr):
        fail(op, f"there is no way to lower the index {expression} to loops")
    left = _position(builder, op, expression.lhs, counters)
    right = _position(builder, op, expression.rhs, counters)
    operations: dict[AffineBinaryOpKind, type[arith.SignlessIntegerBinaryOperation]] = {
        AffineBinaryOpKind.Add: arith.AddiOp,
        AffineBinaryOpKind.Mul: arith.MuliOp,
        AffineBinaryOpKind.Mod: arith.RemUIOp,
        AffineBinaryOpKind.FloorDiv: arith.DivUIOp,
    }
    how = operations.get(expression.kind)
    if how is None:
        fail(op, f"there is no way to lower the index {expression} to loops")
    if how is arith.MuliOp and constant(right) == 1:
        return left
    return builder.insert(how(left, right)).result


def _lower(op: linalg.GenericOp | linalg.FillOp) -> None:
    maps = [attr.data for attr in op.get_indexing_maps()]
    sizes = op.get_static_loop_ranges()
    builder, counters = _nest(op, {loop: sizes[loop] for loop in _order(op, maps)}, _names(op))
    values: dict[SSAValue, SSAValue] = {}
    places: list[list[SSAValue]] = []
    body = op.body.block
    for operand, m, arg in zip(op.operands, maps, body.args, strict=True):
        place = []
        if isinstance(operand.type, MemRefType) and (arg.first_use is not None or operand in op.outputs):
            place = [_position(builder, op, e, counters) for e in m.results]
        places.append(place)
        if not isinstance(operand.type, MemRefType):
            values[arg] = operand
        elif arg.first_use is not None:
            load = builder.insert(memref.LoadOp.get(operand, place))
            load.res.name_hint = f"{operand.name_hint or 'x'}_value"
            values[arg] = load.res
    for inner in body.ops:
        if isinstance(inner, linalg.IndexOp):
            values[inner.result] = counters[inner.dim.value.data]
        elif isinstance(inner, linalg.YieldOp):
            for value, operand, place in zip(
                inner.operands, op.outputs, places[len(op.inputs) :], strict=True
            ):
                builder.insert(memref.StoreOp.get(values.get(value, value), operand, place))
        else:
            copy = builder.insert(inner.clone(values))
            for result in copy.results:
                if result.name_hint is None and not isinstance(copy, arith.ConstantOp):
                    result.name_hint = "t" if _used_often(inner) else None
    Rewriter.erase_op(op)


def _used_often(op: Operation) -> bool:
    """C would compute a value twice, and text grow with the product of such uses, without a variable."""
    return any(len(list(result.uses)) > 1 for result in op.results)


def _names(op: linalg.GenericOp | linalg.FillOp) -> dict[int, str]:
    """m, n and k for a matmul, else i0, i1, ..."""
    if isinstance(op, linalg.GenericOp):
        try:
            return dict(enumerate(match(op).dims))
        except NoMatchError:
            pass
    return {loop: f"i{loop}" for loop in range(op.get_num_loops())}


def _copy(op: memref.CopyOp) -> None:
    kind = op.source.type
    assert isinstance(kind, MemRefType)
    ends = dict(enumerate(kind.get_shape()))
    builder, counters = _nest(op, ends, {loop: f"i{loop}" for loop in ends})
    load = builder.insert(memref.LoadOp.get(op.source, list(counters.values())))
    builder.insert(memref.StoreOp.get(load.res, op.destination, list(counters.values())))
    Rewriter.erase_op(op)


@dataclass(frozen=True)
class LowerToLoops(ModulePass):
    """Turn the linalg ops (on memrefs) and copies that are left into loops over single elements.

    ::

        linalg.generic {...} ins(%A, %B : memref<4x8xi8>, memref<8x4xi8>) outs(%C : memref<4x4xi32>) {...}

        scf.for %m = %c0 to %c4 step %c1 {
          scf.for %k = %c0 to %c8 step %c1 {
            scf.for %n = %c0 to %c4 step %c1 {
              %0 = memref.load %A[%m, %k] : memref<4x8xi8>
              ...
              memref.store %3, %C[%m, %n] : memref<4x4xi32>
            }
          }
        }

    The loop along which most operands are contiguous comes innermost.
    """

    name = "accel-lower-to-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, linalg.GenericOp | linalg.FillOp):
                _lower(inner)
            elif isinstance(inner, memref.CopyOp):
                _copy(inner)
            elif inner.name.startswith("linalg.") and not isinstance(inner, linalg.YieldOp | linalg.IndexOp):
                fail(inner, "there is no way to lower it to loops")
