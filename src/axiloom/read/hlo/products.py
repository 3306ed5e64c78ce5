"""Rules of products and of rows of tables: ``dot_general``, ``gather``."""

from __future__ import annotations

from typing import Any

from axiloom.graph.graph import Node
from axiloom.read.hlo.call import Call, Rule


def _accuracy(call: Call) -> None:
    """Hints on how exact products are; sums here are as exact as any of them asks for."""
    for name in ("precision", "precision_config", "algorithm"):
        call.take(name)


def _dot_general(call: Call) -> Node:
    _accuracy(call)
    batching, contracting = (
        _pair(call, f"{kind}_dims", (f"lhs_{short}_dims", f"rhs_{short}_dims"))
        for kind, short in (("batching", "batch"), ("contracting", "contracting"))
    )
    generic = call.take("dot_dimension_numbers")
    if generic is not None:
        raise call.refuse("dot_dimension_numbers in the generic form are not read: print the pretty form")
    return call.make(
        "dot_general", *call.operands, lhs_batch=batching[0], rhs_batch=batching[1],
        lhs_contracting=contracting[0], rhs_contracting=contracting[1], number=call.number,
    )  # fmt: skip


def _pair(call: Call, name: str, sides: tuple[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``[0] x [1]``, or two attributes."""
    pair = call.take(name)
    if pair is None:
        return call.ints(sides[0], default=()), call.ints(sides[1], default=())
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise call.refuse(f"{name}={str(pair)[:40]}: two lists are needed")
    return call.plain(pair[0], name), call.plain(pair[1], name)


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
    dims = _gather(call)
    rank = len(table.type.shape)
    sizes = call.ints("slice_sizes")
    width = len(rows.type.shape) - (dims["index_vector_dim"] < len(rows.type.shape))
    whole = sizes == (1, *table.type.shape[1:])
    collapsed = dims["collapsed_slice_dims"]
    plain = (
        dims["start_index_map"] == [0]
        and collapsed in ([0], [])
        and dims["offset_dims"] == list(range(width, width + rank - len(collapsed)))
        and dims["index_vector_dim"] >= len(rows.type.shape) - 1
    )
    if not whole or not plain:
        raise call.refuse("only whole rows of the first dimension are read, as embeddings take them")
    taken = call.make("take", table, call.context.reshape(rows, rows.type.shape[:width]))
    return call.context.reshape(taken, call.shape)


def _gather(call: Call) -> dict[str, Any]:
    """The dimension numbers, from either text."""
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map")
    text = call.take("dimension_numbers")
    if text is None:
        dims: dict[str, Any] = {name: list(call.ints(name, default=())) for name in names}
        return {**dims, "index_vector_dim": call.integer("index_vector_dim")}
    dims = {name: [] for name in names}
    dims["index_vector_dim"] = 0
    inner = str(text).removeprefix("#stablehlo.gather<").rstrip(">")
    for part in inner.replace("],", "];").replace(" = ", "=").split(";"):
        for assignment in part.split(",") if "[" not in part else [part]:
            name, _, value = assignment.strip().partition("=")
            if name not in dims:
                raise call.refuse(f"dimension number {name[:40]} is not read")
            inner = value.strip("[] ").replace(" ", "")
            numbers = list(call.numbers(inner, name, ",")) if inner else []
            if "[" not in value and len(numbers) != 1:
                raise call.refuse(f"{name} is one number")
            dims[name] = numbers if "[" in value else numbers[0]
    return dims


RULES: dict[str, Rule] = {"dot_general": _dot_general, "dot": _dot, "gather": _take}
