"""`Op`: an operation's attributes, its result's type, what it computes in NumPy, and of which elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from axiloom.graph.graph import Attribute, Node, Type

Attributes: TypeAlias = Mapping[str, Attribute]
Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Sequence[Array]
Index: TypeAlias = Sequence[Any]
Read: TypeAlias = Callable[[Index], Any]
"""An operand's element at an index, one entry a dimension."""


class Algebra(Protocol):
    """Where elements are computed: on terms for proofs, with sizes and indices that may be unknown.

    A value knows its number, as a variable of C does. `apply` names a scalar function of
    :mod:`axiloom.graph.ops.scalars`; all arguments have one number, which is the result's, but for

    - ``convert:NUMBER``; ``eq ne lt le gt ge``, which give a ``bool``; ``select``, whose first is a ``bool``
    - ``literal:NUMBER:TEXT``, of no argument: the constant
    - ``index:NUMBER``, of an index: the index as a value
    - ``position``, of a value and a size: the value as an index, clamped to 0 ... size - 1

    `fold` is ``add``, ``mul``, ``max``, ``min``, ``and`` or ``or`` over an index from 0 up below `count`,
    which is at least 1. `choose` is for what depends on an index (padding, concatenation): the conditions are
    what comparisons of indices give, and only the branch that is meant is defined. Indices and sizes know
    ``+ - * // % < <= >= ==``.

    `scan` is an element of state `which` after `count` of at most `most` steps: `first` are the states before
    them, of these `shapes`, and `step` gives from a step's number and the states before it those after it.
    """

    def apply(self, function: str, *arguments: Any) -> Any: ...
    def fold(self, function: str, count: Any, body: Callable[[Any], Any]) -> Any: ...
    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any: ...
    def scan(
        self,
        count: Any,
        most: Any,
        first: Sequence[Read],
        shapes: Sequence[Index],
        step: Callable[[Any, Sequence[Read]], Sequence[Read]],
        which: int,
        at: Index,
    ) -> Any: ...


class Make(Protocol):
    """`Builder.op`: a node of an operation."""

    def __call__(self, name: str, *operands: Node, place: str = "", **attributes: Attribute) -> Node: ...


Result: TypeAlias = Callable[[Sequence[Type], Attributes], Type]
Evaluate: TypeAlias = Callable[[Arrays, Sequence[Type], Attributes], Array]
Element: TypeAlias = Callable[[Algebra, Sequence[Read], Index, Sequence[Type], Attributes], Any]
Definition: TypeAlias = Callable[[Make, Sequence[Node], Attributes], Node]


@dataclass(frozen=True)
class Op:
    """One operation.

    `result` gives the type of the result, and raises `GraphError` with the reason where operands or
    attributes do not go together. `evaluate` is the meaning on arrays of raw host values, in the numbers of
    the operands' types. `element` is the same meaning for one element:
    ``element(algebra, reads, index, types, attributes)``, where ``reads[i](at)`` is operand i at an index. A
    test compares both on random cases; rules are proved with the latter. A composite's `definition` builds
    the same value of other operations.

    Sums of floats have no order here: `element` says which terms are summed, `evaluate` sums them in float64
    and rounds once. Sums of bfloat16 and float16 are made in float32 and rounded once in both.
    """

    name: str
    operands: int | None
    """None: any number of at least one."""
    result: Result
    evaluate: Evaluate
    element: Element
    attributes: Mapping[str, type] = field(default_factory=dict)
    """Name to kind: int, str or tuple."""
    doc: str = ""
    definition: Definition | None = None
