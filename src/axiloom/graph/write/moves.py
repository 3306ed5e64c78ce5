"""Operations that only move elements: reshapes, transposes, broadcasts, slices, pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from axiloom.graph.graph import GraphError, Node, Type
from axiloom.graph.ops.shape import groups as runs
from axiloom.graph.write.registry import register
from axiloom.graph.write.text import Text, element, spelled


def ints(node: Node, name: str) -> tuple[int, ...]:
    return cast(tuple[int, ...], node.attributes[name])


def groups(long: Sequence[int], short: Sequence[int]) -> list[list[int]] | None:
    """Which dims of the shape `long` make each of `short`, if each is a product of neighbours."""
    result: list[list[int]] = []
    for source, target in runs(long, short):
        if len(target) == 1:
            result.append(list(source))
        elif not target and result:  # sizes of 1 behind the last
            result[-1] += source
        else:
            return None
    return result


def expanded(text: Text, name: str, source: Type, shape: Sequence[int], suffix: str = "") -> str:
    """To more dimensions, which `groups` puts together."""
    target = Type(tuple(shape), source.number)
    return text.line(
        f"tensor.expand_shape {name} {groups(shape, source.shape)} output_shape {list(shape)} : "
        f"{spelled(source)} into {spelled(target)}",
        suffix,
    )


def _collapsed(text: Text, name: str, source: Type, shape: Sequence[int], suffix: str) -> str:
    target = Type(tuple(shape), source.number)
    return text.line(
        f"tensor.collapse_shape {name} {groups(source.shape, shape)} : "
        f"{spelled(source)} into {spelled(target)}",
        suffix,
    )


def reshaped(text: Text, name: str, source: Type, shape: Sequence[int], suffix: str = "") -> str:
    """Where neither shape has the other's dimensions put together, through one dimension."""
    before, after = source.shape, tuple(shape)
    if before == after:
        return name
    if 0 in after or not before or not after:
        target = Type(after, source.number)
        raise GraphError(f"a reshape of {source} to {target}: it needs dimensions and elements")
    if len(before) > len(after) and groups(before, after) is not None:
        return _collapsed(text, name, source, after, suffix)
    if len(before) < len(after) and groups(after, before) is not None:
        return expanded(text, name, source, after, suffix)
    flat = (prod(before),)
    if len(before) > 1:
        name = _collapsed(text, name, source, flat, "flat")
    return name if after == flat else expanded(text, name, Type(flat, source.number), after, suffix)


def _moved(text: Text, name: str, source: Type, read: Sequence[str]) -> str:
    """The operand's element at `read` for each of the node's."""
    rank = len(text.node.type.shape)
    operand = (name, source, text.map(rank, read))
    return text.generic([operand], text.into(text.node.type), [], rank=rank)


def _reshape(text: Text, node: Node) -> str:
    (x,) = node.operands
    return reshaped(text, text[x], x.type, node.type.shape)


def _transpose(text: Text, node: Node) -> str:
    (x,) = node.operands
    name, into = text[x], text.empty(node.type)
    return text.line(
        f"linalg.transpose ins({name} : {spelled(x.type)}) outs({into} : {spelled(node.type)}) "
        f"permutation = {list(ints(node, 'permutation'))}"
    )


def _broadcast(text: Text, node: Node) -> str:
    """Sizes of 1 that are repeated are left out first: maps then hold nothing but loops."""
    (x,) = node.operands
    dimensions = ints(node, "dimensions")
    kept = [
        i
        for i, (size, to) in enumerate(zip(x.type.shape, dimensions, strict=True))
        if size == node.type.shape[to]
    ]
    if not kept:
        raise GraphError(f"{node.place or node.op}: a broadcast of one element that is no constant")
    shape = tuple(x.type.shape[i] for i in kept)
    name = reshaped(text, text[x], x.type, shape, "dims")
    return _moved(text, name, Type(shape, x.type.number), [f"d{dimensions[i]}" for i in kept])


def _sliced(
    text: Text, name: str, source: Type, start: Sequence[int], sizes: Sequence[int], strides: Sequence[int],
    suffix: str = "",
) -> tuple[str, Type]:  # fmt: skip
    cut = Type(tuple(sizes), source.number)
    where = f"{list(start)} {list(sizes)} {list(strides)}"
    line = f"tensor.extract_slice {name}{where} : {spelled(source)} to {spelled(cut)}"
    return text.line(line, suffix), cut


def _slice(text: Text, node: Node) -> str:
    (x,) = node.operands
    return _sliced(text, text[x], x.type, ints(node, "start"), node.type.shape, ints(node, "strides"))[0]


def _concatenate(text: Text, node: Node) -> str:
    names = ", ".join(text[operand] for operand in node.operands)
    types = ", ".join(spelled(operand.type) for operand in node.operands)
    dimension = node.attributes["dimension"]
    return text.line(f"tensor.concat dim({dimension}) {names} : ({types}) -> {spelled(node.type)}")


def padded(
    text: Text, x: Node, low: Sequence[int], high: Sequence[int], value: str, suffix: str = "padded"
) -> tuple[str, Type]:
    """With `value` (a number's text) around; what is negative cuts."""
    name, source = text[x], x.type
    sizes = [s + min(a, 0) + min(b, 0) for s, a, b in zip(source.shape, low, high, strict=True)]
    if any(width < 0 for width in (*low, *high)):
        start = [max(-width, 0) for width in low]
        name, source = _sliced(text, name, source, start, sizes, [1] * len(sizes), "cut")
    low, high = [max(width, 0) for width in low], [max(width, 0) for width in high]
    if not any((*low, *high)):
        return name, source
    wider = Type(tuple(s + a + b for s, a, b in zip(source.shape, low, high, strict=True)), source.number)
    scalar, of = text.constant(value, source.number), element(source.number)
    places = ", ".join(f"%p{dim}: index" for dim in range(len(low)))
    lines = [
        f"tensor.pad {name} low{low} high{high} {{",
        f"    ^bb0({places}):",
        f"      tensor.yield {scalar} : {of}",
        f"    }} : {spelled(source)} to {spelled(wider)}",
    ]
    return text.line("\n".join(lines), suffix), wider


def _pad(text: Text, node: Node) -> str:
    x, value = node.operands
    if any(ints(node, "interior")):
        raise GraphError(f"{node.place or node.op}: padding between elements")
    if value.op != "splat":
        raise GraphError(f"{node.place or node.op}: padding with what is no constant")
    return padded(text, x, ints(node, "low"), ints(node, "high"), str(value.attributes["value"]), "")[0]


def _reverse(text: Text, node: Node) -> str:
    (x,) = node.operands
    turned = ints(node, "dimensions")
    read = [f"-d{i} + {size - 1}" if i in turned else f"d{i}" for i, size in enumerate(x.type.shape)]
    return _moved(text, text[x], x.type, read)


for _name, _writer in {
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "concatenate": _concatenate,
    "pad": _pad,
    "reverse": _reverse,
}.items():
    register(_name, _writer)
