"""Networks in unusual but legal forms, as text in MLIR: offloaded, or left on the CPU, but always right.

:data:`FORMS` has them by what is unusual. Each is a function of a :class:`Graph` that grows op by op; sizes
are no multiples of a tile. Products are written as einsum writes them, with the order of the loops beside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from axiloom.base.attributes import WEIGHT
from axiloom.read.context.model import Model

SIZES = {"m": 9, "k": 20, "n": 13, "b": 2, "h": 3, "p": 11}


class Value(NamedTuple):
    """A tensor of the graph."""

    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}>"


@dataclass
class Graph:
    """A function on tensors that is being written."""

    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    weights: dict[str, np.ndarray] = field(default_factory=dict)  # type: ignore[type-arg]
    count: int = 0

    def _name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def input(self, *shape: int, element: str = "i8") -> Value:
        value = Value(self._name(), shape, element)
        self.arguments.append(f"{value.name}: {value.type}")
        return value

    def weight(self, *shape: int, element: str = "i8") -> Value:
        label = f"w{len(self.weights)}"
        value = Value(self._name(), shape, element)
        dtype = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32}[element]
        numbers = np.random.default_rng(self.count).integers(-100, 100, shape)
        self.weights[label] = numbers.astype(dtype)
        self.arguments.append(f'{value.name}: {value.type} {{{WEIGHT} = "{label}"}}')
        return value

    def op(self, text: str, shape: Sequence[int], element: str) -> Value:
        value = Value(self._name(), tuple(shape), element)
        self.lines.append(f"  {value.name} = {text}")
        return value

    def empty(self, shape: Sequence[int], element: str) -> Value:
        return self.op(f"tensor.empty() : {Value('', tuple(shape), element).type}", shape, element)

    def zeros(self, shape: Sequence[int], element: str) -> Value:
        zero = self.op(f"arith.constant {'0.0' if element == 'f32' else 0} : {element}", (), element)
        out = self.empty(shape, element)
        text = f"linalg.fill ins({zero.name} : {element}) outs({out.name} : {out.type}) -> {out.type}"
        return self.op(text, shape, element)

    def generic(
        self,
        maps: Sequence[str],
        loops: str,
        reduced: str,
        ins: Sequence[Value],
        out: Value,
        body: Sequence[str],
    ) -> Value:
        """linalg.generic with `loops` outermost first; the last line of `body` gives %r, what it yields.

        `maps` are of `ins` and `out`: a letter a dim, or affine expressions of them between commas.
        """
        parts = [text if "," in text else ", ".join(text) for text in maps]
        affine = ", ".join(f"affine_map<({', '.join(loops)}) -> ({part})>" for part in parts)
        kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
        scalars = [f"%a{number}: {value.element}" for number, value in enumerate(ins)]
        lines = [
            f"linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} "
            f"ins({', '.join(v.name for v in ins)} : {', '.join(v.type for v in ins)}) "
            f"outs({out.name} : {out.type}) {{",
            f"  ^bb0({', '.join([*scalars, f'%o: {out.element}'])}):",
            *(f"    {line}" for line in body),
            f"    linalg.yield %r : {out.element}",
            f"  }} -> {out.type}",
        ]
        return self.op("\n".join(lines), out.shape, out.element)

    def einsum(
        self,
        spec: str,
        loops: str,
        a: Value,
        b: Value,
        *,
        sums: str = "i32",
        start: Value | None = None,
        product_first: bool = False,
        extend: str = "extsi",
        join: str = "addi",
    ) -> Value:
        """The sums of products of ``mk,kn->mn``, `loops` in this order."""
        ins, result = spec.split("->")
        sizes = {}
        for letters, value in zip(ins.split(","), (a, b), strict=True):
            sizes |= dict(zip(letters, value.shape, strict=True))
        out = start or self.zeros([sizes[letter] for letter in result], sums)
        order = "%p, %o" if product_first else "%o, %p"
        body = [
            f"%x = arith.{extend} %a0 : {a.element} to {sums}",
            f"%y = arith.{extend} %a1 : {b.element} to {sums}",
            f"%p = arith.muli %x, %y : {sums}",
            f"%r = arith.{join} {order} : {sums}",
        ]
        return self.generic(
            [*ins.split(","), result], loops, "".join(set(loops) - set(result)), [a, b], out, body
        )

    def narrowed(self, value: Value, read: str | None = None, shift: int = 6) -> Value:
        """int8 of sums, shifted and saturated; `read` turns the result: letters of `value` for ``abc...``."""
        letters = "abcde"[: len(value.shape)]
        read = read or letters
        shape = [value.shape[read.index(letter)] for letter in letters]
        kind = value.element
        body = [
            f"%s = arith.constant {shift} : {kind}",
            f"%lo = arith.constant -128 : {kind}",
            f"%hi = arith.constant 127 : {kind}",
            f"%q = arith.shrsi %a0, %s : {kind}",
            f"%l = arith.maxsi %q, %lo : {kind}",
            f"%h = arith.minsi %l, %hi : {kind}",
            f"%r = arith.trunci %h : {kind} to i8",
        ]
        return self.generic([read, letters], letters, "", [value], self.empty(shape, "i8"), body)

    def biased(self, value: Value, bias: Value, read: str, join: str = "addi") -> Value:
        """`value` with a bias whose dims are `read`, letters of ``a, b, ...`` or 0."""
        letters = "abcde"[: len(value.shape)]
        body = [f"%r = arith.{join} %a0, %a1 : {value.element}"]
        return self.generic(
            [letters, read, letters], letters, "", [value, bias], self.empty(value.shape, value.element), body
        )

    def view(self, value: Value, shape: Sequence[int], groups: str) -> Value:
        """A reshape that puts dims together, or takes them apart."""
        reshaped = Value("", tuple(shape), value.element)
        if len(shape) < len(value.shape):
            return self.op(
                f"tensor.collapse_shape {value.name} {groups} : {value.type} into {reshaped.type}",
                shape,
                value.element,
            )
        return self.op(
            f"tensor.expand_shape {value.name} {groups} output_shape {list(shape)} : "
            f"{value.type} into {reshaped.type}",
            shape,
            value.element,
        )

    def transposed(self, value: Value, *permutation: int) -> Value:
        out = self.empty([value.shape[dim] for dim in permutation], value.element)
        return self.op(
            f"linalg.transpose ins({value.name} : {value.type}) outs({out.name} : {out.type}) "
            f"permutation = {list(permutation)}",
            out.shape,
            out.element,
        )

    def model(self, name: str, *results: Value) -> Model:
        types = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        body = "\n".join(self.lines)
        text = (
            f"func.func @net({', '.join(self.arguments)}) -> ({types}) {{\n"
            f"{body}\n  return {names} : {types}\n}}\n"
        )
        return Model(name, text, self.weights)


def _sized(graph: Graph, letters: str, *, weight: bool = False, element: str = "i8") -> Value:
    make = graph.weight if weight else graph.input
    return make(*(SIZES[letter] for letter in letters), element=element)


def _product(spec: str, loops: str, *, element: str = "i8", **how: str | bool) -> Callable[[Graph], Value]:
    """One product of the input with a weight; the input is the operand with `m` in it."""

    def form(graph: Graph) -> Value:
        first, second = spec.split("->")[0].split(",")
        a = _sized(graph, first, weight="m" not in first, element=element)
        b = _sized(graph, second, weight="m" in first, element=element)
        return graph.einsum(spec, loops, a, b, **how)  # type: ignore[arg-type]

    return form


def _plain(graph: Graph) -> Value:
    return graph.einsum("mk,kn->mn", "mnk", _sized(graph, "mk"), _sized(graph, "kn", weight=True))


def _bias(shape: str, read: str, join: str = "addi") -> Callable[[Graph], Value]:
    def form(graph: Graph) -> Value:
        sums = _plain(graph)
        sizes = [1 if letter == "1" else SIZES[letter] for letter in shape]
        return graph.narrowed(graph.biased(sums, graph.weight(*sizes, element="i32"), read, join))

    return form


def _bias_to_begin_with(graph: Graph) -> Value:
    a, b = _sized(graph, "mk"), _sized(graph, "kn", weight=True)
    bias, out = graph.weight(SIZES["n"], element="i32"), graph.empty((SIZES["m"], SIZES["n"]), "i32")
    start = graph.op(
        f"linalg.broadcast ins({bias.name} : {bias.type}) outs({out.name} : {out.type}) dimensions = [0]",
        out.shape,
        "i32",
    )
    return graph.einsum("mk,kn->mn", "mnk", a, b, start=start)


def _turned_between(graph: Graph) -> Value:
    first = graph.narrowed(_plain(graph), read="ba")
    return graph.einsum("nm,mp->np", "pnm", first, _sized(graph, "mp", weight=True))


def _transpose_between(graph: Graph) -> Value:
    first = graph.transposed(graph.narrowed(_plain(graph)), 1, 0)
    return graph.einsum("nm,mp->np", "npm", first, _sized(graph, "mp", weight=True))


def _reshapes_between(graph: Graph) -> Value:
    x = graph.view(graph.input(3, 4, 15), (12, 15), "[[0, 1], [2]]")
    first = graph.narrowed(graph.einsum("ij,jk->ik", "ikj", x, graph.weight(15, 14)))
    apart = graph.view(first, (3, 4, 14), "[[0, 1], [2]]")
    again = graph.view(apart, (3, 56), "[[0], [1, 2]]")
    return graph.einsum("ij,jk->ik", "jik", again, graph.weight(56, 9))


def _slices(graph: Graph) -> Value:
    x = graph.input(11, 30)
    wanted = Value("", (9, 20), "i8")
    part = graph.op(
        f"tensor.extract_slice {x.name}[1, 5] [9, 20] [1, 1] : {x.type} to {wanted.type}", (9, 20), "i8"
    )
    return graph.einsum("mk,kn->mn", "mnk", part, _sized(graph, "kn", weight=True))


def _padding(graph: Graph) -> Value:
    x = graph.input(8, 17)
    three = graph.op("arith.constant 3 : i8", (), "i8")
    text = (
        f"tensor.pad {x.name} low[1, 0] high[0, 3] {{\n  ^bb0(%i: index, %j: index):\n"
        f"    tensor.yield {three.name} : i8\n  }} : {x.type} to tensor<9x20xi8>"
    )
    part = graph.op(text, (9, 20), "i8")
    return graph.einsum("mk,kn->mn", "mnk", part, _sized(graph, "kn", weight=True))


def _parts(graph: Graph) -> Value:
    a, b = graph.input(9, 12), graph.input(9, 8)
    both = graph.op(
        f"tensor.concat dim(1) {a.name}, {b.name} : ({a.type}, {b.type}) -> tensor<9x20xi8>", (9, 20), "i8"
    )
    return graph.einsum("mk,kn->mn", "nmk", both, _sized(graph, "kn", weight=True))


def _cast_apart(graph: Graph) -> Value:
    """Operands widened by ops of their own, and then a named product of int32."""
    wide = []
    for value in (_sized(graph, "mk"), _sized(graph, "kn", weight=True)):
        body = ["%r = arith.extsi %a0 : i8 to i32"]
        wide.append(graph.generic(["ab", "ab"], "ab", "", [value], graph.empty(value.shape, "i32"), body))
    a, b = wide
    out = graph.zeros((SIZES["m"], SIZES["n"]), "i32")
    return graph.op(
        f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) "
        f"outs({out.name} : {out.type}) -> {out.type}",
        out.shape,
        "i32",
    )


def _scores(graph: Graph) -> Value:
    """Scores of attention, both operands computed, two dims of batch in different places."""
    q, k = graph.input(2, 5, 3, 8), graph.input(2, 6, 3, 8)
    return graph.einsum("bqhd,bkhd->bhqk", "bqhkd", q, k)


def _conv(
    maps: str, loops: str, image: Sequence[int], filters: Sequence[int], out: Sequence[int]
) -> Callable[[Graph], Value]:
    def form(graph: Graph) -> Value:
        x, f = graph.input(*image), graph.weight(*filters)
        *ins, result = maps.split(" | ")
        body = [
            "%x = arith.extsi %a0 : i8 to i32",
            "%y = arith.extsi %a1 : i8 to i32",
            "%p = arith.muli %x, %y : i32",
            "%r = arith.addi %o, %p : i32",
        ]
        reduced = "".join(set(loops) - set(result))
        return graph.generic([*ins, result], loops, reduced, [x, f], graph.zeros(out, "i32"), body)

    return form


def _shared(graph: Graph) -> Value:
    """One value that two products and a sum read."""
    x = graph.narrowed(graph.einsum("ij,jk->ik", "ikj", graph.input(9, 12), graph.weight(12, 12)))
    first = graph.einsum("ij,jk->ik", "kij", x, graph.weight(12, 12))
    second = graph.einsum("ij,kj->ik", "ikj", x, graph.weight(12, 12))
    return graph.biased(first, second, "ab")


FORMS: dict[str, Callable[[Graph], Value]] = {
    "loops n, k, m; operands swapped": _product("kn,mk->mn", "nkm"),
    "weight transposed, loops k, n, m": _product("mk,nk->mn", "knm"),
    "input transposed": _product("km,kn->mn", "mnk", product_first=True),
    "both transposed, result transposed": _product("km,nk->nm", "nmk"),
    "other names of loops, product added first": _product("hm,hp->mp", "pmh", product_first=True),
    "sums of 64 bits": _product("mk,kn->mn", "mnk", sums="i64"),
    "matrix times vector": _product("mk,k->m", "km"),
    "vector of one row": _product("bmk,kn->bmn", "bmnk"),
    "a batch in the last place": _product("mkb,knb->mnb", "bmnk"),
    "a batch of both, loops k first": _product("bmk,bkn->bmn", "kbmn"),
    "scores of attention, heads in the middle": _scores,
    "bias of a row": _bias("n", "b"),
    "bias of a column": _bias("m", "a"),
    "bias of 1 x n by a map with 0": _bias("1n", "0, b"),
    "sums taken from a bias": _bias("n", "b", "subi"),
    "bias that the sums begin with": _bias_to_begin_with,
    "result turned by the rounding between": _turned_between,
    "a transposition between": _transpose_between,
    "reshapes between": _reshapes_between,
    "a slice of the input": _slices,
    "padding with 3": _padding,
    "two inputs side by side": _parts,
    "operands widened apart": _cast_apart,
    "one value read three times": _shared,
    "convolution, loops of the filter outside": _conv(
        "b, c, y * 2 + i, x * 2 + j | o, c, i, j | b, o, y, x",
        "ijcboyx",
        (1, 6, 11, 11),
        (8, 6, 3, 3),
        (1, 8, 5, 5),
    ),
    "convolution, channels last": _conv(
        "b, y + i, x + j, c | i, j, c, o | b, y, x, o", "byxoijc", (1, 8, 8, 6), (3, 3, 6, 8), (1, 6, 6, 8)
    ),
    "convolution, dilation before the place": _conv(
        "b, c, i * 2 + y, j * 2 + x | o, c, i, j | b, o, y, x",
        "boyxcij",
        (1, 5, 9, 9),
        (7, 5, 3, 3),
        (1, 7, 5, 5),
    ),
    "convolution of 1 x 1 in five loops": _conv(
        "b, c, y, x | o, c | b, o, y, x", "boyxc", (1, 9, 6, 6), (10, 9), (1, 10, 6, 6)
    ),
    "convolution, a filter a channel": _conv(
        "b, c, y + i, x + j | c, i, j | b, c, y, x", "bcyxij", (1, 6, 8, 8), (6, 3, 3), (1, 6, 6, 6)
    ),
    "nearly a product: unsigned": _product("mk,kn->mn", "mnk", extend="extui"),
    "nearly a product: sums subtracted": _product("mk,kn->mn", "mnk", join="subi"),
    "nearly a product: the largest product": _product("mk,kn->mn", "mnk", join="maxsi"),
    "a product of int16": _product("mk,kn->mn", "mnk", element="i16"),
}
