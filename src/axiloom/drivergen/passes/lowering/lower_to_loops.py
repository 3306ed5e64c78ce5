"""Linalg ops that stay on the CPU become plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

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

from axiloom.drivergen.dialects.accel import constant
from axiloom.drivergen.dialects.mlir import fail, index
from axiloom.drivergen.match.matmul import NoMatchError, match
from axiloom.drivergen.passes.lowering.preload import Plan, fetch
from axiloom.drivergen.passes.lowering.preload import plan as find_plan


@dataclass
class _Nest:
    """Loops while they are made: where the next one goes, and the counters so far."""

    before: Operation
    names: dict[int, str]
    builder: Builder
    counters: dict[int, SSAValue] = field(default_factory=dict)

    def around(self, loop: int, begin: SSAValue, end: SSAValue, step: int) -> None:
        body = Block([scf.YieldOp()], arg_types=[IndexType()])
        body.args[0].name_hint = self.names[loop]
        self.builder.insert(scf.ForOp(begin, end, index(self.before, step), [], Region(body)))
        self.builder.insertion_point = InsertPoint.at_start(body)
        self.counters[loop] = body.args[0]

    def preload(self, loop: int, size: int, plan: Plan, maps: Sequence[AffineMap]) -> None:
        """The innermost loop, in blocks, with lines fetched in front of each."""
        begin = index(self.before, 0)
        end = index(self.before, size)
        if plan.block < size:
            name = self.names[loop]
            self.names[loop] = f"{name}_block"
            self.around(loop, begin, end, plan.block)
            self.names[loop] = name
            begin = self.counters[loop]
            end = self.builder.insert(arith.AddiOp(begin, index(self.before, plan.block))).result
        at = dict.fromkeys(range(maps[0].num_dims), index(self.before, 0)) | self.counters | {loop: begin}
        for stream in plan.streams:
            indices = [_position(self.builder, self.before, e, at) for e in maps[stream.number].results]
            fetch(self.builder, self.before.operands[stream.number], indices, stream)
        self.around(loop, begin, end, 1)


def _nest(
    before: Operation,
    ends: dict[int, int],
    names: dict[int, str],
    plan: Plan | None = None,
    maps: Sequence[AffineMap] = (),
) -> tuple[Builder, dict[int, SSAValue]]:
    """Loops over ``0 .. end`` in the order of `ends`; where their body starts, and their counters.

    With a `plan` lines of the operands, which `maps` belong to, are fetched ahead of the innermost one.
    """
    nest = _Nest(before, dict(names), Builder(InsertPoint.before(before)))
    zero, _ = index(before, 0), index(before, 1)
    for number, (loop, end) in enumerate(ends.items()):
        if plan is not None and number == len(ends) - 1:
            nest.preload(loop, end, plan, maps)
        else:
            nest.around(loop, zero, index(before, end), 1)
    return nest.builder, nest.counters


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


WINDOW = 32
"""Points of a window at most that are summed up in a register before they go to memory."""


def _window(op: LinalgStructuredOperation, maps: list[AffineMap]) -> list[int]:
    """The last loops that reduce, as far as they are a small window over an image: unrolled, in registers."""
    kinds = [attr.data for attr in op.get_iterator_types()]
    plain = all(isinstance(e, AffineDimExpr) for m in maps for e in m.results)
    if plain or len(op.outputs) != 1 or IteratorType.PARALLEL not in kinds:
        return []
    sizes = op.get_static_loop_ranges()
    window: list[int] = []
    for loop in reversed(range(len(kinds))):
        if kinds[loop] == IteratorType.PARALLEL:
            continue
        if prod(sizes[dim] for dim in (loop, *window)) > WINDOW:
            break
        window.insert(0, loop)
    return window


def _around_window(op: LinalgStructuredOperation, maps: list[AffineMap], window: list[int]) -> list[int]:
    """The other loops: the one innermost along which the operands are contiguous."""
    kinds = [attr.data for attr in op.get_iterator_types()]
    left = [loop for loop in range(len(kinds)) if loop not in window]
    inner = min(
        (loop for loop in left if kinds[loop] == IteratorType.PARALLEL),
        key=lambda loop: (sum(_stride_cost(m, loop) for m in maps), -loop),
    )
    return [loop for loop in left if loop != inner] + [inner]


@dataclass
class _Body:
    """The inside of a loop nest: where the operands' elements lie, and the values of the op's body."""

    op: linalg.GenericOp | linalg.FillOp
    builder: Builder
    counters: dict[int, SSAValue]
    values: dict[SSAValue, SSAValue] = field(default_factory=dict)
    places: list[list[SSAValue]] = field(default_factory=list)

    def load(self, number: int) -> None:
        """Operand `number`, if the body reads it."""
        operand, arg = self.op.operands[number], self.op.body.block.args[number]
        if not isinstance(operand.type, MemRefType):
            self.values[arg] = operand
        elif arg.first_use is not None:
            load = self.builder.insert(memref.LoadOp.get(operand, self.place(number)))
            load.res.name_hint = f"{operand.name_hint or 'x'}_value"
            self.values[arg] = load.res

    def place(self, number: int) -> list[SSAValue]:
        """Indices of the current element of an operand."""
        m = self.op.get_indexing_maps().data[number].data
        return [_position(self.builder, self.op, e, self.counters) for e in m.results]

    def compute(self) -> list[SSAValue]:
        """What the body yields."""
        for inner in self.op.body.block.ops:
            if isinstance(inner, linalg.IndexOp):
                self.values[inner.result] = self.counters[inner.dim.value.data]
            elif isinstance(inner, linalg.YieldOp):
                return [self.values.get(value, value) for value in inner.operands]
            else:
                copy = self.builder.insert(inner.clone(self.values))
                for result in copy.results:
                    if result.name_hint is None and not isinstance(copy, arith.ConstantOp):
                        result.name_hint = "t" if _used_often(inner) else None
        return []


def _lower(op: linalg.GenericOp | linalg.FillOp, *, preload: bool) -> None:
    maps = [attr.data for attr in op.get_indexing_maps()]
    sizes, names = op.get_static_loop_ranges(), _names(op)
    window = _window(op, maps)
    order = _around_window(op, maps, window) if window else _order(op, maps)
    first = len(op.inputs)
    plan = find_plan(op.operands, maps, sizes, order, window) if preload else None
    builder, counters = _nest(op, {loop: sizes[loop] for loop in order}, names, plan, maps)
    body = _Body(op, builder, counters)
    if window:
        _sum_up(body, window, names)
    else:
        places = {}
        for number in range(len(op.operands)):
            if number >= first:
                places[number] = body.place(number)
            body.load(number)
        for number, value in enumerate(body.compute(), first):
            builder.insert(memref.StoreOp.get(value, op.operands[number], places[number]))
    Rewriter.erase_op(op)


def _sum_up(body: _Body, window: list[int], names: dict[int, str]) -> None:
    """Loops over the window that carry the element of the output."""
    op, out = body.op, len(body.op.inputs)
    place = body.place(out)
    body.load(out)
    arg = op.body.block.args[out]
    if arg not in body.values:  # nothing of what was there counts: any value of the type will do
        load = body.builder.insert(memref.LoadOp.get(op.operands[out], place))
        body.values[arg] = load.res
    zero, step = index(op, 0), index(op, 1)
    loops: list[scf.ForOp] = []
    carried = body.values[arg]
    sizes = op.get_static_loop_ranges()
    for loop in window:
        block = Block(arg_types=[IndexType(), carried.type])
        block.args[0].name_hint, block.args[1].name_hint = names[loop], "result"
        around = body.builder.insert(scf.ForOp(zero, index(op, sizes[loop]), step, [carried], Region(block)))
        loops.append(around)
        body.builder = Builder(InsertPoint.at_end(block))
        body.counters[loop], carried = block.args
    body.values[arg] = carried
    for number in range(out):
        body.load(number)
    (value,) = body.compute()
    for around in reversed(loops):
        around.body.block.add_op(scf.YieldOp(value))
        value = around.results[0]
    Builder(InsertPoint.after(loops[0])).insert(memref.StoreOp.get(value, op.operands[out], place))


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


def _copy(op: memref.CopyOp, *, preload: bool) -> None:
    kind = op.source.type
    assert isinstance(kind, MemRefType)
    ends = dict(enumerate(kind.get_shape()))
    maps = [AffineMap.identity(len(ends))] * 2
    plan = find_plan(op.operands, maps, kind.get_shape(), list(ends)) if preload else None
    builder, counters = _nest(op, ends, {loop: f"i{loop}" for loop in ends}, plan, maps)
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

    The loop along which most operands are contiguous comes innermost. Around a small window over an image
    (pooling, the taps of a filter) it is the last one but the window's own, which carry their sum.
    """

    name = "accel-lower-to-loops"
    preload: bool = False
    """Fetch lines ahead of loops that run through memory:
    :mod:`axiloom.drivergen.passes.lowering.preload`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, linalg.GenericOp | linalg.FillOp):
                _lower(inner, preload=self.preload)
            elif isinstance(inner, memref.CopyOp):
                _copy(inner, preload=self.preload)
            elif inner.name.startswith("linalg.") and not isinstance(inner, linalg.YieldOp | linalg.IndexOp):
                fail(inner, "there is no way to lower it to loops")
