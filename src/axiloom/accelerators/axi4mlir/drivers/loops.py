"""Loops, numbers and arrays of a driver in MLIR."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, i32, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from axiloom.accelerators.axi4mlir.drivers.view import View, times, total
from axiloom.accelerators.axi4mlir.drivers.writer import Writer, scalar, writes
from axiloom.drivergen.dialects.mlir import fail

ARITHMETIC = {
    **dict.fromkeys((arith.AddiOp, arith.AddfOp), "+"),
    **dict.fromkeys((arith.SubiOp, arith.SubfOp), "-"),
    **dict.fromkeys((arith.MuliOp, arith.MulfOp), "*"),
}
MOST = 1 << 16
"""Iterations that are looked at for a size that depends on counters."""


# --- numbers -----------------------------------------------------------------------------------------------


@writes(arith.ConstantOp)
def _constant(writer: Writer, op: arith.ConstantOp) -> None:
    value = op.value
    if isinstance(value, FloatAttr):
        digits = repr(float(value.value.data))
        if not digits[-1].isdigit():
            fail(op, "a number that is not finite")
        writer.values[op.result] = f"{digits}f" if scalar(op, op.result.type) == "float" else digits
        return
    if not isinstance(value, IntegerAttr):
        fail(op, "of a number alone")
    _known(writer, op.result, value.value.data)


def _known(writer: Writer, value: SSAValue, number: int) -> None:
    """A number that the text says."""
    writer.numbers[value] = number
    writer.values[value] = str(number) if abs(number) < 1 << 31 else f"{number}LL"


@writes(*ARITHMETIC)
def _arithmetic(writer: Writer, op: Any) -> None:
    sign = next(sign for kind, sign in ARITHMETIC.items() if isinstance(op, kind))
    known = [writer.numbers.get(operand) for operand in (op.lhs, op.rhs)]
    writer.numbers.pop(op.result, None)
    if None not in known:
        left, right = (number or 0 for number in known)
        result = {"+": left + right, "-": left - right, "*": left * right}[sign]
        if abs(result) < 1 << 31:
            _known(writer, op.result, result)
            return
    left_text, right_text = writer.text(op.lhs), writer.text(op.rhs)
    if op.result.type == i32:  # wraps, as MLIR says
        left_text, right_text = f"(uint32_t)({left_text})", f"(uint32_t)({right_text})"
    elif op.result.type == i64:
        left_text = f"(int64_t)({left_text})"
    writer.values[op.result] = f"({left_text} {sign} {right_text})"


@writes(arith.IndexCastOp)
def _index_cast(writer: Writer, op: arith.IndexCastOp) -> None:
    writer.numbers.pop(op.result, None)
    writer.values[op.result] = f"({scalar(op, op.result.type)})({writer.text(op.input)})"
    if op.input in writer.numbers:
        _known(writer, op.result, writer.numbers[op.input])


@writes(arith.SIToFPOp)
def _to_float(writer: Writer, op: arith.SIToFPOp) -> None:
    writer.values[op.result] = f"({scalar(op, op.result.type)})({writer.text(op.input)})"


@writes(affine.MinOp)
def _least(writer: Writer, op: affine.MinOp) -> None:
    """The size of a tile at an array's edge: read where it is the same in every iteration."""
    reach = [
        range(writer.numbers[argument], writer.numbers[argument] + 1)
        if argument in writer.numbers
        else writer.ranges.get(argument)
        for argument in op.arguments
    ]
    chart = op.map.data
    sizes: set[int] = set()
    if None not in reach:
        for places in islice(product(*(values or range(0) for values in reach)), MOST):
            sizes.add(min(chart.eval(places[: chart.num_dims], places[chart.num_dims :])))
    if len(sizes) != 1:
        fail(op, "a size must be the same in every iteration, of loops with constant bounds")
    _known(writer, op.result, sizes.pop())


@writes(scf.ForOp)
def _loop(writer: Writer, op: scf.ForOp) -> None:
    name, counter = writer.fresh("n"), op.body.block.args[0]
    low, high, step = map(writer.text, (op.lb, op.ub, op.step))
    if op.iter_args:
        fail(op, "with values that it carries")
    bounds = [writer.numbers.get(bound) for bound in (op.lb, op.ub, op.step)]
    writer.ranges.pop(counter, None)
    if None not in bounds and bounds[2]:
        writer.ranges[counter] = range(*(bound or 0 for bound in bounds))
    writer.say(f"for (int32_t {name} = {low}; {name} < {high}; {name} += {step}) {{")
    writer.values[counter] = name
    writer.depth += 1
    writer.block(op.body.block)
    writer.depth -= 1
    writer.say("}")


# --- arrays ------------------------------------------------------------------------------------------------


@writes(memref.AllocOp, memref.AllocaOp)
def _alloc(writer: Writer, op: memref.AllocOp | memref.AllocaOp) -> None:
    name = writer.wanted.pop(op.memref, None)
    symbol = writer.symbol(name) if name else writer.fresh("array")
    sizes = [writer.number(op, dynamic_size) for dynamic_size in op.dynamic_sizes]
    writer.values[op.memref] = writer.array(symbol, op, op.memref.type, sizes)


@writes(memref.LoadOp)
def _load(writer: Writer, op: memref.LoadOp) -> None:
    view, name = writer.view(op, op.memref), writer.fresh("v")
    place = view.at([writer.text(index) for index in op.indices])
    writer.say(f"const {view.element} {name} = {place};")
    writer.values[op.res] = name


@writes(memref.StoreOp)
def _store(writer: Writer, op: memref.StoreOp) -> None:
    view = writer.view(op, op.memref)
    writer.say(f"{view.at([writer.text(index) for index in op.indices])} = {writer.text(op.value)};")


@writes(memref.SubviewOp)
def _subview(writer: Writer, op: memref.SubviewOp) -> None:
    view = writer.view(op, op.source)
    offsets, sizes = iter(op.offsets), iter(op.sizes)
    starts = [
        writer.text(next(offsets)) if start == DYNAMIC_INDEX else str(start)
        for start in op.static_offsets.get_values()
    ]
    tile = tuple(
        writer.number(op, next(sizes)) if size == DYNAMIC_INDEX else int(size)
        for size in op.static_sizes.get_values()
    )
    if any(stride != 1 for stride in op.static_strides.get_values()):
        fail(op, "with a stride that is not 1")
    offset = total([view.offset, *map(times, starts, view.strides)])
    writer.values[op.result] = View(view.base, offset, tile, view.strides, view.element)


@writes(memref.CastOp)
def _cast(writer: Writer, op: memref.CastOp) -> None:
    writer.values[op.dest] = writer.view(op, op.source)


@writes(linalg.FillOp)
def _fill(writer: Writer, op: linalg.FillOp) -> None:
    value = writer.text(op.inputs[0])
    writer.over(writer.view(op, op.outputs[0]), lambda element, _place: f"{element} = {value};")


@writes(linalg.GenericOp)
def _generic(writer: Writer, op: linalg.GenericOp) -> None:
    """Element by element: how a tile that came back is added up."""
    views = [writer.view(op, operand) for operand in (*op.inputs, *op.outputs)]
    out = views[-1]
    same = all(attribute.data == AffineMap.identity(len(out.sizes)) for attribute in op.indexing_maps)
    same &= all(view.sizes == out.sizes for view in views)
    if len(op.outputs) != 1 or not same:
        fail(op, "of one result, element by element and in the same order, is read here")
    places = [writer.fresh("i") for _ in out.sizes]
    for name, size in zip(places, out.sizes, strict=True):
        writer.say(f"for (int32_t {name} = 0; {name} < {size}; {name}++)")
        writer.depth += 1
    for arg, view in zip(op.body.block.args, views, strict=True):
        writer.values[arg] = view.at(places)
    for inner in op.body.block.ops:
        writer.op = inner
        if isinstance(inner, linalg.YieldOp):
            writer.say(f"{out.at(places)} = {writer.text(inner.operands[0])};")
        elif isinstance(inner, tuple(ARITHMETIC)):
            _arithmetic(writer, inner)
        else:
            fail(inner, "only sums, differences and products are read here")
    writer.depth -= len(places)


@writes(scf.YieldOp, memref.DeallocOp, func.ReturnOp)
def _nothing(writer: Writer, op: Operation) -> None:
    """Arrays are global; the end is the program's."""
