"""Nodes that choose or move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from axiloom.quantise.emit.emitter import ELEMENTS, Emitter, dims, node_type, tensor
from axiloom.quantise.graph.graph import Concat, Constant, Embedding, MaxPool, Pad, Reshape, Slice, Transpose


def groups(long: Sequence[int], short: Sequence[int]) -> list[list[int]] | None:
    """Which dims of the shape `long` make each of `short`, if each is a product of neighbours."""
    groups: list[list[int]] = []
    at = 0
    for size in short:
        group: list[int] = []
        product = 1
        while at < len(long) and (not group or product < size):
            product *= long[at]
            group.append(at)
            at += 1
        if product != size:
            return None
        groups.append(group)
    if not groups or any(size != 1 for size in long[at:]):
        return None
    groups[-1].extend(range(at, len(long)))
    return groups


def expanded(
    emitter: Emitter, x: str, short: Sequence[int], shape: Sequence[int], element: str, suffix: str
) -> str:
    together = groups(shape, short)
    assert together is not None
    return emitter.line(
        suffix,
        f"tensor.expand_shape {x} {together} output_shape {list(shape)} : "
        f"{tensor(short, element)} into {tensor(shape, element)}",
    )


def collapsed(
    emitter: Emitter, x: str, shape: Sequence[int], short: Sequence[int], element: str, suffix: str
) -> str:
    together = groups(shape, short)
    assert together is not None
    return emitter.line(
        suffix,
        f"tensor.collapse_shape {x} {together} : {tensor(shape, element)} into {tensor(short, element)}",
    )


def reshape(emitter: Emitter, node: Reshape, x: str) -> str:
    before, after, element = emitter.shape_of(), node.shape, ELEMENTS[node.dtype]
    if before == after:
        return x  # only the scale is another
    if len(before) > len(after) and groups(before, after) is not None:
        return collapsed(emitter, x, before, after, element, "")
    if len(before) < len(after) and groups(after, before) is not None:
        return expanded(emitter, x, before, after, element, "")
    flat = (math.prod(before),)
    if len(before) > 1:
        x = collapsed(emitter, x, before, flat, element, "flat")
    return x if after == flat else expanded(emitter, x, flat, after, element, "")


def transpose(emitter: Emitter, node: Transpose, x: str) -> str:
    into = emitter.empty(node.shape, ELEMENTS[node.dtype])
    return emitter.line(
        "",
        f"linalg.transpose ins({x} : {emitter.type_of()}) outs({into} : {node_type(node)}) "
        f"permutation = {list(node.permutation)}",
    )


def cut(emitter: Emitter, node: Slice, x: str) -> str:
    places = f"{list(node.offsets)} {list(node.shape)} {list(node.strides)}"
    return emitter.line("", f"tensor.extract_slice {x}{places} : {emitter.type_of()} to {node_type(node)}")


def pad(emitter: Emitter, node: Pad, x: str) -> str:
    return emitter.pad("", x, (node.low, node.high), node.value, node_type(node))


def concat(emitter: Emitter, node: Concat, *parts: str) -> str:
    types = ", ".join(emitter.type_of(number) for number in range(len(parts)))
    return emitter.line(
        "", f"tensor.concat dim({node.axis}) {', '.join(parts)} : ({types}) -> {node_type(node)}"
    )


def constant(emitter: Emitter, node: Constant) -> str:
    return emitter.weight("constant", node.data)


def embedding(emitter: Emitter, node: Embedding, indices: str) -> str:
    rank = len(node.shape)
    rows = emitter.weight("weight", node.table)
    outer = emitter.map(rank, dims(*range(rank - 1)))
    return emitter.generic(
        "",
        [(indices, emitter.type_of(), outer)],
        (emitter.empty(node.shape, "i8"), tensor(node.shape, "i8"), emitter.same(rank)),
        [
            "%i = arith.index_cast %a0 : i32 to index",
            f"%j = linalg.index {rank - 1} : index",
            f"%y = tensor.extract {rows}[%i, %j] : {tensor(node.table.shape, 'i8')}",
        ],
        rank=rank,
    )


def max_pool(emitter: Emitter, node: MaxPool, x: str) -> str:
    image, image_type = emitter.padded(x, node.padding, -128)
    kind = tensor(node.shape, "i8")
    start, window = emitter.fill(node.shape, "i8", -128), emitter.empty(node.kernel, "i8")
    steps = f"dilations = dense<1> : tensor<2xi64>, strides = dense<[{node.stride[0]}, {node.stride[1]}]>"
    return emitter.line(
        "",
        f"linalg.pooling_nchw_max {{{steps} : tensor<2xi64>}} ins({image}, {window} : {image_type}, "
        f"{tensor(node.kernel, 'i8')}) outs({start} : {kind}) -> {kind}",
    )
