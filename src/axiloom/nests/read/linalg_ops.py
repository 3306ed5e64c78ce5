"""Ops of linalg, tensor and memref, each as nests or as a view of what is there."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefType,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program import Expression, Load, Role
from axiloom.nests.read.linalg_body import constant as number_literal
from axiloom.nests.read.linalg_body import number, scalar
from axiloom.nests.read.linalg_nests import Nests
from axiloom.nests.read.linalg_views import View, box, dims, form, loaded, moved, whole


def constant(nests: Nests, op: arith.ConstantOp) -> None:
    if not isinstance(op.result.type, TensorType):
        nests.known[op.result] = number_literal(op)
        return
    if not isinstance(op.value, DenseIntOrFPElementsAttr):
        raise ValueError("a constant of an unknown form")
    shape, kind = nests.type_of(op.result)
    data = np.array(op.value.get_values(), format_of(kind).numpy)
    array = nests.array(op.result.name_hint or "constant", shape, kind, Role.IN)
    nests.contents[array.name] = np.broadcast_to(
        data if data.size == 1 else data.reshape(shape), shape
    ).copy()
    nests.known[op.result] = whole(array)


def fill(nests: Nests, op: linalg.FillOp) -> None:
    """A tensor of one number is a view; what adds to it begins with a nest that fills."""
    value = nests.known[op.inputs[0]]
    if isinstance(value, View):
        raise ValueError("the value is a tensor")
    if op.results:
        nests.known[op.results[0]] = View(nests.type_of(op.results[0])[0], "", (), value)
        return
    array = nests.memory(op.outputs[0])
    nests.copy(op, View(array.shape, "", (), value), array)


def generic(nests: Nests, op: linalg.GenericOp) -> None:
    maps = [attribute.data for attribute in op.indexing_maps.data]
    block = op.body.block
    count = len(op.inputs)
    accesses = [tuple(form(expression) for expression in affine_map.results) for affine_map in maps]
    extents = _extents(op, accesses)
    if view := _renamed(nests, op, accesses, extents):
        nests.known[op.results[0]] = view
        return
    yielded = block.last_op
    assert yielded is not None
    outs = []
    for number_, init in enumerate(op.outputs):
        result = op.results[number_] if op.results else None
        keeps = bool(list(block.args[count + number_].uses))
        outs.append(nests.start(op, init, result, keeps))
    known: dict[SSAValue, Expression] = {
        value: expression for value, expression in nests.known.items() if not isinstance(expression, View)
    }
    for place, argument in enumerate(block.args):
        if place < count:
            kind = number(argument.type)
            source = nests.known[op.inputs[place]]
            operand = source.at(accesses[place], kind) if isinstance(source, View) else source
        else:
            array = outs[place - count]
            operand = loaded(array.name, accesses[place], number(argument.type))
        known[argument] = operand
    for inner in block.ops:
        if inner is not yielded:
            known[inner.results[0]] = scalar(inner, known, dims(extents))
    for number_, array in enumerate(outs):
        target = Load(array.name, accesses[count + number_], array.number)
        nests.assign(op, extents, target, known[yielded.operands[number_]], last=number_)
        if op.results:
            nests.known[op.results[number_]] = whole(array)
            nests.own.add(op.results[number_])
    nests.nest += 1


def _extents(op: linalg.GenericOp, accesses: list[tuple[Affine, ...]]) -> tuple[int, ...]:
    """Of each loop, from the operand that it indexes alone."""
    size_of: dict[str, int] = {}
    for access, operand in zip(accesses, (*op.inputs, *op.outputs), strict=True):
        if isinstance(operand.type, (TensorType, MemRefType)):
            for form, size in zip(access, operand.type.get_shape(), strict=True):
                if form == Affine.name("".join(form.names)):
                    size_of.setdefault(form.names[0], size)
    names = [f"d{n}" for n in range(op.indexing_maps.data[0].data.num_dims)]
    missing = [name for name in names if name not in size_of]
    if missing:
        raise ValueError(f"how far {missing[0]} goes is not known: no operand is indexed by it alone")
    return tuple(size_of[name] for name in names)


def _renamed(
    nests: Nests, op: linalg.GenericOp, accesses: list[tuple[Affine, ...]], extents: tuple[int, ...]
) -> View | None:
    """A tensor that only holds elements of another at other places: a transpose, a broadcast."""
    block = op.body.block
    if len(op.inputs) != 1 or len(op.results) != 1 or len(list(block.ops)) != 1:
        return None
    assert block.last_op is not None
    source = nests.known.get(op.inputs[0])
    if block.last_op.operands[0] != block.args[0] or source is None:
        return None
    names = dims(extents)
    out = [form.names[0] for form in accesses[1] if form == Affine.name("".join(form.names))]
    if sorted(out) != sorted(names) or len(out) != len(accesses[1]):
        return None
    shape = tuple(extents[names.index(name)] for name in out)
    if not isinstance(source, View):
        return View(shape, "", (), source)
    # Loop out[n] is dimension n of the result.
    place = {name: Affine.name(f"d{out.index(name)}") for name in names}
    return moved(source, shape, [form.substitute(place) for form in accesses[0]])


def pad(nests: Nests, op: Operation) -> None:
    """One nest over the padded tensor: the inside is copied, and each side of the border is filled."""
    source, result = nests.view(op.operands[0]), op.results[0]
    if len(op.operands) != 1:
        raise ValueError("sizes are not constant")
    low = op.properties["static_low"].get_values()  # type: ignore[attr-defined]
    block = op.regions[0].blocks[0]
    inside_value = block.last_op
    assert inside_value is not None
    known = {
        value: expression for value, expression in nests.known.items() if not isinstance(expression, View)
    }
    for inner in block.ops:
        if inner is not inside_value:
            known[inner.results[0]] = scalar(inner, known, ())
    filler = known[inside_value.operands[0]]
    array = nests.new(result)
    names = [Affine.name(dim) for dim in dims(array.shape)]
    target = Load(array.name, tuple(names), array.number)
    inside: tuple[Affine, ...] = ()
    last = 0
    for name, before, size, padded in zip(names, low, source.shape, array.shape, strict=True):
        for side in (
            ([before - 1 - name] if before else []),
            ([name - before - size] if padded > before + size else []),
        ):
            if side:
                nests.assign(
                    op, array.shape, target, filler, last=last, forms=(*box(array.shape), *inside, *side)
                )
                last += 1
        inside = (*inside, name - before, before + size - 1 - name)
    place = [name - before for name, before in zip(names, low, strict=True)]
    value = source.at(place, array.number)
    nests.assign(op, array.shape, target, value, last=last, forms=(*box(array.shape), *inside))
    nests.nest += 1
    nests.known[result] = whole(array)


def reshape(nests: Nests, op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> None:
    source, result = nests.view(op.operands[0]), op.results[0]
    shape, kind = nests.type_of(result)
    groups = [[index.value.data for index in group.data] for group in op.reassociation.data]
    collapses = isinstance(op, tensor.CollapseShapeOp)
    wide = source.shape if collapses else shape
    linear = []
    for group in groups:
        total = Affine()
        for dim in group:
            total = total * wide[dim] + (Affine.name(f"d{dim}") if wide[dim] > 1 else Affine())
        linear.append(total)
    if not collapses:
        nests.known[result] = moved(source, shape, linear)
        return
    place = [Affine() for _ in wide]
    simple = True
    for number_, group in enumerate(groups):
        large = [dim for dim in group if wide[dim] > 1]
        simple = simple and len(large) <= 1
        for dim in large:
            place[dim] = Affine.name(f"d{number_}")
    if simple or source.value is not None:
        nests.known[result] = moved(source, shape, place)
        return
    array = nests.new(result)
    here = source.at([Affine.name(dim) for dim in dims(wide)], kind)
    nests.assign(op, wide, Load(array.name, tuple(linear), kind), here)
    nests.nest += 1
    nests.known[result] = whole(array)


def slice_(nests: Nests, op: Operation) -> None:
    source, result = nests.view(op.operands[0]), op.results[0]
    if len(op.operands) != 1:
        raise ValueError("offsets are not constant")
    offsets, strides = (op.properties[f"static_{name}"].get_values() for name in ("offsets", "strides"))  # type: ignore[attr-defined]
    shape, _ = nests.type_of(result)
    if len(shape) != len(source.shape):
        raise ValueError("it drops dimensions")
    place = [
        Affine.name(f"d{n}") * stride + offset
        for n, (offset, stride) in enumerate(zip(offsets, strides, strict=True))
    ]
    nests.known[result] = moved(source, shape, place)


def return_(nests: Nests, op: func.ReturnOp) -> None:
    for place, value in enumerate(op.operands):
        view = nests.view(value)
        name = "result" if len(op.operands) == 1 else f"result{place}"
        array = nests.arrays.get(view.array)
        if array is None or array.role is not Role.LOCAL or view != whole(array):
            array = nests.array(name, *nests.type_of(value), Role.OUT)
            nests.copy(op, view, array)
            continue
        nests.rename(array, name)
