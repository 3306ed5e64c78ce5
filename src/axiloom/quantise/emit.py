"""The integer graph as MLIR: one function on tensors, in the forms that the compiler offloads or lowers.

Weights, tables and factors are arguments with `axiloom.weight`; what one step of inputs and outputs is worth
stands in the function's attributes. Every op carries the name of its layer as its location.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from axiloom.frontend.model import WEIGHT, Model
from axiloom.quantise.graph import (
    Add,
    Bias,
    Concat,
    Constant,
    Conv,
    Embedding,
    Graph,
    Input,
    LayerNorm,
    Linear,
    MatMul,
    MaxPool,
    Node,
    Requantise,
    Reshape,
    Slice,
    Softmax,
    SumPool,
    Table,
    Transpose,
)

Array = np.ndarray[Any, Any]
Operand = tuple[str, str, str]
"""Of a generic: the value, its type, its indexing map."""

_INNER = {"half", "root", "unit", *"cdefghijlmopqrstwxyz"}
_INNER |= {f"{letter}{number}" for letter in "ap" for number in range(5)}
_INNER |= {"go", "nt", "nx", "pr", "sh", "ss", "xs", "ys"}
"""Values within bodies: what is outside has other names."""
_ELEMENTS = {"int8": "i8", "int32": "i32", "int64": "i64"}


def emit(graph: Graph) -> Model:
    """MLIR and weights of `graph`; the function has its name, as far as that is one."""
    return _Emitter(graph).model()


def tensor(shape: Sequence[int], element: str) -> str:
    """The type of a tensor."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def dims(*numbers: int) -> str:
    return ", ".join(f"d{number}" for number in numbers)


def affine(rank: int, results: str) -> str:
    return f"affine_map<({dims(*range(rank))}) -> ({results})>"


def groups(long: Sequence[int], short: Sequence[int]) -> list[list[int]] | None:
    """Which dims of the shape `long` make each of `short`, if each is a product of neighbours."""
    found: list[list[int]] = []
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
        found.append(group)
    if not found or any(size != 1 for size in long[at:]):
        return None
    found[-1].extend(range(at, len(long)))
    return found


class _Emitter:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.weights: dict[str, Array] = {}
        self.arguments: list[str] = []
        self.constants: dict[tuple[str, str], str] = {}
        self.maps: dict[str, str] = {}
        self.lines: list[str] = []
        self.values: dict[str, str] = {}
        self.used = {f"%{name}" for name in _INNER}
        self.node: Node

    def model(self) -> Model:
        for given in self.graph.inputs:
            self.values[given.name] = self._name(given.name)
            self.arguments.append(f"{self.values[given.name]}: {self._type(given)}")
        for node in self.graph.nodes:
            if not isinstance(node, Input):
                self.node = node
                self.values[node.name] = _EMIT[type(node)](self, node, *(self.values[n] for n in node.inputs))
        outputs = [self.graph[name] for name in self.graph.outputs]
        types = ", ".join(map(self._type, outputs))
        types = types if len(outputs) == 1 else f"({types})"
        function = re.sub(r"\W", "_", self.graph.name) or "network"
        scales = ", ".join(
            f"axiloom.{what}_scales = [{', '.join(f'{node.scale or 0.0:.17e} : f64' for node in nodes)}]"
            for what, nodes in (("input", self.graph.inputs), ("output", outputs))
        )
        head = [f"{alias} = {text}" for text, alias in self.maps.items()]
        known = [f"    {name} = arith.constant {v} : {t}" for (v, t), name in self.constants.items()]
        returned = ", ".join(self.values[name] for name in self.graph.outputs)
        text = [
            *head,
            "module {",
            f"  func.func @{function}({', '.join(self.arguments)}) -> {types} attributes {{{scales}}} {{",
            *known,
            *self.lines,
            f"    return {returned} : {', '.join(map(self._type, outputs))}",
            "  }",
            "}",
        ]
        return Model(self.graph.name, "\n".join(text) + "\n", self.weights)

    # -- pieces ------------------------------------------------------------------------------------------
    @staticmethod
    def _type(node: Node) -> str:
        return tensor(node.shape, _ELEMENTS[node.dtype])

    def _name(self, wanted: str) -> str:
        base = "%" + re.sub(r"\W", "_", wanted)
        name, number = base, 1
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        return name

    def type_of(self, number: int = 0) -> str:
        """The type of an input of the node that is being written."""
        return self._type(self.graph[self.node.inputs[number]])

    def shape_of(self, number: int = 0) -> tuple[int, ...]:
        return self.graph[self.node.inputs[number]].shape

    def weight(self, suffix: str, data: Array) -> str:
        name = f"{self.node.name}.{suffix}"
        self.weights[name] = data
        value = self._name(name)
        kind = tensor(data.shape, _ELEMENTS[str(data.dtype)])
        self.arguments.append(f'{value}: {kind} {{{WEIGHT} = "{name}"}}')
        return value

    def constant(self, number: float, kind: str) -> str:
        text = f"{number:.9e}" if kind.startswith("f") else str(number)
        if (text, kind) not in self.constants:
            self.constants[text, kind] = self._name(f"c{text}_{kind}" if kind[0] != "f" else "real")
        return self.constants[text, kind]

    def line(self, suffix: str, op: str) -> str:
        """One op with a result, named after its node."""
        value = self._name(f"{self.node.name}.{suffix}" if suffix else self.node.name)
        self.lines.append(f'    {value} = {op} loc("{self.node.name}")')
        return value

    def empty(self, shape: Sequence[int], element: str) -> str:
        return self.line("empty", f"tensor.empty() : {tensor(shape, element)}")

    def fill(self, shape: Sequence[int], element: str, number: int = 0) -> str:
        kind = tensor(shape, element)
        value, into = self.constant(number, element), self.empty(shape, element)
        return self.line("start", f"linalg.fill ins({value} : {element}) outs({into} : {kind}) -> {kind}")

    def map(self, rank: int, results: str) -> str:
        text = affine(rank, results)
        return self.maps.setdefault(text, f"#map{len(self.maps)}")

    def same(self, rank: int) -> str:
        return self.map(rank, dims(*range(rank)))

    def generic(
        self,
        suffix: str,
        ins: Sequence[Operand],
        out: Operand,
        body: Sequence[str],
        *,
        reduced: Sequence[int] = (),
        rank: int,
    ) -> str:
        """A linalg.generic. In `body`, %a0, %a1, ... are its inputs, %o its output, the last line's value
        is what it yields."""
        value, kind, indexing = out
        maps = ", ".join([m for _, _, m in ins] + [indexing])
        loops = ", ".join(f'"{"reduction" if loop in reduced else "parallel"}"' for loop in range(rank))
        operands = ", ".join(name for name, _, _ in ins)
        types = ", ".join(t for _, t, _ in ins)
        scalars = [f"%a{number}: {_element(t)}" for number, (_, t, _) in enumerate(ins)]
        result = body[-1].split(" = ")[0] if body else "%a0"
        given = f" ins({operands} : {types})" if ins else ""
        lines = [
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}{given} "
            f"outs({value} : {kind}) {{",
            f"    ^bb0({', '.join([*scalars, f'%o: {_element(kind)}'])}):",
            *(f"      {text}" for text in body),
            f"      linalg.yield {result} : {_element(kind)}",
            f"    }} -> {kind}",
        ]
        return self.line(suffix, "\n".join(lines))

    def elementwise(self, x: str, body: Sequence[str], *more: Operand) -> str:
        """The node's int8 value, of its first input element by element."""
        rank = len(self.node.shape)
        into = (self.empty(self.node.shape, "i8"), self._type(self.node), self.same(rank))
        return self.generic("", [(x, self.type_of(), self.same(rank)), *more], into, body, rank=rank)

    def padded(self, x: str, padding: tuple[int, int], number: int) -> tuple[str, str]:
        """x (b, c, h, w) with `number` around its rows and columns, and the type of that."""
        rows, columns = padding
        b, c, h, w = self.shape_of()
        if padding == (0, 0):
            return x, self.type_of()
        kind = tensor((b, c, h + 2 * rows, w + 2 * columns), "i8")
        edge = f"[0, 0, {rows}, {columns}]"
        value = self.constant(number, "i8")
        text = (
            f"tensor.pad {x} low{edge} high{edge} {{\n"
            "    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):\n"
            f"      tensor.yield {value} : i8\n"
            f"    }} : {self.type_of()} to {kind}"
        )
        return self.line("padded", text), kind


def _element(kind: str) -> str:
    """Element type of a tensor type."""
    return kind.removeprefix("tensor<").removesuffix(">").rpartition("x")[2]


def _constant(emitter: _Emitter, node: Constant) -> str:
    return emitter.weight("constant", node.data)


def _conv(emitter: _Emitter, node: Conv, x: str) -> str:
    image, image_type = emitter.padded(x, node.padding, 0)
    out_type = tensor(node.shape, "i32")
    (sh, sw), (dh, dw) = node.stride, node.dilation
    start = emitter.fill(node.shape, "i32")
    if node.groups == 1:
        filters = emitter.weight("weight", node.weight)
        kind = "tensor<2xi64>"
        steps = f"{{dilations = dense<[{dh}, {dw}]> : {kind}, strides = dense<[{sh}, {sw}]> : {kind}}}"
        return emitter.line(
            "",
            f"linalg.conv_2d_nchw_fchw {steps} ins({image}, {filters} : {image_type}, "
            f"{tensor(node.weight.shape, 'i8')}) outs({start} : {out_type}) -> {out_type}",
        )
    flat = np.ascontiguousarray(node.weight[:, 0])
    filters = emitter.weight("weight", flat)
    rows, columns = _step("d2", sh, "d4", dh), _step("d3", sw, "d5", dw)
    return emitter.generic(
        "",
        [
            (image, image_type, emitter.map(6, f"d0, d1, {rows}, {columns}")),
            (filters, tensor(flat.shape, "i8"), emitter.map(6, "d1, d4, d5")),
        ],
        (start, out_type, emitter.map(6, "d0, d1, d2, d3")),
        [
            "%x = arith.extsi %a0 : i8 to i32",
            "%f = arith.extsi %a1 : i8 to i32",
            "%p = arith.muli %x, %f : i32",
            "%s = arith.addi %o, %p : i32",
        ],
        reduced=(4, 5),
        rank=6,
    )


def _step(place: str, stride: int, offset: str, dilation: int) -> str:
    """``d2 * 2 + d4``"""
    return " + ".join(f"{d} * {n}" if n != 1 else d for d, n in ((place, stride), (offset, dilation)))


def _linear(emitter: _Emitter, node: Linear, x: str) -> str:
    weight = emitter.weight("weight", node.weight)
    start, kind = emitter.fill(node.shape, "i32"), tensor(node.shape, "i32")
    types = f"{emitter.type_of()}, {tensor(node.weight.shape, 'i8')}"
    return emitter.line("", f"linalg.matmul ins({x}, {weight} : {types}) outs({start} : {kind}) -> {kind}")


def _matmul(emitter: _Emitter, node: MatMul, a: str, b: str) -> str:
    start, kind = emitter.fill(node.shape, "i32"), tensor(node.shape, "i32")
    types = f"{emitter.type_of(0)}, {emitter.type_of(1)}"
    return emitter.line("", f"linalg.batch_matmul ins({a}, {b} : {types}) outs({start} : {kind}) -> {kind}")


def _sum_pool(emitter: _Emitter, node: SumPool, x: str) -> str:
    image, kind = emitter.padded(x, node.padding, 0)
    body = ["%x = arith.extsi %a0 : i8 to i32", "%s = arith.addi %o, %x : i32"]
    if node.shape[2:] == (1, 1) and node.padding == (0, 0) and node.kernel == emitter.shape_of()[2:]:
        flat = node.shape[:2]
        sums = emitter.generic(
            "flat",
            [(image, kind, emitter.same(4))],
            (emitter.fill(flat, "i32"), tensor(flat, "i32"), emitter.map(4, "d0, d1")),
            body,
            reduced=(2, 3),
            rank=4,
        )
        return _expanded(emitter, sums, flat, node.shape, "i32", "")
    window = emitter.empty(node.kernel, "i8")  # only its sizes count, as in linalg.pooling_nchw_max
    rows, columns = _step("d2", node.stride[0], "d4", 1), _step("d3", node.stride[1], "d5", 1)
    return emitter.generic(
        "",
        [
            (image, kind, emitter.map(6, f"d0, d1, {rows}, {columns}")),
            (window, tensor(node.kernel, "i8"), emitter.map(6, "d4, d5")),
        ],
        (emitter.fill(node.shape, "i32"), tensor(node.shape, "i32"), emitter.map(6, "d0, d1, d2, d3")),
        body,
        reduced=(4, 5),
        rank=6,
    )


def _bias(emitter: _Emitter, node: Bias, x: str) -> str:
    rank = len(node.shape)
    kind = tensor(node.shape, "i32")
    channel = emitter.map(rank, dims(node.axis))
    bias = (emitter.weight("bias", node.bias), tensor(node.bias.shape, "i32"), channel)
    return emitter.generic(
        "",
        [(x, kind, emitter.same(rank)), bias],
        (emitter.empty(node.shape, "i32"), kind, emitter.same(rank)),
        ["%s = arith.addi %a0, %a1 : i32"],
        rank=rank,
    )


def _requantise(emitter: _Emitter, node: Requantise, x: str) -> str:
    channel = emitter.map(len(node.shape), dims(node.axis))
    more = [
        (emitter.weight(what, data), tensor(data.shape, "i32"), channel)
        for what, data in (("bias", node.bias), ("multiplier", node.multiplier), ("shift", node.shift))
    ]
    one, zero = emitter.constant(1, "i64"), emitter.constant(0, "i64")
    lo, hi = emitter.constant(node.lo, "i64"), emitter.constant(node.hi, "i64")
    return emitter.elementwise(
        x,
        [
            "%s = arith.addi %a0, %a1 : i32",
            "%w = arith.extsi %s : i32 to i64",
            "%m = arith.extui %a2 : i32 to i64",
            "%p = arith.muli %w, %m : i64",
            "%sh = arith.extui %a3 : i32 to i64",
            f"%unit = arith.shli {one}, %sh : i64",
            f"%half = arith.shrui %unit, {one} : i64",
            "%r = arith.addi %p, %half : i64",
            "%q = arith.shrsi %r, %sh : i64",
            f"%z = arith.addi %q, {zero} : i64",
            f"%l = arith.maxsi %z, {lo} : i64",
            f"%h = arith.minsi %l, {hi} : i64",
            "%y = arith.trunci %h : i64 to i8",
        ],
        *more,
    )


def _add(emitter: _Emitter, node: Add, a: str, b: str) -> str:
    rank, small = len(node.shape), emitter.shape_of(1)
    first = rank - len(small)
    places = [f"d{first + dim}" if size == node.shape[first + dim] else "0" for dim, size in enumerate(small)]

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
        (b, emitter.type_of(1), emitter.map(rank, ", ".join(places))),
    )


def _table(emitter: _Emitter, node: Table, x: str) -> str:
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


def _max_pool(emitter: _Emitter, node: MaxPool, x: str) -> str:
    image, image_type = emitter.padded(x, node.padding, -128)
    kind = tensor(node.shape, "i8")
    start, window = emitter.fill(node.shape, "i8", -128), emitter.empty(node.kernel, "i8")
    steps = f"dilations = dense<1> : tensor<2xi64>, strides = dense<[{node.stride[0]}, {node.stride[1]}]>"
    return emitter.line(
        "",
        f"linalg.pooling_nchw_max {{{steps} : tensor<2xi64>}} ins({image}, {window} : {image_type}, "
        f"{tensor(node.kernel, 'i8')}) outs({start} : {kind}) -> {kind}",
    )


def _rows(
    emitter: _Emitter, suffix: str, x: Operand, start: int, body: Sequence[str], element: str
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


def _softmax(emitter: _Emitter, node: Softmax, x: str) -> str:
    rank = len(node.shape)
    inner, whole = emitter.same(rank - 1), emitter.same(rank)
    given = (x, emitter.type_of(), whole)
    largest = _rows(emitter, "max", given, -128, ["%m = arith.maxsi %o, %a0 : i8"], "i8")
    values = emitter.weight("table", node.table)
    wide = tensor(node.shape, "i32")
    powers = emitter.generic(
        "exp",
        [given, largest],
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


def _layer_norm(emitter: _Emitter, node: LayerNorm, x: str) -> str:
    rank, n = len(node.shape), node.shape[-1]
    inner, whole = emitter.same(rank - 1), emitter.same(rank)
    given = (x, emitter.type_of(), whole)
    wide = "%x = arith.extsi %a0 : i8 to i32"
    sums, rows, outer = _rows(emitter, "sum", given, 0, [wide, "%s = arith.addi %o, %x : i32"], "i32")
    square = [wide, "%p = arith.muli %x, %x : i32", "%s = arith.addi %o, %p : i32"]
    squares = _rows(emitter, "squares", given, 0, square, "i32")[0]
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


def _embedding(emitter: _Emitter, node: Embedding, indices: str) -> str:
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


def _expanded(
    emitter: _Emitter, x: str, short: Sequence[int], shape: Sequence[int], element: str, suffix: str
) -> str:
    together = groups(shape, short)
    assert together is not None
    return emitter.line(
        suffix,
        f"tensor.expand_shape {x} {together} output_shape {list(shape)} : "
        f"{tensor(short, element)} into {tensor(shape, element)}",
    )


def _collapsed(
    emitter: _Emitter, x: str, shape: Sequence[int], short: Sequence[int], element: str, suffix: str
) -> str:
    together = groups(shape, short)
    assert together is not None
    return emitter.line(
        suffix,
        f"tensor.collapse_shape {x} {together} : {tensor(shape, element)} into {tensor(short, element)}",
    )


def _reshape(emitter: _Emitter, node: Reshape, x: str) -> str:
    before, after, element = emitter.shape_of(), node.shape, _ELEMENTS[node.dtype]
    if before == after:
        return x  # only the scale is another
    if len(before) > len(after) and groups(before, after) is not None:
        return _collapsed(emitter, x, before, after, element, "")
    if len(before) < len(after) and groups(after, before) is not None:
        return _expanded(emitter, x, before, after, element, "")
    flat = (math.prod(before),)
    if len(before) > 1:
        x = _collapsed(emitter, x, before, flat, element, "flat")
    return x if after == flat else _expanded(emitter, x, flat, after, element, "")


def _transpose(emitter: _Emitter, node: Transpose, x: str) -> str:
    into = emitter.empty(node.shape, _ELEMENTS[node.dtype])
    return emitter.line(
        "",
        f"linalg.transpose ins({x} : {emitter.type_of()}) outs({into} : {emitter._type(node)}) "
        f"permutation = {list(node.permutation)}",
    )


def _slice(emitter: _Emitter, node: Slice, x: str) -> str:
    places = f"{list(node.offsets)} {list(node.shape)} {list(node.strides)}"
    return emitter.line(
        "", f"tensor.extract_slice {x}{places} : {emitter.type_of()} to {emitter._type(node)}"
    )


def _concat(emitter: _Emitter, node: Concat, *parts: str) -> str:
    types = ", ".join(emitter.type_of(number) for number in range(len(parts)))
    return emitter.line(
        "", f"tensor.concat dim({node.axis}) {', '.join(parts)} : ({types}) -> {emitter._type(node)}"
    )


_EMIT: dict[type[Node], Callable[..., str]] = {
    Constant: _constant,
    Conv: _conv,
    Linear: _linear,
    MatMul: _matmul,
    SumPool: _sum_pool,
    Bias: _bias,
    Requantise: _requantise,
    Add: _add,
    Table: _table,
    MaxPool: _max_pool,
    Softmax: _softmax,
    LayerNorm: _layer_norm,
    Embedding: _embedding,
    Reshape: _reshape,
    Transpose: _transpose,
    Slice: _slice,
    Concat: _concat,
}
