"""``reduce``: all elements along dimensions become one. ``reduce_window``: those of each window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.numbers import Number, accumulator, number
from axiloom.graph.ops.checks import dimensions_of, ints, kind_of, need, per_dimension, text
from axiloom.graph.ops.contract import converted
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read
from axiloom.graph.ops.windows import windows_of

Types = Sequence[Type]

FOLDS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.logical_and,
    "or": np.logical_or,
}
"""Kind to NumPy's function of two."""


def neutral(kind: str, of: Number) -> Any:
    """What folding with changes nothing."""
    if kind in ("max", "min"):
        return of.lowest if kind == "max" else of.highest
    return {"add": 0, "mul": 1, "and": 1, "or": 0}[kind]


def literal(kind: str, of: Number) -> str:
    """The same as a scalar function's name."""
    return f"literal:{of}:{of.text(neutral(kind, of))}"


def _checked(type_: Type, kind: str) -> None:
    need(kind in FOLDS, f"kind {kind}: there are {', '.join(FOLDS)}")
    kind_of(type_, *(("bool",) if kind in ("and", "or") else ("integer", "float")))


def _inner(type_: Type, kind: str) -> Number:
    """Sums and products of narrow floats are made in float32."""
    of = number(type_.number)
    return accumulator(of) if kind in ("add", "mul") else of


def _values(array: Array, of: Number, kind: str) -> Array:
    """Values to fold: sums of floats in float64."""
    values = of.decode(array)
    return values.astype(np.float64) if of.kind == "float" and kind in ("add", "mul") else values


def _reduced(types: Types, attributes: Attributes) -> Type:
    (type_,) = types
    _checked(type_, text(attributes, "kind"))
    dimensions = dimensions_of(type_, ints(attributes, "dimensions"))
    need(all(type_.shape[i] for i in dimensions), "a fold over nothing")
    return Type(tuple(n for i, n in enumerate(type_.shape) if i not in dimensions), type_.number)


def _reduce_array(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    of, kind = number(types[0].number), text(attributes, "kind")
    values = _values(arrays[0], of, kind)
    with np.errstate(all="ignore"):
        return of.encode(FOLDS[kind].reduce(values, axis=ints(attributes, "dimensions"), dtype=values.dtype))


def _reduce(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    (type_,) = types
    kind, dimensions = text(attributes, "kind"), sorted(ints(attributes, "dimensions"))
    inner = _inner(type_, kind).name
    kept = [i for i in range(len(type_.shape)) if i not in dimensions]

    def over(done: list[Any]) -> Any:
        if len(done) < len(dimensions):
            return algebra.fold(kind, type_.shape[dimensions[len(done)]], lambda k: over([*done, k]))
        at = dict(zip((*kept, *dimensions), (*index, *done), strict=True))
        return converted(algebra, reads[0]([at[i] for i in range(len(at))]), type_.number, inner)

    return converted(algebra, over([]), inner, type_.number)


def _slid(types: Types, attributes: Attributes) -> Type:
    (type_,) = types
    _checked(type_, text(attributes, "kind"))
    rank = len(type_.shape)
    window = per_dimension(ints(attributes, "window"), rank, "window", 1)
    return Type(windows_of(attributes, rank).counts(type_.shape, window), type_.number)


def _slide_array(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    """One step for each position of the window."""
    of, kind, rank = number(types[0].number), text(attributes, "kind"), len(types[0].shape)
    places, shape = windows_of(attributes, rank), _slid(types, attributes).shape
    values = _values(arrays[0], of, kind)
    result = np.full(shape, neutral(kind, of), values.dtype)
    for position in product(*map(range, ints(attributes, "window"))):
        met = [places.meeting(d, types[0].shape[d], shape[d], k) for d, k in enumerate(position)]
        spans = [span for span in met if span is not None]
        if len(spans) < rank:
            continue
        to, source = tuple(span[0] for span in spans), tuple(span[1] for span in spans)
        with np.errstate(all="ignore"):
            result[to] = FOLDS[kind](result[to], values[source])
    return of.encode(result)


def _slide(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    (type_,) = types
    kind, window = text(attributes, "kind"), ints(attributes, "window")
    inner = _inner(type_, kind)
    places = windows_of(attributes, len(window))

    def over(done: list[Any]) -> Any:
        d = len(done)
        if d < len(window):
            return (
                over([*done, 0])
                if window[d] == 1
                else algebra.fold(kind, window[d], lambda k: over([*done, k]))
            )
        return places.inside(
            algebra,
            list(zip(index, done, strict=True)),
            type_.shape,
            lambda at: converted(algebra, reads[0](at), type_.number, inner.name),
            lambda: algebra.apply(literal(kind, inner)),
        )

    return converted(algebra, over([]), inner.name, type_.number)


OPS = (
    Op(
        "reduce", 1, _reduced, _reduce_array, _reduce, {"kind": str, "dimensions": tuple},
        "kind: add mul max min, and or for bool; over dimensions, which are gone in the result",
    ),
    Op(
        "reduce_window", 1, _slid, _slide_array, _slide,
        {"kind": str, "window": tuple, "strides": tuple, "padding": tuple, "dilation": tuple},
        "kind as in reduce, one window an element; padding lo0 hi0 lo1 hi1 ... counts as nothing",
    ),
)  # fmt: skip
