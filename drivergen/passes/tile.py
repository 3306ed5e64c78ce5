"""Loops over tiles around every annotated op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.match import operand_loops, sizes
from axiloom.drivergen.mlir import index
from axiloom.drivergen.trait import Trait, is_annotated


def _strides(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for dim in reversed(range(len(shape) - 1)):
        strides[dim] = strides[dim + 1] * shape[dim + 1]
    return strides


def _subview(
    builder: Builder, matrix: SSAValue, starts: Sequence[SSAValue], lengths: Sequence[SSAValue | int]
) -> SSAValue:
    kind = matrix.type
    assert isinstance(kind, MemRefType)
    shape = [length if isinstance(length, int) else DYNAMIC_INDEX for length in lengths]
    layout = StridedLayoutAttr(_strides(kind.get_shape()), None)
    view = memref.SubviewOp.get(
        matrix,
        list(starts),
        list(lengths),
        [1] * len(shape),
        MemRefType(kind.element_type, shape, layout),
    )
    view.result.name_hint = f"{matrix.name_hint}_tile" if matrix.name_hint else None
    return builder.insert(view).result


def _tile(op: linalg.GenericOp) -> None:
    trait, problem = Trait.of(op), sizes(op)
    builder = Builder(InsertPoint.before(op))
    zero = index(op, 0)
    ends = [index(op, size) for size in problem]
    steps = [index(op, size) for size in trait.tile]
    starts: dict[int, SSAValue] = {}
    lengths: dict[int, SSAValue | int] = {}
    for loop in trait.order:
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = trait.dims[loop]
        builder.insert(scf.ForOp(zero, ends[loop], steps[loop], [], Region(body)))
        body.add_op(scf.YieldOp())
        builder.insertion_point = InsertPoint.at_start(body)
        starts[loop] = body.args[0]
        lengths[loop] = min(trait.tile[loop], problem[loop])
        if problem[loop] > trait.tile[loop] and problem[loop] % trait.tile[loop]:
            rest = builder.insert(arith.SubiOp(ends[loop], starts[loop])).result
            edge = builder.insert(arith.MinUIOp(steps[loop], rest)).result
            edge.name_hint = f"{trait.dims[loop]}_len"
            lengths[loop] = edge
    views = []
    for number, value in enumerate(op.operands):
        loops = operand_loops(op, number)
        views.append(_subview(builder, value, [starts[i] for i in loops], [lengths[i] for i in loops]))
    inner = linalg.GenericOp.create(
        operands=views,
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.body.clone()],
        location=op.location,
    )
    builder.insert(inner)
    Rewriter.erase_op(op)


@dataclass(frozen=True)
class Tile(ModulePass):
    """Put loops over tiles around every annotated op, in the order of its permutation_map.

    ::

        linalg.generic {...} ins(%A, %B : ...) outs(%C : memref<60x72xi32>) attrs = {accel_dim = ...} {...}

        scf.for %m = %c0 to %c60 step %c16 {
          %0 = arith.subi %c60, %m : index
          %m_len = arith.minui %c16, %0 : index
          scf.for %n = %c0 to %c72 step %c16 {
            ...
            scf.for %k = %c0 to %c80 step %c16 {
              %C_tile = memref.subview %C[%m, %n] [%m_len, %n_len] [1, 1]
              linalg.generic {...} ins(%A_tile, %B_tile : ...) outs(%C_tile : ...) attrs = {...} {...}
            }
          }
        }

    Where the tile divides the size, its length is a constant (k here). The attributes go along.
    """

    name = "accel-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            if is_annotated(generic):
                _tile(generic)
