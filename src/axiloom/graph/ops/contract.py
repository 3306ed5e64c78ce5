"""``dot_general``: sums of products over pairs of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from axiloom.graph.graph import Type
from axiloom.graph.numbers import Number, accumulator, number
from axiloom.graph.ops.checks import dimensions_of, ints, kind_of, need, text
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read
from axiloom.graph.ops.scalars import convert
from axiloom.graph.ops.sums import products

Types = Sequence[Type]


def product_number(types: Types, attributes: Attributes) -> Number:
    """The result's number, which operands are converted to. It must hold theirs."""
    target = number(text(attributes, "number"))
    for type_ in types[:2]:
        kind_of(type_, "integer", "float")
        source = number(type_.number)
        wider = target.kind == source.kind and target.bits >= source.bits
        signs = target.signed or not source.signed
        need(wider and signs, f"products of {source} in {target}: it must hold them")
    return target


def wide(values: Array, source: str, target: Number) -> Array:
    """Values of `source` as values of the accumulator of `target`; integers as they are, which no product
    changes."""
    of = number(source)
    if target.kind == "integer":
        return of.decode(values)
    return accumulator(target).decode(convert(of.decode(values), of, accumulator(target)))


def _rest(rank: int, *taken: tuple[int, ...]) -> list[int]:
    return [i for i in range(rank) if not any(i in dims for dims in taken)]


def _lists(attributes: Attributes) -> tuple[tuple[int, ...], ...]:
    names = ("lhs_batch", "rhs_batch", "lhs_contracting", "rhs_contracting")
    lb, rb, lc, rc = (ints(attributes, name) for name in names)
    return lb, rb, lc, rc


def _result(types: Types, attributes: Attributes) -> Type:
    lb, rb, lc, rc = _lists(attributes)
    a, b = types
    dimensions_of(a, (*lb, *lc))
    dimensions_of(b, (*rb, *rc))
    need(
        len(lb) == len(rb) and len(lc) == len(rc), f"batch {lb}, {rb} and contracting {lc}, {rc} are no pairs"
    )
    for i, j in zip((*lb, *lc), (*rb, *rc), strict=True):
        need(a.shape[i] == b.shape[j], f"dimension {i} of {a} is not as long as dimension {j} of {b}")
    need(all(a.shape[i] for i in lc), "a sum over nothing")
    left, right = _rest(len(a.shape), lb, lc), _rest(len(b.shape), rb, rc)
    shape = (*(a.shape[i] for i in (*lb, *left)), *(b.shape[i] for i in right))
    return Type(shape, product_number(types, attributes).name)


def _evaluate(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    lb, rb, lc, rc = _lists(attributes)
    target = product_number(types, attributes)
    a, b = (wide(array, type_.number, target) for array, type_ in zip(arrays, types, strict=True))
    left, right = _rest(a.ndim, lb, lc), _rest(b.ndim, rb, rc)
    batch = [a.shape[i] for i in lb]
    m, n = [a.shape[i] for i in left], [b.shape[i] for i in right]
    k = prod(a.shape[i] for i in lc)
    first = a.transpose([*lb, *left, *lc]).reshape([*batch, prod(m), k])
    second = b.transpose([*rb, *rc, *right]).reshape([*batch, k, prod(n)])
    return target.encode(products(first, second, accumulator(target)).reshape([*batch, *m, *n]))


def converted(algebra: Algebra, value: Any, source: str, target: str) -> Any:
    return value if source == target else algebra.apply(f"convert:{target}", value)


def sum_of_products(
    algebra: Algebra,
    sizes: Sequence[Any],
    numbers: tuple[str, str, str],
    pair: Callable[[Index], tuple[Any, Any]],
) -> Any:
    """The sum over `sizes` of the products of the two that `pair` gives at an index, in numbers[2]."""
    a, b, result = numbers
    inner = accumulator(number(result)).name

    def over(done: list[Any]) -> Any:
        if len(done) == len(sizes):
            x, y = pair(done)
            return algebra.apply("mul", converted(algebra, x, a, inner), converted(algebra, y, b, inner))
        return algebra.fold("add", sizes[len(done)], lambda k: over([*done, k]))

    return converted(algebra, over([]), inner, result)


def _element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    lb, rb, lc, rc = _lists(attributes)
    a, b = types
    left, right = _rest(len(a.shape), lb, lc), _rest(len(b.shape), rb, rc)
    batch, m, n = len(lb), len(left), len(right)
    fixed_a = dict(zip((*lb, *left), index[: batch + m], strict=True))
    fixed_b = dict(zip((*rb, *right), (*index[:batch], *index[batch + m :]), strict=True))
    assert len(index) == batch + m + n

    def pair(k: Index) -> tuple[Any, Any]:
        at_a = {**fixed_a, **dict(zip(lc, k, strict=True))}
        at_b = {**fixed_b, **dict(zip(rc, k, strict=True))}
        return (
            reads[0]([at_a[i] for i in range(len(a.shape))]),
            reads[1]([at_b[i] for i in range(len(b.shape))]),
        )

    return sum_of_products(
        algebra, [a.shape[i] for i in lc], (a.number, b.number, text(attributes, "number")), pair
    )


OPS = (
    Op(
        "dot_general", 2, _result, _evaluate, _element,
        {
            "lhs_batch": tuple, "rhs_batch": tuple, "lhs_contracting": tuple, "rhs_contracting": tuple,
            "number": str,
        },
        "sums over the contracting pairs; the result has the batch dimensions, then the left's rest, then "
        "the right's. Operands are converted to `number` first",
    ),
)  # fmt: skip
