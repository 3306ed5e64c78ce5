"""What operations ask of their operands and attributes. All raise GraphError with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.graph.graph import GraphError, Type, Unknown
from axiloom.graph.numbers import Kind, number
from axiloom.graph.ops.op import Attributes


def ints(attributes: Attributes, name: str) -> tuple[int, ...]:
    value = attributes[name]
    if not isinstance(value, tuple):
        raise GraphError(f"{name} is {value!r}: integers are needed")
    return value


def integer(attributes: Attributes, name: str) -> int:
    value = attributes[name]
    if not isinstance(value, (int, Unknown)):
        raise GraphError(f"{name} is {value!r}: an integer is needed")
    return value  # what is unknown reckons as an integer does


def text(attributes: Attributes, name: str) -> str:
    value = attributes[name]
    if not isinstance(value, str):
        raise GraphError(f"{name} is {value!r}: a text is needed")
    return value


def need(holds: bool, reason: str) -> None:
    if not holds:
        raise GraphError(reason)


def alike(types: Sequence[Type]) -> Type:
    """All of one type."""
    first = types[0]
    for type_ in types[1:]:
        need(type_ == first, f"operands of one type are needed, not {first} and {type_}")
    return first


def kind_of(type_: Type, *kinds: Kind) -> None:
    kind = number(type_.number).kind
    need(kind in kinds, f"numbers of kind {' or '.join(kinds)} are needed, not {type_.number}")


def rank_of(type_: Type, rank: int, what: str) -> None:
    need(len(type_.shape) == rank, f"{what} has {len(type_.shape)} dimensions, not {rank}")


def dimension_of(type_: Type, dimension: int) -> int:
    rank = len(type_.shape)
    need(0 <= dimension < rank, f"dimension {dimension} of a tensor of {rank} dimensions")
    return dimension


def dimensions_of(type_: Type, dimensions: Sequence[int]) -> tuple[int, ...]:
    """Dimensions that are there, each once."""
    for dimension in dimensions:
        dimension_of(type_, dimension)
    need(len(set(dimensions)) == len(dimensions), f"a dimension twice in {tuple(dimensions)}")
    return tuple(dimensions)


def per_dimension(entries: Sequence[int], rank: int, name: str, low: int) -> tuple[int, ...]:
    """One entry for each of `rank` dimensions, each at least `low`."""
    need(len(entries) == rank, f"{name} has {len(entries)} entries, not {rank}")
    for entry in entries:
        need(entry >= low, f"{name} has {entry}: at least {low} is needed")
    return tuple(entries)
