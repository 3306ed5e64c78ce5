"""`Op`: an operation's attributes, its result's type, what it computes in NumPy, and of which elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from axiloom.selection.ir.graph import Attribute, Type

Attributes: TypeAlias = Mapping[str, Attribute]
Arrays: TypeAlias = Sequence[NDArray[Any]]


class Algebra(Protocol):
    """Where elements are computed: on terms for proofs, with sizes and indices that may be unknown.

    `apply` names a scalar function (``add``, ``mul``, ``exp``, ``convert:int8``); `fold` is ``add``, ``max``,
    ...
    over an index below `count`; `choose` is for what depends on an index (padding, concatenation).
    """

    def apply(self, function: str, *arguments: Any) -> Any: ...
    def fold(self, function: str, count: Any, body: Callable[[Any], Any]) -> Any: ...
    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any: ...


@dataclass(frozen=True)
class Op:
    """One operation.

    `result` gives the type of the result, and raises `GraphError` with the reason where operands or
    attributes do
    not go together. `evaluate` is the meaning on arrays of host values: NumPy, in the numbers of the
    operands. `element`
    is the same meaning for one element: ``element(algebra, reads, index, types, attributes)``, where
    ``reads[i](at)`` is
    operand i at an index. A test compares both on random cases; rules are proved with the latter.
    """

    name: str
    operands: int | None
    """None: any number of at least one."""
    result: Callable[[Sequence[Type], Attributes], Type]
    evaluate: Callable[[Arrays, Attributes, Type], NDArray[Any]]
    element: Callable[[Algebra, Sequence[Callable[..., Any]], Sequence[Any], Sequence[Type], Attributes], Any]
    attributes: Mapping[str, type] = field(default_factory=dict)
    """Name to kind: int, str or tuple."""
    doc: str = ""
