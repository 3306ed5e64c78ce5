"""Names to operations, and the builder that makes checked nodes of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from axiloom.graph.graph import Attribute, GraphError, Node, Type, Unknown
from axiloom.graph.ops.op import Op

OPS: dict[str, Op] = {}
"""Filled by the folder's ``__init__``, a family at a time."""
MOST_ELEMENTS = 1 << 40
MOST_DIMENSIONS = 32


def register(*ops: Op) -> None:
    for op in ops:
        assert op.name not in OPS, op.name
        OPS[op.name] = op


@dataclass
class Builder:
    """Makes nodes: checks them, and makes equal ones once.

    >>> b.op("add", x, y)
    """

    unify: bool = True
    """Without it each node is one of its own, for what is said of nodes beside the graph."""
    known: dict[tuple[object, ...], Node] = field(default_factory=dict)

    def op(self, name: str, *operands: Node, place: str = "", **attributes: Attribute) -> Node:
        """A node of a registered operation. Raises GraphError."""
        op = OPS.get(name)
        if op is None:
            raise GraphError(
                f"{place or 'graph'}: unknown operation `{name}`; known are {', '.join(sorted(OPS))}"
            )
        key = (name, tuple(map(id, operands)), tuple(sorted(attributes.items())))
        node = self.known.get(key)
        if node is not None and self.unify:
            return node
        try:
            _shaped(op, operands, attributes)
            type_ = op.result([operand.type for operand in operands], attributes)
            _sized(type_)
        except GraphError as error:
            raise GraphError(_placed(str(error), name, place)) from None
        node = self.known[key] = Node(name, operands, attributes, type_, place)
        return node

    def leaf(self, op: str, name: str, type_: Type, place: str = "") -> Node:
        """A ``parameter`` or a ``constant``. Raises GraphError."""
        _sized(type_)
        key = (op, name, type_)
        node = self.known.get(key)
        if node is None or not self.unify:
            node = self.known[key] = Node(op, (), {"name": name}, type_, place)
        return node


def _placed(reason: str, name: str, place: str) -> str:
    start = f"{name}: "
    reason = reason if reason.startswith(start) else start + reason
    return f"{place}: {reason}" if place else reason


def _shaped(op: Op, operands: tuple[Node, ...], attributes: dict[str, Attribute]) -> None:
    """The right number of operands, and attributes of the right names and kinds."""
    if len(operands) != op.operands if op.operands is not None else not operands:
        wanted = "at least one operand" if op.operands is None else f"{op.operands} operands"
        raise GraphError(f"takes {wanted}, not {len(operands)}")
    if set(attributes) != set(op.attributes):
        raise GraphError(f"takes the attributes {sorted(op.attributes)}, not {sorted(attributes)}")
    for name, kind in op.attributes.items():
        value = attributes[name]
        plain = isinstance(value, kind) and not isinstance(value, bool)
        if not plain or (isinstance(value, tuple) and not all(_whole(entry) for entry in value)):
            wanted = "a tuple of integers" if kind is tuple else f"an {kind.__name__}"
            raise GraphError(f"attribute {name} is {wanted}, not {str(value)[:40]}")


def _whole(value: object) -> bool:
    return type(value) is int or isinstance(value, Unknown)


def _sized(type_: Type) -> None:
    if any(isinstance(size, Unknown) for size in type_.shape):
        return
    if len(type_.shape) > MOST_DIMENSIONS or type_.elements > MOST_ELEMENTS:
        raise GraphError(
            f"a tensor of {len(type_.shape)} dimensions and {type_.elements} elements; at most "
            f"{MOST_DIMENSIONS} and 2^40"
        )
