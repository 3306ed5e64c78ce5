"""ATen's views, parts, joins and tensors from nothing."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.graph.graph import Node
from axiloom.read.aten.call import Call, Rule


def _same(call: Call) -> Node:
    return call.context.convert(call.node("self"), call.number)


def _reshape(call: Call) -> Node:
    return call.context.reshape(call.node("self"), call.shape)


def _dropout(call: Call) -> Node:
    call.only(train=False)
    return call.node("input")


def transpose(call: Call, x: Node, permutation: Sequence[int]) -> Node:
    if x.op == "splat":
        return call.context.like(x, call.context.value(x).reshape(-1)[0]) if x.type.shape == call.shape else (
            call.context.splat(call.context.value(x).reshape(-1)[0], call.shape, x.type.number)
        )  # fmt: skip
    if tuple(permutation) == tuple(range(len(permutation))):
        return x
    return call.make("transpose", x, permutation=tuple(permutation))


def _permute(call: Call) -> Node:
    x = call.node("self")
    return transpose(call, x, call.dimensions(call.given["dims"], len(x.type.shape)))


def _transpose(call: Call) -> Node:
    x = call.node("self")
    rank = len(x.type.shape)
    a, b = (call.dimension(call.given.get(f"dim{i}", i), rank) for i in (0, 1))
    order = list(range(rank))
    order[a], order[b] = b, a
    return transpose(call, x, order)


def _t(call: Call) -> Node:
    x = call.node("self")
    return transpose(call, x, list(range(len(x.type.shape)))[::-1])


def part(call: Call, x: Node, dimension: int, start: int, stop: int, step: int = 1) -> Node:
    """A slice along one dimension; nothing where it is everything."""
    size = x.type.shape[dimension]
    if (start, stop, step) == (0, size, 1):
        return x
    ends = [(0, n, 1) for n in x.type.shape]
    ends[dimension] = (start, stop, step)
    low, high, strides = (tuple(end[i] for end in ends) for i in range(3))
    return call.make("slice", x, start=low, limit=high, strides=strides)


def _slice(call: Call) -> Node:
    x = call.node("self")
    along = call.dimension(call.given.get("dim", 0), len(x.type.shape))
    size = x.type.shape[along]
    span = slice(call.given.get("start"), call.given.get("end"), call.given.get("step", 1))
    start, stop, step = span.indices(size)
    return part(call, x, along, start, max(start, stop), step)


def _select(call: Call) -> Node:
    x = call.node("self")
    along = call.dimension(call.given["dim"], len(x.type.shape))
    at = call.dimension(call.given["index"], x.type.shape[along])
    return call.context.reshape(part(call, x, along, at, at + 1), call.shape)


def _narrow(call: Call) -> Node:
    x = call.node("self")
    along = call.dimension(call.given["dim"], len(x.type.shape))
    start = call.given["start"]
    return part(call, x, along, start, start + call.given["length"])


def _pieces(call: Call) -> tuple[Node, ...]:
    """chunk and split: the sizes are those of the results."""
    x = call.node("self")
    along = call.dimension(call.given.get("dim", 0), len(x.type.shape))
    pieces, at = [], 0
    for shape in call.shapes:
        pieces.append(part(call, x, along, at, at + shape[along]))
        at += shape[along]
    return tuple(pieces)


def _unbind(call: Call) -> tuple[Node, ...]:
    x = call.node("self")
    along = call.dimension(call.given.get("dim", 0), len(x.type.shape))
    parts = (part(call, x, along, i, i + 1) for i in range(x.type.shape[along]))
    return tuple(call.context.reshape(part, shape) for part, shape in zip(parts, call.shapes, strict=True))


def _cat(call: Call) -> Node:
    tensors = [call.context.convert(tensor, call.number) for tensor in call.given["tensors"]]
    kept = [tensor for tensor in tensors if tensor.type.shape != (0,)]
    along = call.dimension(call.given.get("dim", 0), len(call.shape))
    return kept[0] if len(kept) == 1 else call.make("concatenate", *kept, dimension=along)


def _stack(call: Call) -> Node:
    along = call.dimension(call.given.get("dim", 0), len(call.shape))
    tensors = []
    for tensor in call.given["tensors"]:
        shape = (*tensor.type.shape[:along], 1, *tensor.type.shape[along:])
        tensors.append(call.context.reshape(tensor, shape))
    return tensors[0] if len(tensors) == 1 else call.make("concatenate", *tensors, dimension=along)


def _pad(call: Call) -> Node:
    call.only(mode="constant")
    x, widths = call.node("self"), call.given["pad"]
    value = call.given.get("value") or 0
    rank = len(x.type.shape)
    low, high = [0] * rank, [0] * rank
    for i in range(len(widths) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = widths[2 * i], widths[2 * i + 1]
    with_ = call.context.splat(value, (), x.type.number)
    return call.make("pad", x, with_, low=tuple(low), high=tuple(high), interior=(0,) * rank)


def _flip(call: Call) -> Node:
    x = call.node("self")
    return call.make("reverse", x, dimensions=call.dimensions(call.given["dims"], len(x.type.shape)))


def _filled(value: float | None) -> Rule:
    def rule(call: Call) -> Node:
        filling = (
            next(call.given[name] for name in ("fill_value", "s", "value") if name in call.given)
            if value is None
            else value
        )
        if isinstance(filling, Node):
            return call.spread(call.context.convert(filling, call.number), call.shape)
        return call.context.splat(filling, call.shape, call.number)

    return rule


def _arange(call: Call) -> Node:
    start, step = call.given.get("start", 0), call.given.get("step", 1)
    ramp = call.make("iota", shape=call.shape, number=call.number, dimension=0)
    if step != 1:
        ramp = call.make("multiply", ramp, call.context.like(ramp, step))
    return ramp if start == 0 else call.make("add", ramp, call.context.like(ramp, start))


def _expand(call: Call) -> Node:
    return call.spread(call.node("self"), call.shape)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("contiguous", "clone", "alias", "detach", "to", "_to_copy", "lift_fresh_copy"), _same),
    **dict.fromkeys(("view", "reshape", "_unsafe_view", "view_as", "flatten", "unflatten"), _reshape),
    **dict.fromkeys(("squeeze", "unsqueeze"), _reshape),
    **dict.fromkeys(("dropout", "feature_dropout"), _dropout),
    **dict.fromkeys(("chunk", "split", "split_with_sizes", "tensor_split"), _pieces),
    **dict.fromkeys(("pad", "constant_pad_nd"), _pad),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to"), _expand),
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), _filled(0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), _filled(1)),
    **dict.fromkeys(("full", "full_like", "new_full", "scalar_tensor", "fill"), _filled(None)),
    "permute": _permute, "transpose": _transpose, "t": _t, "numpy_T": _t, "slice": _slice, "select": _select,
    "narrow": _narrow, "unbind": _unbind, "cat": _cat, "stack": _stack, "flip": _flip, "arange": _arange,
}  # fmt: skip
