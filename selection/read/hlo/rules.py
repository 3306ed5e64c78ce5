"""What statements become in the graph: a rule takes the attributes that it knows, the rest is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from axiloom.selection.ir.graph import Attribute, Node
from axiloom.selection.ir.ops.elementwise import FUNCTION_OF
from axiloom.selection.read.context import Context, ReadError
from axiloom.selection.read.hlo.program import Function, Statement

Made: TypeAlias = tuple[Node, ...]
Rule: TypeAlias = "Callable[[Call], Node]"


@dataclass
class Call:
    """A statement with its operands as nodes. Rules `take` attributes; what they leave is refused."""

    context: Context
    statement: Statement
    operands: tuple[Node, ...]
    functions: Mapping[str, Function]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.statement.types[0].shape

    @property
    def number(self) -> str:
        return self.statement.types[0].number

    def make(self, op: str, *operands: Node, **attributes: Attribute) -> Node:
        return self.context.make(op, *operands, **attributes)

    def refuse(self, reason: str) -> ReadError:
        return self.context.error(f"{self.statement.op}: {reason}")

    def take(self, name: str, default: Any = None) -> Any:
        return self.statement.attributes.pop(name, default)

    def first(self, *names: str, default: Any = None) -> Any:
        """The attribute under one of the names that versions of the texts have given it."""
        for name in names:
            if name in self.statement.attributes:
                return self.take(name)
        return default

    def ints(self, *names: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """A list of integers. Raises ReadError."""
        value = self.first(*names, default=default)
        if value is None:
            raise self.refuse(f"the attribute {names[0]} is missing")
        return self.plain(value, names[0])

    def plain(self, value: Any, name: str) -> tuple[int, ...]:
        """The value as integers. Raises ReadError."""
        if not isinstance(value, list | tuple) or not all(type(one) is int for one in value):
            raise self.refuse(f"{name}={str(value)[:60]} is no list of integers")
        return tuple(value)

    def numbers(self, text: Any, name: str, between: str) -> tuple[int, ...]:
        """Integers in a text such as ``1x2`` or ``1_2``. Raises ReadError."""
        parts = str(text).split(between)
        if not all(re.fullmatch(r"-?\d{1,18}", one) for one in parts):
            raise self.refuse(f"{name}={str(text)[:60]} is no list of integers")
        return tuple(map(int, parts))

    def integer(self, *names: str, default: int | None = None) -> int:
        value = self.first(*names, default=default)
        if type(value) is not int:
            raise self.refuse(f"{names[0]}={str(value)[:60]} is no integer")
        return value

    def text(self, *names: str) -> str:
        value = self.first(*names)
        if not isinstance(value, str):
            raise self.refuse(f"the attribute {names[0]} is missing")
        return value

    def only(self, name: str, *accepted: Any) -> None:
        """Takes an attribute that changes nothing as long as it is one of these."""
        value = self.take(name, accepted[0])
        if value not in accepted:
            raise self.refuse(f"{name}={str(value)[:60]} is not read; only {accepted[0]} is")

    def count(self, wanted: int) -> None:
        if len(self.operands) != wanted:
            raise self.refuse(f"takes {wanted} operands, not {len(self.operands)}")


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
    made = call.make("transpose", call.operands[0], permutation=permutation)
    return call.operands[0] if permutation == tuple(range(len(permutation))) else made


def _reverse(call: Call) -> Node:
    return call.make("reverse", *call.operands, dimensions=call.ints("dims", "dimensions"))


def _concatenate(call: Call) -> Node:
    given = call.first("dim", "dimension", "dimensions")
    along = given[0] if isinstance(given, list) and len(given) == 1 else given
    if type(along) is not int:
        raise call.refuse(f"dim={str(given)[:40]} is no dimension")
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
    if not all(isinstance(one, tuple) and len(one) in (2, 3) for one in ranges):
        raise call.refuse(f"[{str(ranges)[:60]}] are no ranges")
    full = [(*one, 1) if len(one) == 2 else one for one in ranges]
    start, limit, strides = (tuple(one[i] for one in full) for i in range(3))
    return call.make("slice", *call.operands, start=start, limit=limit, strides=strides)


def _dynamic_slice(call: Call) -> Node:
    """Where the starts are constants; they are clamped, as XLA does."""
    x, *starts = call.operands
    sizes = call.ints("sizes", "slice_sizes", "dynamic_slice_sizes")
    if not call.context.known(*starts) or len(starts) != len(sizes) or len(sizes) != len(x.type.shape):
        raise call.refuse("starts that are computed are not read")
    given = (int(call.context.value(one)) for one in starts)
    low = tuple(min(max(s, 0), n - k) for s, n, k in zip(given, x.type.shape, sizes, strict=True))
    high = tuple(a + k for a, k in zip(low, sizes, strict=True))
    return call.make("slice", x, start=low, limit=high, strides=(1,) * len(sizes))


def _pad(call: Call) -> Node:
    text = call.take("padding")
    if text is not None:
        parts = [call.numbers(one, "padding", "_") for one in str(text).split("x")]
        if not all(len(one) in (2, 3) for one in parts):
            raise call.refuse(f"padding={str(text)[:40]}: low_high or low_high_interior for each dimension")
        low, high, inner = (tuple((*one, 0)[i] for one in parts) for i in range(3))
    else:
        low, high, inner = (
            call.ints(one, f"edge_padding_{one}", f"{one}_padding") for one in ("low", "high", "interior")
        )
    return call.make("pad", *call.operands, low=low, high=high, interior=inner)


def _accuracy(call: Call) -> None:
    """Hints on how exact products are; sums here are as exact as any of them asks for."""
    for name in ("precision", "precision_config", "algorithm"):
        call.take(name)


def _dot_general(call: Call) -> Node:
    _accuracy(call)
    batching, contracting = (
        _pair(call, f"{one}_dims", (f"lhs_{short}_dims", f"rhs_{short}_dims"))
        for one, short in (("batching", "batch"), ("contracting", "contracting"))
    )
    given = call.take("dot_dimension_numbers")
    if given is not None:
        raise call.refuse("dot_dimension_numbers in the generic form are not read: print the pretty form")
    return call.make(
        "dot_general", *call.operands, lhs_batch=batching[0], rhs_batch=batching[1],
        lhs_contracting=contracting[0], rhs_contracting=contracting[1], number=call.number,
    )  # fmt: skip


def _pair(call: Call, name: str, sides: tuple[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``[0] x [1]``, or two attributes."""
    given = call.take(name)
    if given is None:
        return call.ints(sides[0], default=()), call.ints(sides[1], default=())
    if not (isinstance(given, tuple) and len(given) == 2):
        raise call.refuse(f"{name}={str(given)[:40]}: two lists are needed")
    return call.plain(given[0], name), call.plain(given[1], name)


def _dot(call: Call) -> Node:
    """StableHLO's older ``dot``: the last dimension with the first."""
    _accuracy(call)
    call.count(2)
    return call.make(
        "dot_general", *call.operands, lhs_batch=(), rhs_batch=(),
        lhs_contracting=(len(call.operands[0].type.shape) - 1,), rhs_contracting=(0,), number=call.number,
    )  # fmt: skip


def _take(call: Call) -> Node:
    """``gather`` of whole rows, by numbers along one dimension."""
    call.only("indices_are_sorted", False, True)
    call.count(2)
    table, rows = call.operands
    given = _gather(call)
    rank = len(table.type.shape)
    sizes = call.ints("slice_sizes")
    width = len(rows.type.shape) - (given["index_vector_dim"] < len(rows.type.shape))
    whole = sizes == (1, *table.type.shape[1:])
    collapsed = given["collapsed_slice_dims"]
    plain = (
        given["start_index_map"] == [0]
        and collapsed in ([0], [])
        and given["offset_dims"] == list(range(width, width + rank - len(collapsed)))
        and given["index_vector_dim"] >= len(rows.type.shape) - 1
    )
    if not whole or not plain:
        raise call.refuse("only whole rows of the first dimension are read, as embeddings take them")
    made = call.make("take", table, call.context.reshape(rows, rows.type.shape[:width]))
    return call.context.reshape(made, call.shape)


def _gather(call: Call) -> dict[str, Any]:
    """The dimension numbers, from either text."""
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map")
    text = call.take("dimension_numbers")
    if text is None:
        found: dict[str, Any] = {name: list(call.ints(name, default=())) for name in names}
        return {**found, "index_vector_dim": call.integer("index_vector_dim")}
    found = {name: [] for name in names}
    found["index_vector_dim"] = 0
    inner = str(text).removeprefix("#stablehlo.gather<").rstrip(">")
    for part in inner.replace("],", "];").replace(" = ", "=").split(";"):
        for one in part.split(",") if "[" not in part else [part]:
            name, _, value = one.strip().partition("=")
            if name not in found:
                raise call.refuse(f"dimension number {name[:40]} is not read")
            inner = value.strip("[] ").replace(" ", "")
            numbers = list(call.numbers(inner, name, ",")) if inner else []
            if "[" not in value and len(numbers) != 1:
                raise call.refuse(f"{name} is one number")
            found[name] = numbers if "[" in value else numbers[0]
    return found


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
    "pad": _pad, "dot_general": _dot_general, "gather": _take, "copy": _same, "optimization_barrier": _same,
    "bitcast": _bitcast, "erfc": _erfc, "square": _square, "dot": _dot,
}  # fmt: skip
