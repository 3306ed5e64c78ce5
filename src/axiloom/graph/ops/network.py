"""Operations of networks, as composites: ``dense``, biases, activations, softmax, normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from axiloom.graph.graph import Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.checks import dimension_of, integer, kind_of, need, rank_of, text
from axiloom.graph.ops.composite import along, composite, splat_like
from axiloom.graph.ops.contract import converted, sum_of_products
from axiloom.graph.ops.op import Algebra, Attributes, Index, Make, Read

Types = Sequence[Type]


def _dense(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    x, w = operands
    rank_of(w.type, 2, "the weight")
    need(bool(x.type.shape), "x has no dimensions")
    return make(
        "dot_general", x, w, lhs_batch=(), rhs_batch=(), lhs_contracting=(len(x.type.shape) - 1,),
        rhs_contracting=(1,), number=text(attributes, "number"),
    )  # fmt: skip


def _dense_element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    *rows, out = index
    numbers = (types[0].number, types[1].number, text(attributes, "number"))
    return sum_of_products(
        algebra, [types[1].shape[1]], numbers, lambda k: (reads[0]([*rows, *k]), reads[1]([out, *k]))
    )


def _bias_add(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    x, b = operands
    rank_of(b.type, 1, "the bias")
    return make("add", x, along(make, b, x, dimension_of(x.type, integer(attributes, "dimension"))))


def _bias_element(
    algebra: Algebra, reads: Sequence[Read], index: Index, _: Types, attributes: Attributes
) -> Any:
    return algebra.apply("add", reads[0](index), reads[1]([index[integer(attributes, "dimension")]]))


def _scale_shift(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    x, scale, shift = operands
    for channels in (scale, shift):
        rank_of(channels.type, 1, "scale and shift")
    dimension = dimension_of(x.type, integer(attributes, "dimension"))
    scaled = make("multiply", x, along(make, scale, x, dimension))
    return make("add", scaled, along(make, shift, x, dimension))


def _scale_element(
    algebra: Algebra, reads: Sequence[Read], index: Index, _: Types, attributes: Attributes
) -> Any:
    channel = [index[integer(attributes, "dimension")]]
    return algebra.apply("add", algebra.apply("mul", reads[0](index), reads[1](channel)), reads[2](channel))


def _relu(make: Make, operands: Sequence[Node], _: Attributes) -> Node:
    (x,) = operands
    kind_of(x.type, "integer", "float")
    return make("maximum", x, splat_like(make, x, _text(x, 0)))


def _relu_element(algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, _: Attributes) -> Any:
    zero = number(types[0].number).text(0)
    return algebra.apply("max", reads[0](index), algebra.apply(f"literal:{types[0].number}:{zero}"))


def _text(like: Node, value: float) -> str:
    """A number's text in the number of `like`."""
    return number(like.type.number).text(value)


def _gelu(make: Make, operands: Sequence[Node], _: Attributes) -> Node:
    (x,) = operands
    inner = make("erf", make("multiply", x, splat_like(make, x, _text(x, math.sqrt(0.5)))))
    half = make("multiply", x, splat_like(make, x, _text(x, 0.5)))
    return make("multiply", half, make("add", inner, splat_like(make, x, _text(x, 1.0))))


def _gelu_element(algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, _: Attributes) -> Any:
    of = number(types[0].number)

    def const(value: float) -> Any:
        return algebra.apply(f"literal:{of}:{of.text(value)}")

    x = reads[0](index)
    inner = algebra.apply("erf", algebra.apply("mul", x, const(math.sqrt(0.5))))
    return algebra.apply("mul", algebra.apply("mul", x, const(0.5)), algebra.apply("add", inner, const(1.0)))


def _back(make: Make, reduced: Node, like: Node, dimension: int) -> Node:
    """What a reduction along a dimension left, repeated along it."""
    rest = tuple(i for i in range(len(like.type.shape)) if i != dimension)
    return make("broadcast_in_dim", reduced, shape=like.type.shape, dimensions=rest)


def _softmax(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    (x,) = operands
    kind_of(x.type, "float")
    dimension = dimension_of(x.type, integer(attributes, "dimension"))
    top = make("reduce", x, kind="max", dimensions=(dimension,))
    raised = make("exponential", make("subtract", x, _back(make, top, x, dimension)))
    total = make("reduce", raised, kind="add", dimensions=(dimension,))
    return make("divide", raised, _back(make, total, x, dimension))


def _sum(algebra: Algebra, count: Any, body: Any, of: str) -> Any:
    """As ``reduce`` of kind add makes it."""
    from_number = number(of)
    inner = "float32" if from_number.narrow else of
    return converted(
        algebra, algebra.fold("add", count, lambda k: converted(algebra, body(k), of, inner)), inner, of
    )


def _softmax_element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    dimension = integer(attributes, "dimension")
    count = types[0].shape[dimension]

    def read(k: Any) -> Any:
        return reads[0]([*index[:dimension], k, *index[dimension + 1 :]])

    top = algebra.fold("max", count, read)

    def raised(k: Any) -> Any:
        return algebra.apply("exp", algebra.apply("sub", read(k), top))

    return algebra.apply("div", raised(index[dimension]), _sum(algebra, count, raised, types[0].number))


def _layer_norm(make: Make, operands: Sequence[Node], attributes: Attributes) -> Node:
    x, scale, shift = operands
    kind_of(x.type, "float")
    last = dimension_of(x.type, len(x.type.shape) - 1)

    def mean(of: Node) -> Node:
        total = make("reduce", of, kind="add", dimensions=(last,))
        return make("divide", total, splat_like(make, total, _text(x, x.type.shape[last])))

    centred = make("subtract", x, _back(make, mean(x), x, last))
    variance = mean(make("multiply", centred, centred))
    epsilon = splat_like(make, variance, text(attributes, "epsilon"))
    inverse = make("rsqrt", make("add", variance, epsilon))
    normal = make("multiply", centred, _back(make, inverse, x, last))
    return make("scale_shift", normal, scale, shift, dimension=last)


def _layer_norm_element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    *rows, at = index
    of, count = types[0].number, types[0].shape[-1]
    known = isinstance(count, int)
    size = algebra.apply(f"literal:{of}:{number(of).text(count)}") if known else (
        algebra.apply(f"index:{of}", count)
    )  # fmt: skip

    def mean(body: Any) -> Any:
        return algebra.apply("div", _sum(algebra, count, body, of), size)

    average = mean(lambda k: reads[0]([*rows, k]))

    def centred(k: Any) -> Any:
        return algebra.apply("sub", reads[0]([*rows, k]), average)

    variance = mean(lambda k: algebra.apply("mul", centred(k), centred(k)))
    epsilon = algebra.apply(f"literal:{of}:{attributes['epsilon']}")
    inverse = algebra.apply("rsqrt", algebra.apply("add", variance, epsilon))
    scaled = algebra.apply("mul", algebra.apply("mul", centred(at), inverse), reads[1]([at]))
    return algebra.apply("add", scaled, reads[2]([at]))


OPS = (
    composite(
        "dense", 2, _dense, {"number": str},
        "x (..., in) and w (out, in): x times w transposed, in `number`", _dense_element,
    ),
    composite(
        "bias_add", 2, _bias_add, {"dimension": int}, "x and a vector along a dimension: their sum",
        _bias_element,
    ),
    composite(
        "scale_shift", 3, _scale_shift, {"dimension": int},
        "x, scale and shift, vectors along a dimension: x * scale + shift, as a batch norm in inference",
        _scale_element,
    ),
    composite("relu", 1, _relu, doc="max(x, 0)", element=_relu_element),
    composite("gelu", 1, _gelu, doc="x / 2 * (1 + erf(x / sqrt 2))", element=_gelu_element),
    composite(
        "softmax", 1, _softmax, {"dimension": int},
        "exp(x - max x) by its sum along a dimension", _softmax_element,
    ),
    composite(
        "layer_norm", 3, _layer_norm, {"epsilon": str},
        "x, scale, shift: (x - mean) / sqrt(variance + epsilon) * scale + shift over the last dimension",
        _layer_norm_element,
    ),
)  # fmt: skip
