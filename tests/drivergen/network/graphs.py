"""Random networks, legal but written as nobody would: what the compiler must not be confused by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from axiloom.read.context.model import Model


@dataclass
class Text:
    """A function that grows op by op; `values` are what later ops may use: name, shape, element type."""

    inputs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, tuple[int, ...], str]] = field(default_factory=list)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def add(self, line: str, shape: tuple[int, ...], element: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {line}")
        self.values.append((name, shape, element))
        return name

    def empty(self, shape: tuple[int, ...], element: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = tensor.empty() : {kind(shape, element)}")
        return name

    def filled(self, shape: tuple[int, ...], element: str) -> str:
        zero, name = self.name(), self.name()
        self.lines.append(f"  {zero} = arith.constant 0 : {element}")
        empty = self.empty(shape, element)
        t = kind(shape, element)
        self.lines.append(f"  {name} = linalg.fill ins({zero} : {element}) outs({empty} : {t}) -> {t}")
        return name


def kind(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def maps(*lists: tuple[int, ...], loops: int) -> str:
    dims = ", ".join(f"d{i}" for i in range(loops))
    texts = [f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in one)})>" for one in lists]
    return f"[{', '.join(texts)}]"


def kinds(letters: str) -> str:
    words = {"p": '"parallel"', "r": '"reduction"'}
    return f"[{', '.join(words[letter] for letter in letters)}]"


SIZES = st.integers(1, 6)


@st.composite
def products(draw: st.DrawFn, text: Text, value: tuple[str, tuple[int, ...], str]) -> None:
    """value (M, K) i8 times a weight: loops and operands in any order, maybe transposed."""
    name, (M, K), _ = value
    N = draw(SIZES)
    turned = draw(st.booleans())
    weight = np.random.default_rng(text.count).integers(-128, 128, (N, K) if turned else (K, N), np.int8)
    label = f"w{len(text.weights)}"
    text.weights[label] = weight
    text.inputs.append(f'%{label}: {kind(weight.shape, "i8")} {{axiloom.weight = "{label}"}}')
    order = draw(st.permutations("mnk"))
    at = {letter: order.index(letter) for letter in "mnk"}
    a, b = (at["m"], at["k"]), (at["n"], at["k"]) if turned else (at["k"], at["n"])
    swapped, folded = draw(st.booleans()), draw(st.booleans())
    wide = "i32" if folded else "i64"
    start = text.filled((M, N), wide)
    operands = [(name, kind((M, K), "i8"), a), (f"%{label}", kind(weight.shape, "i8"), b)]
    operands = operands[::-1] if swapped else operands
    total = kind((M, N), wide)
    iterators = kinds("".join("r" if letter == "k" else "p" for letter in order))
    where = maps(operands[0][2], operands[1][2], (at["m"], at["n"]), loops=3)
    found = text.add(
        f"linalg.generic {{indexing_maps = {where}, iterator_types = {iterators}}} "
        f"ins({operands[0][0]}, {operands[1][0]} : {operands[0][1]}, {operands[1][1]}) "
        f"outs({start} : {total}) {{\n"
        f"  ^bb0(%a: i8, %b: i8, %c: {wide}):\n"
        f"    %x = arith.extsi %a : i8 to {wide}\n    %y = arith.extsi %b : i8 to {wide}\n"
        f"    %p = arith.muli {'%y, %x' if swapped else '%x, %y'} : {wide}\n"
        f"    %s = arith.addi {'%p, %c' if turned else '%c, %p'} : {wide}\n"
        f"    linalg.yield %s : {wide}\n  }} -> {total}",
        (M, N),
        wide,
    )
    text.values.pop()
    back = draw(st.booleans())
    shape, read = ((N, M), (1, 0)) if back else ((M, N), (0, 1))
    out = text.empty(shape, "i8")
    narrow = "arith.trunci %a : i64 to i32" if wide == "i64" else "arith.addi %a, %z : i32"
    text.add(
        f"linalg.generic {{indexing_maps = {maps(read, (0, 1), loops=2)}, iterator_types = {kinds('pp')}}} "
        f"ins({found} : {total}) outs({out} : {kind(shape, 'i8')}) {{\n"
        f"  ^bb0(%a: {wide}, %o: i8):\n    %z = arith.constant 0 : i32\n    %n = {narrow}\n"
        f"    %t = arith.trunci %n : i32 to i8\n"
        f"    linalg.yield %t : i8\n  }} -> {kind(shape, 'i8')}",
        shape,
        "i8",
    )


@st.composite
def moves(draw: st.DrawFn, text: Text, value: tuple[str, tuple[int, ...], str]) -> None:
    """A transposition, a reshape there and back, a slice with another part behind it, or padding."""
    name, (M, K), element = value
    what = draw(st.sampled_from(["transpose", "reshape", "rotate", "pad", "concat"]))
    t = kind((M, K), element)
    if what == "transpose":
        empty = text.empty((K, M), element)
        other = kind((K, M), element)
        text.add(
            f"linalg.transpose ins({name} : {t}) outs({empty} : {other}) permutation = [1, 0]",
            (K, M),
            element,
        )
    elif what == "reshape":
        wide = kind((M, 1, K), element)
        between = text.add(
            f"tensor.expand_shape {name} [[0, 1], [2]] output_shape [{M}, 1, {K}] : {t} into {wide}",
            (),
            element,
        )
        text.values.pop()
        text.add(f"tensor.collapse_shape {between} [[0], [1, 2]] : {wide} into {t}", (M, K), element)
    elif what == "rotate" and M > 1:
        first, rest = kind((1, K), element), kind((M - 1, K), element)
        a = text.add(f"tensor.extract_slice {name}[0, 0] [1, {K}] [1, 1] : {t} to {first}", (), element)
        text.values.pop()
        b = text.add(f"tensor.extract_slice {name}[1, 0] [{M - 1}, {K}] [1, 1] : {t} to {rest}", (), element)
        text.values.pop()
        text.add(f"tensor.concat dim(0) {b}, {a} : ({rest}, {first}) -> {t}", (M, K), element)
    elif what == "pad":
        zero = text.name()
        text.lines.append(f"  {zero} = arith.constant {draw(st.integers(-128, 127))} : {element}")
        low, high = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        shape = (M + low, K + high)
        text.add(
            f"tensor.pad {name} low[{low}, 0] high[0, {high}] {{\n  ^bb0(%i: index, %j: index):\n"
            f"    tensor.yield {zero} : {element}\n  }} : {t} to {kind(shape, element)}",
            shape,
            element,
        )
    else:
        text.add(
            f"tensor.concat dim(1) {name}, {name} : ({t}, {t}) -> {kind((M, 2 * K), element)}",
            (M, 2 * K),
            element,
        )


@st.composite
def elementwise(draw: st.DrawFn, text: Text, value: tuple[str, tuple[int, ...], str]) -> None:
    """Something with a row or a column that is broadcast, or with the value itself transposed."""
    name, (M, K), element = value
    row = draw(st.booleans())
    label = f"w{len(text.weights)}"
    text.weights[label] = np.random.default_rng(text.count).integers(-128, 128, (K if row else M,), np.int8)
    side = kind(text.weights[label].shape, "i8")
    text.inputs.append(f'%{label}: {side} {{axiloom.weight = "{label}"}}')
    how = draw(st.sampled_from(["addi", "subi", "maxsi", "minsi", "muli", "xori", "shrsi"]))
    order = draw(st.permutations([0, 1]))
    shape = (M, K)
    empty, t = text.empty(shape, element), kind(shape, element)
    where = tuple(order)
    second = "%b" if how != "shrsi" else "%three"
    text.add(
        f"linalg.generic {{indexing_maps = {maps(where, (where[1 if row else 0],), where, loops=2)}, "
        f"iterator_types = {kinds('pp')}}} ins({name}, %{label} : {t}, {side}) outs({empty} : {t}) {{\n"
        f"  ^bb0(%a: i8, %b: i8, %o: i8):\n    %three = arith.constant 3 : i8\n"
        f"    %r = arith.{how} %a, {second} : i8\n    %q = arith.addi %r, %b : i8\n"
        f"    linalg.yield %q : i8\n  }} -> {t}",
        shape,
        element,
    )


@st.composite
def models(draw: st.DrawFn) -> Model:
    """A few ops in a row, some of which start from values that others use too; up to three results."""
    M, K = draw(SIZES), draw(SIZES)
    text = Text(inputs=[f"%image: {kind((M, K), 'i8')}"], values=[("%image", (M, K), "i8")])
    for _ in range(draw(st.integers(1, 6))):
        value = draw(st.sampled_from(text.values))
        step = draw(st.sampled_from([products, products, moves, elementwise]))
        draw(step(text, value))
    results = draw(st.lists(st.sampled_from(text.values), min_size=1, max_size=3))
    types = ", ".join(kind(shape, element) for _, shape, element in results)
    names = ", ".join(name for name, _, _ in results)
    body = "\n".join(text.lines)
    mlir = (
        f"func.func @net({', '.join(text.inputs)}) -> ({types}) {{\n{body}\n"
        f"  func.return {names} : {types}\n}}\n"
    )
    return Model("random.mlir", mlir, text.weights)
