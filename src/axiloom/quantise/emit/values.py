"""Nodes that compute int8 of int8: element by element, and over the last dim."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.quantise.emit.emitter import Emitter, Operand, dims, tensor
from axiloom.quantise.graph.graph import Add, LayerNorm, Mul, Softmax, Table


def _second(emitter: Emitter, b: str) -> Operand:
    """The second operand of a node, broadcast as in NumPy."""
    shape, small = emitter.node.shape, emitter.shape_of(1)
    first = len(shape) - len(small)
    places = [f"d{first + dim}" if size == shape[first + dim] else "0" for dim, size in enumerate(small)]
    return b, emitter.type_of(1), emitter.map(len(shape), ", ".join(places))


def mul(emitter: Emitter, node: Mul, a: str, b: str) -> str:
    def number(value: int) -> str:
        return emitter.constant(value, "i32")

    return emitter.elementwise(
        a,
        [
            "%x = arith.extsi %a0 : i8 to i32",
            "%y = arith.extsi %a1 : i8 to i32",
            "%p = arith.muli %x, %y : i32",
            f"%s = arith.muli %p, {number(node.factor)} : i32",
            f"%r = arith.addi %s, {number((1 << node.shift) >> 1)} : i32",
            f"%q = arith.shrsi %r, {number(node.shift)} : i32",
            f"%l = arith.maxsi %q, {number(-128)} : i32",
            f"%h = arith.minsi %l, {number(127)} : i32",
            "%z = arith.trunci %h : i32 to i8",
        ],
        _second(emitter, b),
    )


def add(emitter: Emitter, node: Add, a: str, b: str) -> str:

    def number(value: int) -> str:
        return emitter.constant(value, "i32")

    return emitter.elementwise(
        a,
        [
            "%x = arith.extsi %a0 : i8 to i32",
            "%y = arith.extsi %a1 : i8 to i32",
            f"%xs = arith.muli %x, {number(node.first)} : i32",
            f"%ys = arith.muli %y, {number(node.second)} : i32",
            "%s = arith.addi %xs, %ys : i32",
            f"%r = arith.addi %s, {number((1 << node.shift) >> 1)} : i32",
            f"%q = arith.shrsi %r, {number(node.shift)} : i32",
            f"%l = arith.maxsi %q, {number(node.lo)} : i32",
            f"%h = arith.minsi %l, {number(node.hi)} : i32",
            "%z = arith.trunci %h : i32 to i8",
        ],
        _second(emitter, b),
    )


def table(emitter: Emitter, node: Table, x: str) -> str:
    values = emitter.weight("table", node.table)
    middle = emitter.constant(128, "index")
    return emitter.elementwise(
        x,
        [
            "%i = arith.index_cast %a0 : i8 to index",
            f"%j = arith.addi %i, {middle} : index",
            f"%y = tensor.extract {values}[%j] : tensor<256xi8>",
        ],
    )


def _rows(
    emitter: Emitter, suffix: str, x: Operand, start: int, body: Sequence[str], element: str
) -> Operand:
    """A reduction of x over its last dim, as an operand of generics over all dims."""
    rank = len(emitter.node.shape)
    shape = emitter.node.shape[:-1]
    outer = emitter.map(rank, dims(*range(rank - 1)))
    kind = tensor(shape, element)
    value = emitter.generic(
        suffix, [x], (emitter.fill(shape, element, start), kind, outer), body, reduced=(rank - 1,), rank=rank
    )
    return value, kind, outer


def softmax(emitter: Emitter, node: Softmax, x: str) -> str:
    rank = len(node.shape)
    inner, whole = emitter.same(rank - 1), emitter.same(rank)
    operand = (x, emitter.type_of(), whole)
    largest = _rows(emitter, "max", operand, -128, ["%m = arith.maxsi %o, %a0 : i8"], "i8")
    values = emitter.weight("table", node.table)
    wide = tensor(node.shape, "i32")
    powers = emitter.generic(
        "exp",
        [operand, largest],
        (emitter.empty(node.shape, "i32"), wide, whole),
        [
            "%x = arith.index_cast %a0 : i8 to index",
            "%m = arith.index_cast %a1 : i8 to index",
            "%d = arith.subi %m, %x : index",
            f"%e = tensor.extract {values}[%d] : tensor<256xi32>",
        ],
        rank=rank,
    )
    terms = (powers, wide, whole)
    sums, rows, outer = _rows(emitter, "sum", terms, 0, ["%s = arith.addi %o, %a0 : i32"], "i32")
    numerator = emitter.constant(node.numerator, "i32")
    inverse = emitter.generic(
        "inverse",
        [(sums, rows, inner)],
        (emitter.empty(node.shape[:-1], "i32"), rows, inner),
        [f"%q = arith.divsi {numerator}, %a0 : i32"],
        rank=rank - 1,
    )
    half, shift = emitter.constant((1 << node.shift) >> 1, "i32"), emitter.constant(node.shift, "i32")
    return emitter.generic(
        "",
        [terms, (inverse, rows, outer)],
        (emitter.empty(node.shape, "i8"), tensor(node.shape, "i8"), whole),
        [
            "%p = arith.muli %a0, %a1 : i32",
            f"%r = arith.addi %p, {half} : i32",
            f"%q = arith.shrsi %r, {shift} : i32",
            f"%h = arith.minsi %q, {emitter.constant(127, 'i32')} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        rank=rank,
    )


def layer_norm(emitter: Emitter, node: LayerNorm, x: str) -> str:
    rank, n = len(node.shape), node.shape[-1]
    inner, whole = emitter.same(rank - 1), emitter.same(rank)
    operand = (x, emitter.type_of(), whole)
    wide = "%x = arith.extsi %a0 : i8 to i32"
    sums, rows, outer = _rows(emitter, "sum", operand, 0, [wide, "%s = arith.addi %o, %x : i32"], "i32")
    square = [wide, "%p = arith.muli %x, %x : i32", "%s = arith.addi %o, %p : i32"]
    squares = _rows(emitter, "squares", operand, 0, square, "i32")[0]
    inverse = emitter.generic(
        "inverse",
        [(sums, rows, inner), (squares, rows, inner)],
        (emitter.empty(node.shape[:-1], "i32"), rows, inner),
        [
            "%s = arith.extsi %a0 : i32 to i64",
            "%t = arith.extsi %a1 : i32 to i64",
            f"%nt = arith.muli %t, {emitter.constant(n, 'i64')} : i64",
            "%ss = arith.muli %s, %s : i64",
            "%d = arith.subi %nt, %ss : i64",
            "%f = arith.sitofp %d : i64 to f32",
            f"%e = arith.addf %f, {emitter.constant(node.epsilon, 'f32')} : f32",
            "%root = math.sqrt %e : f32",
            f"%q = arith.divf {emitter.constant(float(1 << 24), 'f32')}, %root : f32",
            "%r = arith.fptosi %q : f32 to i32",
        ],
        rank=rank - 1,
    )
    last = emitter.map(rank, dims(rank - 1))
    factors = [
        (emitter.weight(what, data), tensor(data.shape, "i32"), last)
        for what, data in (("gain", node.gain), ("offset", node.offset))
    ]

    def number(value: int) -> str:
        return emitter.constant(value, "i32")

    return emitter.elementwise(
        x,
        [
            wide,
            f"%nx = arith.muli %x, {number(n)} : i32",
            "%c = arith.subi %nx, %a1 : i32",
            "%p = arith.muli %c, %a2 : i32",
            f"%pr = arith.addi %p, {number(1 << 13)} : i32",
            f"%z = arith.shrsi %pr, {number(14)} : i32",
            "%g = arith.muli %z, %a3 : i32",
            "%go = arith.addi %g, %a4 : i32",
            f"%q = arith.shrsi %go, {number(node.shift)} : i32",
            f"%l = arith.maxsi %q, {number(-128)} : i32",
            f"%h = arith.minsi %l, {number(127)} : i32",
            "%y = arith.trunci %h : i32 to i8",
        ],
        (sums, rows, outer),
        (inverse, rows, outer),
        *factors,
    )
