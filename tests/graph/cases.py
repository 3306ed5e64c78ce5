"""Random small cases of every operation: operands' types with attributes that go together, and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from axiloom.graph import Attribute, Type
from axiloom.graph.numbers import number

Array = NDArray[Any]
Case = tuple[list[Type], dict[str, Attribute]]
Draw = Callable[[st.SearchStrategy[Any]], Any]

INTEGERS = ("int8", "int32", "uint8", "int64")
FLOATS = ("float32", "bfloat16")
_SIZES = st.integers(1, 4)
_SHAPES = st.lists(st.integers(1, 3), max_size=3).map(tuple)


def _same(count: int, numbers: tuple[str, ...]) -> st.SearchStrategy[Case]:
    return st.builds(lambda shape, of: ([Type(shape, of)] * count, {}), _SHAPES, st.sampled_from(numbers))


@st.composite
def _compare(draw: Draw) -> Case:
    types, _ = draw(_same(2, (*INTEGERS, *FLOATS, "bool")))
    return types, {"direction": draw(st.sampled_from(["EQ", "NE", "LT", "LE", "GT", "GE"]))}


@st.composite
def _select(draw: Draw) -> Case:
    types, _ = draw(_same(2, (*INTEGERS, *FLOATS)))
    return [Type(types[0].shape, "bool"), *types], {}


@st.composite
def _convert(draw: Draw) -> Case:
    everything = (*INTEGERS, *FLOATS, "bool", "float16", "float64")
    types, _ = draw(_same(1, everything))
    return types, {"number": draw(st.sampled_from(everything))}


@st.composite
def _splat(draw: Draw) -> Case:
    of = draw(st.sampled_from((*INTEGERS, *FLOATS)))
    value = number(of).text(draw(st.integers(0, 9)))
    return [], {"shape": draw(_SHAPES), "number": of, "value": value}


@st.composite
def _iota(draw: Draw) -> Case:
    shape = draw(st.lists(_SIZES, min_size=1, max_size=3).map(tuple))
    dimension = draw(st.integers(0, len(shape) - 1))
    return [], {"shape": shape, "number": draw(st.sampled_from((*INTEGERS, *FLOATS))), "dimension": dimension}


@st.composite
def _reshape(draw: Draw) -> Case:
    parts = draw(st.lists(st.sampled_from([1, 2, 3]), max_size=4))
    order = draw(st.permutations(parts)) if draw(st.booleans()) else parts
    return [Type(_merged(draw, parts), "int8")], {"shape": _merged(draw, list(order))}


def _merged(draw: Draw, parts: list[int]) -> tuple[int, ...]:
    """Some of the factors multiplied with their neighbours."""
    found: list[int] = []
    for one in parts:
        if found and draw(st.booleans()):
            found[-1] *= one
        else:
            found.append(one)
    return tuple(found)


@st.composite
def _transpose(draw: Draw) -> Case:
    shape = draw(_SHAPES)
    return [Type(shape, "int8")], {"permutation": tuple(draw(st.permutations(range(len(shape)))))}


@st.composite
def _broadcast(draw: Draw) -> Case:
    shape = draw(st.lists(_SIZES, max_size=4).map(tuple))
    taken = draw(st.permutations(range(len(shape))))
    dimensions = tuple(taken[: draw(st.integers(0, len(shape)))])
    sizes = tuple(1 if draw(st.booleans()) else shape[i] for i in dimensions)
    return [Type(sizes, "int8")], {"shape": shape, "dimensions": dimensions}


@st.composite
def _slice(draw: Draw) -> Case:
    shape = draw(_SHAPES)
    start = tuple(draw(st.integers(0, size)) for size in shape)
    limit = tuple(draw(st.integers(low, size)) for low, size in zip(start, shape, strict=True))
    strides = tuple(draw(st.integers(1, 3)) for _ in shape)
    return [Type(shape, "int8")], {"start": start, "limit": limit, "strides": strides}


@st.composite
def _concatenate(draw: Draw) -> Case:
    shape = draw(st.lists(_SIZES, min_size=1, max_size=3))
    along = draw(st.integers(0, len(shape) - 1))
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    types = [Type((*shape[:along], size, *shape[along + 1 :]), "int8") for size in sizes]
    return types, {"dimension": along}


@st.composite
def _pad(draw: Draw) -> Case:
    shape = draw(_SHAPES)
    interior = tuple(draw(st.integers(0, 2)) for _ in shape)
    full = [n + max(n - 1, 0) * i for n, i in zip(shape, interior, strict=True)]
    low = tuple(draw(st.integers(-1, 2)) for _ in shape)
    high = tuple(draw(st.integers(max(-2, -n - a), 2)) for n, a in zip(full, low, strict=True))
    return [Type(shape, "int8"), Type((), "int8")], {"low": low, "high": high, "interior": interior}


@st.composite
def _reverse(draw: Draw) -> Case:
    shape = draw(_SHAPES)
    return [Type(shape, "int8")], {"dimensions": _some(draw, len(shape))}


def _some(draw: Draw, rank: int) -> tuple[int, ...]:
    return tuple(draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))])


PRODUCTS = (
    ("int8", "int8", "int32"), ("int32", "int32", "int32"), ("uint8", "int8", "int32"),
    ("int8", "int8", "int8"), ("float32", "float32", "float32"), ("bfloat16", "bfloat16", "bfloat16"),
    ("bfloat16", "bfloat16", "float32"),
)  # fmt: skip


@st.composite
def _dot(draw: Draw) -> Case:
    a, b, result = draw(st.sampled_from(PRODUCTS))
    batch, contracted = (draw(st.lists(_SIZES, max_size=2)) for _ in range(2))
    sides = []
    for of in (a, b):
        rest = draw(st.lists(_SIZES, max_size=2))
        sizes = [*batch, *contracted, *rest]
        order = draw(st.permutations(range(len(sizes))))
        places = {one: i for i, one in enumerate(order)}
        count = len(batch)
        lists = [
            tuple(places[i] for i in part) for part in (range(count), range(count, count + len(contracted)))
        ]
        sides.append((Type(tuple(sizes[i] for i in order), of), lists))
    (left, (lb, lc)), (right, (rb, rc)) = sides
    given = {"lhs_batch": lb, "rhs_batch": rb, "lhs_contracting": lc, "rhs_contracting": rc, "number": result}
    return [left, right], given


DIMS = ("b01f_01io->b01f", "bf01_oi01->bf01", "b0f_0io->b0f", "01bf_i01o->b10f", "bf_io->fb")


@st.composite
def _convolution(draw: Draw) -> Case:
    dims = draw(st.sampled_from(DIMS))
    a, b, result = draw(st.sampled_from(PRODUCTS))
    groups, taken, made = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    image, rest = dims.split("_")
    kernel = rest.split("->")[0]
    rank = len(image) - 2
    window = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilation = tuple(draw(st.integers(1, 2)) for _ in range(rank))
    base = tuple(draw(st.integers(1, 2)) for _ in range(rank))
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilation, strict=True)]
    sizes = [draw(st.integers(1, 5)) for _ in range(rank)]
    padding: list[int] = []
    for size, need, apart in zip(sizes, reach, base, strict=True):
        low = draw(st.integers(-1, 2))
        least = need - low - ((size - 1) * apart + 1)
        padding += [low, draw(st.integers(max(-1, least), max(least, 2)))]
    by_letter = {"b": draw(st.integers(1, 2)), "f": taken * groups, "i": taken, "o": made * groups}
    shapes = []
    for part, spatial in ((image, sizes), (kernel, window)):
        shapes.append(tuple(spatial[int(one)] if one.isdigit() else by_letter[one] for one in part))
    return [Type(shapes[0], a), Type(shapes[1], b)], {
        "dims": dims, "strides": tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        "padding": tuple(padding), "lhs_dilation": base, "rhs_dilation": dilation,
        "feature_group_count": groups, "number": result,
    }  # fmt: skip


KINDS = ("add", "mul", "max", "min")


@st.composite
def _reduce(draw: Draw) -> Case:
    shape = draw(_SHAPES)
    kind = draw(st.sampled_from((*KINDS, "and", "or")))
    of = "bool" if kind in ("and", "or") else draw(st.sampled_from((*INTEGERS, *FLOATS)))
    return [Type(shape, of)], {"kind": kind, "dimensions": _some(draw, len(shape))}


@st.composite
def _windows(draw: Draw) -> Case:
    types, given = draw(_reduce_window())
    order = draw(st.permutations(range(len(types[0].shape))))
    given = {name: given[name] for name in ("window", "padding", "dilation", "strides")}
    # Sizes and windows go together dimension by dimension.
    shape = [0] * len(order)
    for d, dimension in enumerate(order):
        shape[dimension] = types[0].shape[d]
    of = types[0].number
    value = number(of).text(draw(st.integers(0, 1)))
    return [Type(tuple(shape), of)], {**given, "dimensions": tuple(order), "value": value}


@st.composite
def _reduce_window(draw: Draw) -> Case:
    shape = draw(st.lists(st.integers(1, 4), max_size=3).map(tuple))
    window = tuple(draw(st.integers(1, 3)) for _ in shape)
    dilation = tuple(draw(st.integers(1, 2)) for _ in shape)
    padding: list[int] = []
    for size, k, apart in zip(shape, window, dilation, strict=True):
        low = draw(st.integers(0, 2))
        least = (k - 1) * apart + 1 - low - size
        padding += [low, draw(st.integers(max(-1, least), max(least, 2)))]
    given = {
        "kind": draw(st.sampled_from(KINDS)), "window": window, "padding": tuple(padding),
        "dilation": dilation, "strides": tuple(draw(st.integers(1, 2)) for _ in shape),
    }  # fmt: skip
    return [Type(shape, draw(st.sampled_from((*INTEGERS, *FLOATS))))], given


@st.composite
def _take(draw: Draw) -> Case:
    table = draw(st.lists(_SIZES, min_size=1, max_size=3).map(tuple))
    return [Type(table, "int8"), Type(draw(_SHAPES), draw(st.sampled_from(("int8", "int32"))))], {}


@st.composite
def _dense(draw: Draw) -> Case:
    a, b, result = draw(st.sampled_from(PRODUCTS))
    k = draw(_SIZES)
    return [Type((*draw(_SHAPES), k), a), Type((draw(_SIZES), k), b)], {"number": result}


@st.composite
def _along(draw: Draw, vectors: int, numbers: tuple[str, ...]) -> Case:
    shape = draw(st.lists(_SIZES, min_size=1, max_size=3).map(tuple))
    dimension, of = draw(st.integers(0, len(shape) - 1)), draw(st.sampled_from(numbers))
    return [Type(shape, of), *[Type((shape[dimension],), of)] * vectors], {"dimension": dimension}


@st.composite
def _layer_norm(draw: Draw) -> Case:
    shape = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple))
    of = draw(st.sampled_from(FLOATS))
    return [Type(shape, of), *[Type(shape[-1:], of)] * 2], {"epsilon": "1e-05"}


@st.composite
def _lstm(draw: Draw, sequence: bool) -> Case:
    batch, width, hidden = (draw(st.integers(1, 2)) for _ in range(3))
    x = (*([draw(st.integers(1, 2))] if sequence else []), batch, width)
    shapes = [x, (batch, hidden), (batch, hidden), (4 * hidden, width), (4 * hidden, hidden), (4 * hidden,)]
    return [Type(shape, "float32") for shape in shapes], {}


@st.composite
def _requantise(draw: Draw) -> Case:
    types, given = draw(_along(3, ("int32",)))
    low, high = sorted((draw(st.integers(-128, 127)), draw(st.integers(-128, 127))))
    return types, {**given, "zero": draw(st.integers(-128, 127)), "low": low, "high": high}


def _ends(draw: Draw) -> dict[str, Attribute]:
    low, high = sorted(draw(st.integers(-128, 127)) for _ in range(2))
    return {"low": low, "high": high}


@st.composite
def _requantise_shift(draw: Draw) -> Case:
    types, given = draw(_along(1, ("int32",)))
    return types, {**given, "shift": draw(st.integers(0, 31)), **_ends(draw)}


@st.composite
def _scaled(draw: Draw, *factors: str, ends: bool = False) -> Case:
    """Two int8, the second broadcast."""
    shape = draw(_SHAPES)
    second = [draw(st.sampled_from((1, size))) for size in shape][draw(st.integers(0, len(shape))) :]
    given: dict[str, Attribute] = {name: draw(st.integers(-70000, 70000)) for name in factors}
    given["shift"] = draw(st.integers(0, 24))
    return [Type(shape, "int8"), Type(tuple(second), "int8")], {**given, **(_ends(draw) if ends else {})}


@st.composite
def _of_rows(draw: Draw, vectors: int) -> Case:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    given: dict[str, Attribute] = {"shift": draw(st.integers(0, 30))}
    if vectors == 1:
        given["numerator"] = draw(st.integers(1, 1 << 30))
        return [Type(shape, "int8"), Type((256,), "int32")], given
    given["epsilon"] = number("float32").text(draw(st.floats(1e-4, 1e4)))
    return [Type(shape, "int8"), *[Type(shape[-1:], "int32")] * 2], given


@st.composite
def _sum_pool(draw: Draw) -> Case:
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 2)), *(draw(st.integers(1, 5)) for _ in range(2)))
    padding = tuple(draw(st.integers(0, 1)) for _ in range(2))
    window = tuple(draw(st.integers(1, n + 2 * p)) for n, p in zip(shape[2:], padding, strict=True))
    strides = tuple(draw(st.integers(1, 2)) for _ in range(2))
    return [Type(shape, "int8")], {"window": window, "strides": strides, "padding": padding}


_ARITHMETIC = (*INTEGERS, *FLOATS)
CASES: Mapping[str, st.SearchStrategy[Case]] = {
    **{name: _same(2, _ARITHMETIC) for name in ("subtract", "divide", "remainder", "power")},
    **{name: _same(2, (*_ARITHMETIC, "bool")) for name in ("add", "multiply", "maximum", "minimum")},
    **{name: _same(2, (*INTEGERS, "bool")) for name in ("and", "or", "xor")},
    **{name: _same(2, INTEGERS) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
    **{name: _same(1, _ARITHMETIC) for name in ("negate", "abs", "sign", "relu")},
    **{
        name: _same(1, FLOATS)
        for name in (
            "floor", "ceil", "exponential", "log", "tanh", "logistic", "sqrt", "rsqrt", "erf", "gelu",
        )
    },
    "not": _same(1, (*INTEGERS, "bool")), "clamp": _same(3, _ARITHMETIC), "compare": _compare(),
    "select": _select(), "convert": _convert(), "splat": _splat(), "iota": _iota(), "reshape": _reshape(),
    "transpose": _transpose(), "broadcast_in_dim": _broadcast(), "slice": _slice(), "pad": _pad(),
    "concatenate": _concatenate(), "reverse": _reverse(), "dot_general": _dot(),
    "convolution": _convolution(),
    "reduce": _reduce(), "reduce_window": _reduce_window(), "windows": _windows(), "take": _take(),
    "dense": _dense(),
    "bias_add": _along(1, _ARITHMETIC), "scale_shift": _along(2, _ARITHMETIC), "softmax": _along(0, FLOATS),
    "layer_norm": _layer_norm(), "lstm_c": _lstm(False), "lstm_h": _lstm(False), "lstm": _lstm(True),
    "lstm_cells": _lstm(True), "requantise": _requantise(), "requantise_shift": _requantise_shift(),
    "add_scaled": _scaled("first", "second", ends=True), "multiply_scaled": _scaled("factor"),
    "lookup": _SHAPES.map(lambda shape: ([Type(shape, "int8"), Type((256,), "int8")], {})),
    "embedding": _take().map(lambda case: (case[0][::-1], {})),
    "softmax_int8": _of_rows(1), "layer_norm_int8": _of_rows(2), "sum_pool": _sum_pool(),
}  # fmt: skip


def arrays_of(types: list[Type], rng: np.random.Generator) -> list[Array]:
    """Raw host values: integers over their whole range, floats around 1."""
    return [array_of(type_, rng) for type_ in types]


def array_of(type_: Type, rng: np.random.Generator) -> Array:
    of = number(type_.number)
    if of.kind == "float":
        return of.encode(rng.normal(size=type_.shape))
    if of.kind == "bool":
        return rng.integers(0, 2, type_.shape).astype(np.bool_)
    ends = np.iinfo(of.host)
    wide = rng.integers(ends.min, ends.max, type_.shape, of.host, endpoint=True)
    small = rng.integers(max(ends.min, -4), 5, type_.shape).astype(of.host)
    return np.asarray(np.where(rng.random(type_.shape) < 0.5, wide, small), of.host)
