"""Operations without operands: a number everywhere, and an index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.checks import dimension_of, integer, ints, kind_of, text
from axiloom.graph.ops.op import Array, Arrays, Attributes, Op

Types = Sequence[Type]


def _splatted(_: Types, attributes: Attributes) -> Type:
    number(text(attributes, "number")).parse(text(attributes, "value"))
    return Type(ints(attributes, "shape"), text(attributes, "number"))


def _splat(_: Arrays, __: Types, attributes: Attributes) -> Array:
    return np.full(
        ints(attributes, "shape"), number(text(attributes, "number")).parse(text(attributes, "value"))
    )


def _counted(_: Types, attributes: Attributes) -> Type:
    result = Type(ints(attributes, "shape"), text(attributes, "number"))
    kind_of(result, "integer", "float")
    dimension_of(result, integer(attributes, "dimension"))
    return result


def _iota(_: Arrays, __: Types, attributes: Attributes) -> Array:
    shape, dimension = ints(attributes, "shape"), integer(attributes, "dimension")
    along = [1] * len(shape)
    along[dimension] = shape[dimension]
    counted = np.arange(shape[dimension]).reshape(along)
    return number(text(attributes, "number")).encode(np.broadcast_to(counted, shape).copy())


OPS = (
    Op(
        "splat",
        0,
        _splatted,
        _splat,
        lambda algebra, _, __, ___, attributes: algebra.apply(
            f"literal:{attributes['number']}:{attributes['value']}"
        ),
        {"shape": tuple, "number": str, "value": str},
        "one number everywhere; value: its text as Number.text writes it",
    ),
    Op(
        "iota",
        0,
        _counted,
        _iota,
        lambda algebra, _, index, ___, attributes: algebra.apply(
            f"index:{attributes['number']}", index[integer(attributes, "dimension")]
        ),
        {"shape": tuple, "number": str, "dimension": int},
        "the index along a dimension",
    ),
)
