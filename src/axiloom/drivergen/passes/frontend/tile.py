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

from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.match.matmul import sizes, terms
from axiloom.drivergen.match.trait import Trait, is_annotated


def _subview(
    builder: Builder,
    matrix: SSAValue,
    starts: Sequence[SSAValue],
    lengths: Sequence[SSAValue | int],
    steps: Sequence[int],
) -> SSAValue:
    kind = matrix.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    assert strides is not None
    shape = [length if isinstance(length, int) else DYNAMIC_INDEX for length in lengths]
    layout = StridedLayoutAttr(
        [None if stride is None else stride * step for stride, step in zip(strides, steps, strict=True)], None
    )
    view = memref.SubviewOp.get(
        matrix, list(starts), list(lengths), list(steps), MemRefType(kind.element_type, shape, layout)
    )
    view.result.name_hint = f"{matrix.name_hint}_tile" if matrix.name_hint else None
    return builder.insert(view).result


class _Tiled:
    """Loops around one op; starts and lengths of its tile in each of them."""

    def __init__(self, op: linalg.GenericOp) -> None:
        self.op = op
        self.trait, problem = Trait.of(op), sizes(op)
        self.builder = Builder(InsertPoint.before(op))
        zero = index(op, 0)
        ends = [index(op, size) for size in problem]
        steps = [index(op, size) for size in self.trait.tile]
        self.starts: dict[int, SSAValue] = {}
        self.lengths: dict[int, SSAValue | int] = dict(enumerate(self.trait.tile))
        for loop in self.trait.order:
            name, tile, size = self.trait.dims[loop], self.trait.tile[loop], problem[loop]
            body = Block(arg_types=[IndexType()])
            body.args[0].name_hint = name
            self.builder.insert(scf.ForOp(zero, ends[loop], steps[loop], [], Region(body)))
            body.add_op(scf.YieldOp())
            self.builder.insertion_point = InsertPoint.at_start(body)
            self.starts[loop] = body.args[0]
            self.lengths[loop] = min(tile, size)
            if size > tile and size % tile:
                rest = self.builder.insert(arith.SubiOp(ends[loop], self.starts[loop])).result
                edge = self.builder.insert(arith.MinUIOp(steps[loop], rest)).result
                edge.name_hint = f"{name}_len"
                self.lengths[loop] = edge

    def view(self, number: int) -> SSAValue:
        """The tile of an operand; a dim that only loops of the host move is one element long."""
        operand = self.op.operands[number]
        starts: list[SSAValue] = []
        lengths: list[SSAValue | int] = []
        steps: list[int] = []
        for expression in self.op.indexing_maps.data[number].data.results:
            factors, axis = terms(expression), self.trait.axis(number, expression)
            starts.append(self._start(factors))
            if axis is None:
                lengths.append(1)
                steps.append(1)
            elif axis in self.trait.settings:
                lengths.append(self.trait.settings[axis])
                steps.append(1)
            else:
                loop = self.trait.dims.index(axis)
                lengths.append(self.lengths[loop])
                steps.append(factors[loop])
        return _subview(self.builder, operand, starts, lengths, steps)

    def _start(self, factors: dict[int, int]) -> SSAValue:
        """The first element of a dim, computed in the innermost of the loops that move it."""
        start: SSAValue | None = None
        builder = self._inside([loop for loop in factors if loop in self.starts])
        for loop, factor in factors.items():
            if loop not in self.starts:
                continue
            term = self.starts[loop]
            if factor != 1:
                term = builder.insert(arith.MuliOp(term, index(self.op, factor))).result
            start = term if start is None else builder.insert(arith.AddiOp(start, term)).result
        return index(self.op, 0) if start is None else start

    def _inside(self, loops: list[int]) -> Builder:
        """Inserts in the innermost of these loops, in front of the loop inside it."""
        order = list(self.trait.order)
        deepest = max((order.index(loop) for loop in loops), default=len(order) - 1)
        if deepest == len(order) - 1:
            return self.builder
        inner = self.starts[order[deepest + 1]].owner
        assert isinstance(inner, Block)
        around = inner.parent_op()
        assert around is not None
        return Builder(InsertPoint.before(around))


def _tile(op: linalg.GenericOp) -> None:
    tiled = _Tiled(op)
    inner = type(op).create(
        operands=[tiled.view(number) for number in range(len(op.operands))],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.body.clone()],
        location=op.location,
    )
    tiled.builder.insert(inner)
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
