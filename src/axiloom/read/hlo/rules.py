"""What statements become in the graph: a rule takes the attributes that it knows, the rest is refused."""

from __future__ import annotations

from axiloom.graph.graph import Node
from axiloom.graph.ops.elementwise import FUNCTION_OF
from axiloom.read.hlo.call import Call, Rule


def _elementwise(op: str) -> Rule:
    def rule(call: Call) -> Node:
        call.take("result_accuracy")  # results are rounded once, whatever error is allowed
        return call.make(op, *call.operands)

    return rule


def _constant(call: Call) -> Node:
    assert call.statement.literal is not None
    name = call.statement.result.lstrip("%") or "constant"
    return call.context.constant(call.statement.literal, call.number, name)


def _compare(call: Call) -> Node:
    direction = call.text("word0", "direction", "comparison_direction")
    kind = call.first("word1", "type", "compare_type", default="")
    if kind == "TOTALORDER":
        raise call.refuse("TOTALORDER is not read: NaN is unordered here")
    name = direction.removeprefix("#stablehlo<comparison_direction ").rstrip(">")
    return call.make("compare", *call.operands, direction=name)


def _select(call: Call) -> Node:
    call.count(3)
    condition, *branches = call.operands
    return call.make("select", _filled(call, condition, branches[0]), *branches)


def _filled(call: Call, scalar: Node, like: Node) -> Node:
    """A scalar everywhere, where the texts allow one."""
    return scalar if scalar.type.shape else call.context.broadcast(scalar, like.type.shape, ())


def _clamp(call: Call) -> Node:
    call.count(3)
    low, x, high = call.operands
    return call.make("clamp", _filled(call, low, x), x, _filled(call, high, x))


def _convert(call: Call) -> Node:
    call.count(1)
    return call.context.convert(call.operands[0], call.number)


def _same(call: Call) -> Node:
    call.count(1)
    return call.operands[0]


def _bitcast(call: Call) -> Node:
    """XLA's own: the elements as they are stored, in another shape and layout."""
    call.count(1)
    (x,), before, after = call.operands, call.statement.stored[0], call.statement.layout
    if before is None or after is None or x.type.number != call.number:
        raise call.refuse("numbers must be the same, and both layouts plain such as {1,0}")
    if sorted(before) != list(range(len(x.type.shape))) or sorted(after) != list(range(len(call.shape))):
        raise call.refuse(f"the layouts {before} and {after} are not those of the shapes")
    slowest = after[::-1]
    stored = call.context.reshape(_ordered(call, x, before[::-1]), [call.shape[i] for i in slowest])
    return _ordered(call, stored, tuple(slowest.index(i) for i in range(len(slowest))))


def _ordered(call: Call, x: Node, permutation: tuple[int, ...]) -> Node:
    plain = permutation == tuple(range(len(permutation)))
    return x if plain else call.make("transpose", x, permutation=permutation)


def _iota(call: Call) -> Node:
    return call.make(
        "iota", shape=call.shape, number=call.number, dimension=call.integer("dim", "iota_dimension")
    )


def _reshape(call: Call) -> Node:
    call.count(1)
    return call.context.reshape(call.operands[0], call.shape)


def _broadcast(call: Call) -> Node:
    call.count(1)
    dimensions = call.ints("dims", "dimensions", "broadcast_dimensions")
    return call.context.broadcast(call.operands[0], call.shape, dimensions)


def _transpose(call: Call) -> Node:
    call.count(1)
    permutation = call.ints("dims", "dimensions", "permutation")
    transposed = call.make("transpose", call.operands[0], permutation=permutation)
    return call.operands[0] if permutation == tuple(range(len(permutation))) else transposed


def _reverse(call: Call) -> Node:
    return call.make("reverse", *call.operands, dimensions=call.ints("dims", "dimensions"))


def _concatenate(call: Call) -> Node:
    dims = call.first("dim", "dimension", "dimensions")
    along = dims[0] if isinstance(dims, list) and len(dims) == 1 else dims
    if type(along) is not int:
        raise call.refuse(f"dim={str(dims)[:40]} is no dimension")
    return (
        call.operands[0]
        if len(call.operands) == 1
        else call.make("concatenate", *call.operands, dimension=along)
    )


def _slice(call: Call) -> Node:
    ranges = call.first("ranges", "slice")
    if ranges is None:
        start, limit = call.ints("start_indices"), call.ints("limit_indices")
        return call.make("slice", *call.operands, start=start, limit=limit, strides=call.ints("strides"))
    if not all(isinstance(bounds, tuple) and len(bounds) in (2, 3) for bounds in ranges):
        raise call.refuse(f"[{str(ranges)[:60]}] are no ranges")
    full = [(*bounds, 1) if len(bounds) == 2 else bounds for bounds in ranges]
    start, limit, strides = (tuple(bounds[i] for bounds in full) for i in range(3))
    return call.make("slice", *call.operands, start=start, limit=limit, strides=strides)


def _dynamic_slice(call: Call) -> Node:
    """Where the starts are constants; they are clamped, as XLA does."""
    x, *starts = call.operands
    sizes = call.ints("sizes", "slice_sizes", "dynamic_slice_sizes")
    if not call.context.known(*starts) or len(starts) != len(sizes) or len(sizes) != len(x.type.shape):
        raise call.refuse("starts that are computed are not read")
    offsets = (int(call.context.value(start)) for start in starts)
    low = tuple(min(max(s, 0), n - k) for s, n, k in zip(offsets, x.type.shape, sizes, strict=True))
    high = tuple(a + k for a, k in zip(low, sizes, strict=True))
    return call.make("slice", x, start=low, limit=high, strides=(1,) * len(sizes))


def _pad(call: Call) -> Node:
    text = call.take("padding")
    if text is not None:
        parts = [call.numbers(part, "padding", "_") for part in str(text).split("x")]
        if not all(len(part) in (2, 3) for part in parts):
            raise call.refuse(f"padding={str(text)[:40]}: low_high or low_high_interior for each dimension")
        low, high, inner = (tuple((*part, 0)[i] for part in parts) for i in range(3))
    else:
        low, high, inner = (
            call.ints(name, f"edge_padding_{name}", f"{name}_padding") for name in ("low", "high", "interior")
        )
    return call.make("pad", *call.operands, low=low, high=high, interior=inner)


def _erfc(call: Call) -> Node:
    """1 - erf(x)"""
    (x,) = call.operands
    return call.make("subtract", call.context.like(x, 1), call.make("erf", x))


def _square(call: Call) -> Node:
    (x,) = call.operands
    return call.make("multiply", x, x)


RULES: dict[str, Rule] = {
    **{name: _elementwise(name) for name in FUNCTION_OF},
    "constant": _constant, "compare": _compare, "select": _select, "clamp": _clamp, "convert": _convert,
    "iota": _iota, "reshape": _reshape, "broadcast_in_dim": _broadcast, "transpose": _transpose,
    "reverse": _reverse, "concatenate": _concatenate, "slice": _slice, "dynamic_slice": _dynamic_slice,
    "pad": _pad, "copy": _same, "optimization_barrier": _same,
    "bitcast": _bitcast, "erfc": _erfc, "square": _square,
}  # fmt: skip
