"""Operations that only move elements: reshapes, transposes, broadcasts, slices, pads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from axiloom.graph.graph import GraphError, Node, Type
from axiloom.graph.write.registry import register
from axiloom.graph.write.text import Text, element, identity, spelled


def ints(node: Node, name: str) -> tuple[int, ...]:
    return cast(tuple[int, ...], node.attributes[name])


def reshaped(text: Text, name: str, source: Type, shape: Sequence[int]) -> str:
    """Through one dimension, unless that changes nothing."""
    target = Type(tuple(shape), source.number)
    if target == source:
        return name
    if 0 in shape or not source.shape or not shape:
        raise GraphError(f"a reshape of {source} to {target}: it needs dimensions and elements")
    flat = Type((source.elements,), source.number)
    if len(source.shape) > 1:
        groups = f"[[{', '.join(map(str, range(len(source.shape))))}]]"
        name = text.line(f"tensor.collapse_shape {name} {groups} : {spelled(source)} into {spelled(flat)}")
    if len(shape) > 1:
        groups = f"[[{', '.join(map(str, range(len(shape))))}]] output_shape [{', '.join(map(str, shape))}]"
        name = text.line(f"tensor.expand_shape {name} {groups} : {spelled(flat)} into {spelled(target)}")
    return name


def moved(text: Text, name: str, source: Type, result: Type, read: Sequence[str]) -> str:
    """The operand's element at `read` for each of the result's."""
    return text.generic(
        [(name, source)],
        text.empty(result),
        result,
        [read, identity(len(result.shape))],
        ["parallel"] * len(result.shape),
        [f"linalg.yield %a : {element(result.number)}"],
        ["%a", "%o"],
    )


def _reshape(text: Text, node: Node) -> str:
    (x,) = node.operands
    return reshaped(text, text[x], x.type, node.type.shape)


def _transpose(text: Text, node: Node) -> str:
    (x,) = node.operands
    permutation = ints(node, "permutation")
    read = [f"d{permutation.index(i)}" for i in range(len(permutation))]
    return moved(text, text[x], x.type, node.type, read)


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
    name = reshaped(text, text[x], x.type, shape)
    source = Type(shape, x.type.number)
    return moved(text, name, source, node.type, [f"d{dimensions[i]}" for i in kept])


def sliced(
    text: Text, name: str, source: Type, start: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[str, Type]:
    cut = Type(tuple(sizes), source.number)
    where = "".join(f"[{', '.join(map(str, numbers))}]" + " " for numbers in (start, sizes, strides)).rstrip()
    where = where.replace("] [", "] [")
    return text.line(f"tensor.extract_slice {name}{where} : {spelled(source)} to {spelled(cut)}"), cut


def _slice(text: Text, node: Node) -> str:
    (x,) = node.operands
    return sliced(text, text[x], x.type, ints(node, "start"), node.type.shape, ints(node, "strides"))[0]


def _concatenate(text: Text, node: Node) -> str:
    names = ", ".join(text[operand] for operand in node.operands)
    types = ", ".join(spelled(operand.type) for operand in node.operands)
    dimension = node.attributes["dimension"]
    return text.line(f"tensor.concat dim({dimension}) {names} : ({types}) -> {spelled(node.type)}")


def padded(
    text: Text, name: str, source: Type, low: Sequence[int], high: Sequence[int], value: str
) -> tuple[str, Type]:
    """With `value` (a number's text) around; what is negative cuts."""
    sizes = [s + min(a, 0) + min(b, 0) for s, a, b in zip(source.shape, low, high, strict=True)]
    if any(width < 0 for width in (*low, *high)):
        start = [max(-width, 0) for width in low]
        name, source = sliced(text, name, source, start, sizes, [1] * len(sizes))
    low, high = [max(width, 0) for width in low], [max(width, 0) for width in high]
    if not any((*low, *high)):
        return name, source
    wider = Type(tuple(s + a + b for s, a, b in zip(source.shape, low, high, strict=True)), source.number)
    of = element(source.number)
    scalar = text.constant(value, source.number)
    indices = ", ".join(f"%p{i}: index" for i in range(len(low)))
    ends = f"low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}]"
    lines = [
        f"tensor.pad {name} {ends} {{",
        f"^bb0({indices}):",
        f"tensor.yield {scalar} : {of}",
        f"}} : {spelled(source)} to {spelled(wider)}",
    ]
    return text.line("\n".join(lines)), wider


def _pad(text: Text, node: Node) -> str:
    x, value = node.operands
    if any(ints(node, "interior")):
        raise GraphError(f"{node.place or node.op}: padding between elements")
    if value.op != "splat":
        raise GraphError(f"{node.place or node.op}: padding with what is no constant")
    result, _ = padded(
        text, text[x], x.type, ints(node, "low"), ints(node, "high"), str(value.attributes["value"])
    )
    return result


def _reverse(text: Text, node: Node) -> str:
    (x,) = node.operands
    turned = ints(node, "dimensions")
    read = [f"-d{i} + {size - 1}" if i in turned else f"d{i}" for i, size in enumerate(x.type.shape)]
    return moved(text, text[x], x.type, node.type, read)


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
