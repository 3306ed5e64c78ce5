"""``tensor`` ops and constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from axiloom.graph.graph import Node
from axiloom.graph.numbers import Array, number
from axiloom.read.linalg.structured import Reader

DYNAMIC = -(1 << 63)
Rule = Callable[[Reader, Any], Node]


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.type.get_shape())


def _empty(reader: Reader, op: Any) -> Node:
    """Nothing may read it: it is 0 everywhere here."""
    of = reader.number(op.results[0].type.get_element_type())
    return reader.context.splat(0, _shape(op.results[0]), of)


def _reshape(reader: Reader, op: Any) -> Node:
    return reader.context.reshape(reader.node(op.operands[0]), _shape(op.results[0]))


def _pad(reader: Reader, op: Any) -> Node:
    low, high = (_static(reader, op, name) for name in ("static_low", "static_high"))
    yielded = op.regions[0].block.last_op.operands[0]
    value = yielded.owner
    inside = getattr(value, "parent_op", lambda: None)() is op
    if inside and value.name != "arith.constant":
        raise reader.context.error("a padding that depends on where it is")
    x = reader.node(op.operands[0])
    return reader.context.make("pad", x, reader.node(yielded), low=low, high=high, interior=(0,) * len(low))


def _static(reader: Reader, op: Any, name: str) -> tuple[int, ...]:
    values = tuple(op.properties[name].get_values())
    if DYNAMIC in values:
        raise reader.context.error(f"{name} that are computed are not read")
    return values


def _ranges(reader: Reader, op: Any) -> tuple[tuple[int, ...], ...]:
    low, sizes, strides = (_static(reader, op, f"static_{name}") for name in ("offsets", "sizes", "strides"))
    return low, sizes, strides


def _extract_slice(reader: Reader, op: Any) -> Node:
    low, sizes, strides = _ranges(reader, op)
    high = tuple(a + (n - 1) * s + 1 for a, n, s in zip(low, sizes, strides, strict=True))
    sliced = reader.context.make("slice", reader.node(op.operands[0]), start=low, limit=high, strides=strides)
    return reader.context.reshape(sliced, _shape(op.results[0]))


def _insert_slice(reader: Reader, op: Any) -> Node:
    low, sizes, strides = _ranges(reader, op)
    if any(stride != 1 for stride in strides):
        raise reader.context.error(f"strides {strides}: only 1 is read")
    source = reader.context.reshape(reader.node(op.operands[0]), sizes)
    return _inserted(reader, source, reader.node(op.operands[1]), low, 0)


def _inserted(reader: Reader, source: Node, target: Node, low: tuple[int, ...], along: int) -> Node:
    """`target` with `source` at `low`: before, the middle with the further dimensions, behind."""
    if along == len(low):
        return source
    size, start = source.type.shape[along], low[along]
    parts = [
        _part(reader, target, along, 0, start),
        _inserted(reader, source, _part(reader, target, along, start, start + size), low, along + 1),
        _part(reader, target, along, start + size, target.type.shape[along]),
    ]
    kept = [part for part in parts if part.type.shape[along]]
    return kept[0] if len(kept) == 1 else reader.context.make("concatenate", *kept, dimension=along)


def _part(reader: Reader, x: Node, along: int, start: int, stop: int) -> Node:
    if (start, stop) == (0, x.type.shape[along]):
        return x
    low = tuple(start if i == along else 0 for i in range(len(x.type.shape)))
    high = tuple(stop if i == along else n for i, n in enumerate(x.type.shape))
    return reader.context.make("slice", x, start=low, limit=high, strides=(1,) * len(low))


def _concat(reader: Reader, op: Any) -> Node:
    return reader.context.make(
        "concatenate",
        *(reader.node(operand) for operand in op.operands),
        dimension=op.properties["dim"].value.data,
    )


def _same(reader: Reader, op: Any) -> Node:
    source = reader.node(op.operands[0])
    if source.type.shape != _shape(op.results[0]):
        raise reader.context.error("a cast to another shape")
    return source


def _splat(reader: Reader, op: Any) -> Node:
    return reader.context.broadcast(reader.node(op.operands[0]), _shape(op.results[0]), ())


def constant(reader: Reader, op: Any, name: str) -> Node:
    """``arith.constant``: a scalar or a tensor."""
    type_ = op.results[0].type
    if not hasattr(type_, "get_shape"):
        of = reader.number(type_)
        return reader.context.splat(op.value.value.data, (), of)
    of = reader.number(type_.get_element_type())
    return reader.context.constant(_contents(op.value, _shape(op.results[0]), of), of, name)


def _contents(attribute: Any, shape: tuple[int, ...], of: str) -> Array:
    values = np.array(attribute.get_values())
    if number(of).kind == "integer":  # MLIR has no signs: the bits count
        values = values.astype(np.int64)
    raw = number(of).encode(values)
    return np.full(shape, raw[0]) if attribute.is_splat() else raw.reshape(shape)


RULES: Mapping[str, Rule] = {
    "tensor.empty": _empty, "tensor.expand_shape": _reshape, "tensor.collapse_shape": _reshape,
    "tensor.reshape": _reshape, "tensor.pad": _pad, "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice, "tensor.concat": _concat, "tensor.cast": _same,
    "tensor.splat": _splat,
}  # fmt: skip
