"""Operations of networks in int8: loops whose bodies accelerators and the CPU's layers are known by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axiloom.graph.graph import Node, Type
from axiloom.graph.ops.quantised import NORM_BITS, ROOT_BITS
from axiloom.graph.write.moves import expanded, ints, padded
from axiloom.graph.write.registry import register
from axiloom.graph.write.sums import windowed
from axiloom.graph.write.text import Operand, Text, dims, element, spelled


def _integer(node: Node, name: str) -> int:
    value = node.attributes[name]
    assert isinstance(value, int)
    return value


def _half(node: Node) -> int:
    return (1 << _integer(node, "shift")) >> 1


def _along(text: Text, node: Node, vectors: Sequence[Node]) -> list[Operand]:
    """One number a channel."""
    channel = text.map(len(node.type.shape), dims(_integer(node, "dimension")))
    return [(text[vector], vector.type, channel) for vector in vectors]


def _bias_add(text: Text, node: Node) -> str:
    x, bias = node.operands
    channel = _along(text, node, [bias])
    kind = "arith.addf" if node.type.number.startswith("float") else "arith.addi"
    return text.elementwise(x, [f"%s = {kind} %a0, %a1 : {element(node.type.number)}"], *channel)


def _requantise(text: Text, node: Node) -> str:
    sums, *channels = node.operands
    more = _along(text, node, channels)
    unit, zero, low, high = (
        text.constant(value, "int64")
        for value in (1, *(_integer(node, name) for name in ("zero", "low", "high")))
    )
    return text.elementwise(
        sums,
        [
            "%s = arith.addi %a0, %a1 : i32",
            "%w = arith.extsi %s : i32 to i64",
            "%m = arith.extui %a2 : i32 to i64",
            "%p = arith.muli %w, %m : i64",
            "%sh = arith.extui %a3 : i32 to i64",
            f"%unit = arith.shli {unit}, %sh : i64",
            f"%half = arith.shrui %unit, {unit} : i64",
            "%r = arith.addi %p, %half : i64",
            "%q = arith.shrsi %r, %sh : i64",
            f"%z = arith.addi %q, {zero} : i64",
            f"%l = arith.maxsi %z, {low} : i64",
            f"%h = arith.minsi %l, {high} : i64",
            "%y = arith.trunci %h : i64 to i8",
        ],
        *more,
    )


def _requantise_shift(text: Text, node: Node) -> str:
    sums, bias = node.operands
    more = _along(text, node, [bias])
    places, low, high = (text.constant(_integer(node, name), "int32") for name in ("shift", "low", "high"))
    return text.elementwise(
        sums,
        [
            "%s = arith.addi %a0, %a1 : i32",
            f"%q = arith.shrsi %s, {places} : i32",
            f"%l = arith.maxsi %q, {low} : i32",
            f"%h = arith.minsi %l, {high} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        *more,
    )


def _second(text: Text, node: Node) -> Operand:
    """The second operand, broadcast as in NumPy."""
    shape, second = node.type.shape, node.operands[1]
    first = len(shape) - len(second.type.shape)
    places = [f"d{first + i}" if n == shape[first + i] else "0" for i, n in enumerate(second.type.shape)]
    return text[second], second.type, text.map(len(shape), places)


_WIDENED = ["%x = arith.extsi %a0 : i8 to i32", "%y = arith.extsi %a1 : i8 to i32"]


def _add_scaled(text: Text, node: Node) -> str:
    values = (*(_integer(node, name) for name in ("first", "second")), _half(node))
    first, second, half, places, low, high = (
        text.constant(value, "int32")
        for value in (*values, *(_integer(node, name) for name in ("shift", "low", "high")))
    )
    return text.elementwise(
        node.operands[0],
        [
            *_WIDENED,
            f"%xs = arith.muli %x, {first} : i32",
            f"%ys = arith.muli %y, {second} : i32",
            "%s = arith.addi %xs, %ys : i32",
            f"%r = arith.addi %s, {half} : i32",
            f"%q = arith.shrsi %r, {places} : i32",
            f"%l = arith.maxsi %q, {low} : i32",
            f"%h = arith.minsi %l, {high} : i32",
            "%z = arith.trunci %h : i32 to i8",
        ],
        _second(text, node),
    )


def _multiply_scaled(text: Text, node: Node) -> str:
    factor, half, places, low, high = (
        text.constant(value, "int32")
        for value in (_integer(node, "factor"), _half(node), _integer(node, "shift"), -128, 127)
    )
    return text.elementwise(
        node.operands[0],
        [
            *_WIDENED,
            "%p = arith.muli %x, %y : i32",
            f"%s = arith.muli %p, {factor} : i32",
            f"%r = arith.addi %s, {half} : i32",
            f"%q = arith.shrsi %r, {places} : i32",
            f"%l = arith.maxsi %q, {low} : i32",
            f"%h = arith.minsi %l, {high} : i32",
            "%z = arith.trunci %h : i32 to i8",
        ],
        _second(text, node),
    )


def _lookup(text: Text, node: Node) -> str:
    x, table = node.operands
    values, middle = text[table], text.index(128)
    return text.elementwise(
        x,
        [
            "%i = arith.index_cast %a0 : i8 to index",
            f"%j = arith.addi %i, {middle} : index",
            f"%y = tensor.extract {values}[%j] : {spelled(table.type)}",
        ],
    )


def _embedding(text: Text, node: Node) -> str:
    """Without a look at where a number lies, as the caller's are within the table."""
    rows, table = node.operands
    rank, outer = len(node.type.shape), len(rows.type.shape)
    values, of = text[table], element(rows.type.number)
    operand = (text[rows], rows.type, text.map(rank, dims(*range(outer))))
    names = ["%j"] if rank - outer == 1 else [f"%p{dim}" for dim in range(outer, rank)]
    return text.generic(
        [operand],
        text.into(node.type),
        [
            f"%i = arith.index_cast %a0 : {of} to index",
            *(f"{name} = linalg.index {dim} : index" for dim, name in enumerate(names, outer)),
            f"%y = tensor.extract {values}[{', '.join(['%i', *names])}] : {spelled(table.type)}",
        ],
        rank=rank,
    )


def _rows(text: Text, suffix: str, x: Operand, start: int, body: Sequence[str], number: str) -> Operand:
    """A reduction of x over its last dim, as an operand of generics over all dims."""
    shape = text.node.type.shape
    rank, rows = len(shape), Type(shape[:-1], number)
    outer = text.map(rank, dims(*range(rank - 1)))
    out = (text.filled(rows, start), rows, outer)
    return text.generic([x], out, body, reduced=(rank - 1,), rank=rank, suffix=suffix), rows, outer


def _softmax(text: Text, node: Node) -> str:
    x, table = node.operands
    shape = node.type.shape
    rank, wide = len(shape), Type(shape, "int32")
    inner, whole = text.same(rank - 1), text.same(rank)
    operand = (text[x], x.type, whole)
    largest = _rows(text, "max", operand, -128, ["%m = arith.maxsi %o, %a0 : i8"], "int8")
    values = text[table]
    powers = text.generic(
        [operand, largest],
        (text.empty(wide), wide, whole),
        [
            "%x = arith.index_cast %a0 : i8 to index",
            "%m = arith.index_cast %a1 : i8 to index",
            "%d = arith.subi %m, %x : index",
            f"%e = tensor.extract {values}[%d] : {spelled(table.type)}",
        ],
        rank=rank,
        suffix="exp",
    )
    terms = (powers, wide, whole)
    sums, rows, outer = _rows(text, "sum", terms, 0, ["%s = arith.addi %o, %a0 : i32"], "int32")
    numerator = text.constant(_integer(node, "numerator"), "int32")
    inverse = text.generic(
        [(sums, rows, inner)],
        (text.empty(rows), rows, inner),
        [f"%q = arith.divsi {numerator}, %a0 : i32"],
        rank=rank - 1,
        suffix="inverse",
    )
    half, places = text.constant(_half(node), "int32"), text.constant(_integer(node, "shift"), "int32")
    return text.generic(
        [terms, (inverse, rows, outer)],
        (text.empty(node.type), node.type, whole),
        [
            "%p = arith.muli %a0, %a1 : i32",
            f"%r = arith.addi %p, {half} : i32",
            f"%q = arith.shrsi %r, {places} : i32",
            f"%h = arith.minsi %q, {text.constant(127, 'int32')} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        rank=rank,
    )


def _layer_norm(text: Text, node: Node) -> str:
    x, *channels = node.operands
    rank, n = len(node.type.shape), node.type.shape[-1]
    inner, whole = text.same(rank - 1), text.same(rank)
    operand = (text[x], x.type, whole)
    wide = "%x = arith.extsi %a0 : i8 to i32"
    sums, rows, outer = _rows(text, "sum", operand, 0, [wide, "%s = arith.addi %o, %x : i32"], "int32")
    square = [wide, "%p = arith.muli %x, %x : i32", "%s = arith.addi %o, %p : i32"]
    squares = _rows(text, "squares", operand, 0, square, "int32")[0]
    into = text.empty(rows)
    inverse = text.generic(
        [(sums, rows, inner), (squares, rows, inner)],
        (into, rows, inner),
        [
            "%s = arith.extsi %a0 : i32 to i64",
            "%t = arith.extsi %a1 : i32 to i64",
            f"%nt = arith.muli %t, {text.constant(n, 'int64')} : i64",
            "%ss = arith.muli %s, %s : i64",
            "%d = arith.subi %nt, %ss : i64",
            "%f = arith.sitofp %d : i64 to f32",
            f"%e = arith.addf %f, {_real(text, float(str(node.attributes['epsilon'])))} : f32",
            "%root = math.sqrt %e : f32",
            f"%q = arith.divf {_real(text, 1 << ROOT_BITS)}, %root : f32",
            "%r = arith.fptosi %q : f32 to i32",
        ],
        rank=rank - 1,
        suffix="inverse",
    )
    last = text.map(rank, dims(rank - 1))
    factors = [(text[vector], vector.type, last) for vector in channels]
    point = ROOT_BITS - NORM_BITS

    def number(value: int) -> str:
        return text.constant(value, "int32")

    return text.elementwise(
        x,
        [
            wide,
            f"%nx = arith.muli %x, {number(n)} : i32",
            "%c = arith.subi %nx, %a1 : i32",
            "%p = arith.muli %c, %a2 : i32",
            f"%pr = arith.addi %p, {number(1 << point - 1)} : i32",
            f"%z = arith.shrsi %pr, {number(point)} : i32",
            "%g = arith.muli %z, %a3 : i32",
            "%go = arith.addi %g, %a4 : i32",
            f"%q = arith.shrsi %go, {number(_integer(node, 'shift'))} : i32",
            f"%l = arith.maxsi %q, {number(-128)} : i32",
            f"%h = arith.minsi %l, {number(127)} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        (sums, rows, outer),
        (inverse, rows, outer),
        *factors,
    )


def _real(text: Text, value: float) -> str:
    return text.constant(f"{np.float32(value):.9e}", "float32")


def _sum_pool(text: Text, node: Node) -> str:
    (x,) = node.operands
    window, strides, (rows, columns) = (ints(node, name) for name in ("window", "strides", "padding"))
    edge = (0, 0, rows, columns)
    name, source = padded(text, x, edge, edge, "0")
    body = ["%x = arith.extsi %a0 : i8 to i32", "%s = arith.addi %o, %x : i32"]
    if node.type.shape[2:] == (1, 1) and source == x.type and window == x.type.shape[2:]:
        flat, image = Type(node.type.shape[:2], "int32"), (name, source, text.same(4))
        out = (text.filled(flat), flat, text.map(4, dims(0, 1)))
        sums = text.generic([image], out, body, reduced=(2, 3), rank=4, suffix="flat")
        return expanded(text, sums, flat, node.type.shape)
    everywhere = (1, 1, *window), (1, 1, *strides), (1, 1, 1, 1)
    return windowed(text, (name, source), "0", body, (2, 3), *everywhere)


for _name, _writer in {
    "bias_add": _bias_add,
    "requantise": _requantise,
    "requantise_shift": _requantise_shift,
    "add_scaled": _add_scaled,
    "multiply_scaled": _multiply_scaled,
    "lookup": _lookup,
    "embedding": _embedding,
    "softmax_int8": _softmax,
    "layer_norm_int8": _layer_norm,
    "sum_pool": _sum_pool,
}.items():
    register(_name, _writer)
