"""Ops that choose or move elements: reshapes, transpositions, slices, concatenations, lookups, maxima."""

from __future__ import annotations

from typing import Any

from axiloom.quantise.graph.fixed import best_scale, table, to_int8
from axiloom.quantise.graph.graph import Concat, Embedding, MaxPool, Node, Reshape, Slice, Table, Transpose
from axiloom.quantise.graph.lower import Lowering, fail
from axiloom.quantise.ops.arguments import Lowered, arguments, pair, shape_of


def reshaped(lowering: Lowering, value: Node, shape: tuple[int, ...], name: str) -> Node:
    if value.shape == shape:
        return value
    return lowering.add(
        Reshape(name=name, shape=shape, inputs=(value.name,), dtype=value.dtype, scale=value.scale)
    )


def reshape(lowering: Lowering, node: Any) -> Lowered:
    return reshaped(
        lowering, lowering.value(node, node.args[0]), shape_of(node), lowering.name_of(node)
    ), node


def same(lowering: Lowering, node: Any) -> Lowered:
    return lowering.value(node, node.args[0]), node


def transpose(lowering: Lowering, node: Any) -> Lowered:
    source = lowering.value(node, node.args[0])
    rank = len(source.shape)
    order = list(range(rank))
    if str(node.target).startswith("aten.permute"):
        order = [dim % rank for dim in node.args[1]]
    else:
        one, other = (node.args[1] % rank, node.args[2] % rank) if len(node.args) > 1 else (0, 1)
        order[one], order[other] = order[other], order[one]
    if isinstance(source, Transpose):  # two in a row are one
        (inner,) = lowering.graph.operands(source)
        order = [source.permutation[dim] for dim in order]
        source = inner
    made = Transpose(
        name=lowering.name_of(node),
        shape=shape_of(node),
        inputs=(source.name,),
        dtype=source.dtype,
        scale=source.scale,
        permutation=tuple(order),
    )
    return lowering.add(made), node


def cut(lowering: Lowering, node: Any) -> Lowered:
    """slice.Tensor and select.int."""
    source = lowering.value(node, node.args[0])
    rank = len(source.shape)
    if "select" in str(node.target):
        dim, start = node.args[1] % rank, node.args[2]
        step, size = 1, 1
    else:
        _, dim, start, _, step = arguments(node, "input", "dim", "start", "end", "step", dim=0, step=1)
        dim, step = (dim or 0) % rank, step or 1
        size = shape_of(node)[dim]
    start = start or 0
    start = max(start + source.shape[dim], 0) if start < 0 else start
    offsets, strides, shape = [0] * rank, [1] * rank, list(source.shape)
    offsets[dim], strides[dim], shape[dim] = start, step, size
    made: Node = Slice(
        name=lowering.name_of(node),
        shape=tuple(shape),
        inputs=(source.name,),
        dtype=source.dtype,
        scale=source.scale,
        offsets=tuple(offsets),
        strides=tuple(strides),
    )
    if made.shape == source.shape:
        made = source
    else:
        made = lowering.add(made)
    return reshaped(lowering, made, shape_of(node), f"{made.name}.shape"), node


def part(lowering: Lowering, node: Any) -> Lowered:
    """One result of a split, a chunk or an unbind: a slice, and without its dim for an unbind."""
    whole, number = node.args
    kind = str(whole.target)
    x, how, dim = arguments(whole, "self", "how", "dim", dim=0)
    if "unbind" in kind:
        dim = how or 0
    source = lowering.value(node, x)
    dim %= len(source.shape)
    sizes = [1 if "unbind" in kind else int(value.shape[dim]) for value in whole.meta["val"]]
    offsets, shape = [0] * len(source.shape), list(source.shape)
    offsets[dim], shape[dim] = sum(sizes[:number]), sizes[number]
    made = lowering.add(
        Slice(
            name=lowering.name_of(node),
            shape=tuple(shape),
            inputs=(source.name,),
            dtype=source.dtype,
            scale=source.scale,
            offsets=tuple(offsets),
            strides=(1,) * len(shape),
        )
    )
    return reshaped(lowering, made, shape_of(node), f"{made.name}.shape"), node


def stack(lowering: Lowering, node: Any) -> Lowered:
    """A concatenation along a new dim."""
    rank = len(shape_of(node))
    axis = (node.args[1] if len(node.args) > 1 else 0) % rank
    name = lowering.name_of(node)
    parts = []
    for number, argument in enumerate(node.args[0]):
        value = lowering.value(node, argument)
        shape = (*value.shape[:axis], 1, *value.shape[axis:])
        parts.append(reshaped(lowering, value, shape, f"{name}.{number}"))
    return _joined(lowering, node, parts, axis)


def concat(lowering: Lowering, node: Any) -> Lowered:
    parts = [lowering.value(node, part) for part in node.args[0]]
    axis = (node.args[1] if len(node.args) > 1 else 0) % len(parts[0].shape)
    return _joined(lowering, node, parts, axis)


def _joined(lowering: Lowering, node: Any, parts: list[Node], axis: int) -> Lowered:
    """The parts in steps of one scale, one behind the other."""
    scale = lowering.scale(node)
    equal = []
    for part in parts:
        assert part.scale is not None
        if part.scale != scale:
            values = table(lambda x: x, part.scale, scale)
            part = lowering.add(
                Table(
                    name=f"{lowering.name_of(node)}.{part.name}",
                    shape=part.shape,
                    inputs=(part.name,),
                    scale=scale,
                    table=values,
                )
            )
        equal.append(part.name)
    made = Concat(
        name=lowering.name_of(node), shape=shape_of(node), inputs=tuple(equal), scale=scale, axis=axis
    )
    return lowering.add(made), node


def embedding(lowering: Lowering, node: Any) -> Lowered:
    rows = lowering.parameter(node, node.args[0], "weight")
    indices = lowering.value(node, node.args[1])
    scale = best_scale(rows)
    made = Embedding(
        name=lowering.name_of(node),
        shape=shape_of(node),
        inputs=(indices.name,),
        scale=scale,
        table=to_int8(rows, scale),
    )
    return lowering.add(made), node


def max_pool2d(lowering: Lowering, node: Any) -> Lowered:
    x, kernel, stride, padding, dilation, ceil = arguments(
        node, "input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", padding=0, dilation=1
    )
    if ceil or pair(dilation) != (1, 1):
        fail(node, "ceil_mode and dilation are not supported")
    source = lowering.value(node, x)
    made = MaxPool(
        name=lowering.name_of(node),
        shape=shape_of(node),
        inputs=(source.name,),
        scale=source.scale,
        kernel=pair(kernel),
        stride=pair(stride or kernel),
        padding=pair(padding),
    )
    return lowering.add(made), node
