"""`Concrete`: elements computed one by one on NumPy values. Slow; for tests and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.numbers import Array, Number, number
from axiloom.graph.ops.op import Attributes, Index, Op
from axiloom.graph.ops.scalars import compute, convert
from axiloom.graph.ops.scans import Step, by_steps

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True)
class Element:
    """A raw host value, an array without dimensions, of a number."""

    raw: Array
    of: Number


class Concrete:
    """An `Algebra` of Python's integers for indices and `Element` for values."""

    def apply(self, function: str, *arguments: Any) -> Any:
        name, *more = function.split(":", 2)
        if name in _SPECIAL:
            return _SPECIAL[name](more, arguments)
        of = arguments[0].of
        assert all(argument.of == of for argument in arguments), (function, arguments)
        values = compute(name, of, *(of.decode(argument.raw) for argument in arguments))
        return Element(values, number("bool")) if name in COMPARISONS else Element(of.encode(values), of)

    def fold(self, function: str, count: int, body: Callable[[int], Any]) -> Any:
        assert count >= 1
        return reduce(lambda a, b: self.apply(function, a, b), map(body, range(count)))

    def choose(self, condition: bool, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if condition else no()

    def scan(
        self,
        count: int,
        most: int,
        first: Sequence[Callable[[Any], Any]],
        shapes: Any,
        step: Step,
        which: int,
        at: Sequence[int],
    ) -> Any:
        return by_steps(count, first, step, which, at)


def _convert(more: Sequence[str], arguments: Sequence[Any]) -> Element:
    target = number(more[0])
    return Element(convert(arguments[0].of.decode(arguments[0].raw), arguments[0].of, target), target)


def _index(more: Sequence[str], arguments: Sequence[Any]) -> Element:
    of = number(more[0])
    return Element(of.encode(np.asarray(arguments[0])), of)


_SPECIAL: dict[str, Callable[[Sequence[str], Sequence[Any]], Any]] = {
    "literal": lambda more, _: Element(number(more[0]).parse(more[1]), number(more[0])),
    "convert": _convert,
    "index": _index,
    "position": lambda _, arguments: min(max(int(arguments[0].raw), 0), arguments[1] - 1),
    "select": lambda _, arguments: arguments[1] if arguments[0].raw else arguments[2],
}


def by_elements(op: Op, arrays: Sequence[Array], types: Sequence[Type], attributes: Attributes) -> Array:
    """The same as `op.evaluate`, by `op.element`."""

    def reader(array: Array, type_: Type) -> Callable[[Index], Element]:
        def read(at: Index) -> Element:
            assert len(at) == array.ndim, (at, array.shape)
            assert all(0 <= i < size for i, size in zip(at, array.shape, strict=True)), (at, array.shape)
            return Element(array[tuple(at)], number(type_.number))

        return read

    reads = [reader(array, type_) for array, type_ in zip(arrays, types, strict=True)]
    result = op.result(types, attributes)
    raw = np.empty(result.shape, number(result.number).host)
    for index in np.ndindex(*result.shape):
        raw[index] = op.element(Concrete(), reads, index, types, attributes).raw
    return raw
