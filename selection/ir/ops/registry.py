"""Names to operations, and the builder that makes checked nodes of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from axiloom.selection.ir.graph import Attribute, GraphError, Node, Type
from axiloom.selection.ir.ops.op import Op

OPS: dict[str, Op] = {}


@dataclass
class Builder:
    """Makes nodes: checks them, and makes equal ones once.

    >>> b.op("add", x, y)
    """

    known: dict[tuple[object, ...], Node] = field(default_factory=dict)

    def op(self, name: str, *operands: Node, place: str = "", **attributes: Attribute) -> Node:
        """A node of a registered operation. Raises GraphError."""
        op = OPS.get(name)
        if op is None:
            raise GraphError(
                f"{place or 'graph'}: unknown operation `{name}`; known are {', '.join(sorted(OPS))}"
            )
        if op.operands is not None and len(operands) != op.operands:
            raise GraphError(f"{place or name}: {name} takes {op.operands} operands, not {len(operands)}")
        if set(attributes) != set(op.attributes):
            raise GraphError(
                f"{place or name}: {name} takes the attributes {sorted(op.attributes)}, "
                f"not {sorted(attributes)}"
            )
        return self._one(
            name, operands, attributes, op.result([one.type for one in operands], attributes), place
        )

    def leaf(self, op: str, name: str, type_: Type, place: str = "") -> Node:
        """A ``parameter`` or a ``constant``."""
        return self._one(op, (), {"name": name}, type_, place)

    def _one(
        self, op: str, operands: tuple[Node, ...], attributes: dict[str, Attribute], type_: Type, place: str
    ) -> Node:
        key = (op, tuple(map(id, operands)), tuple(sorted(attributes.items())), type_)
        made = self.known.get(key)
        if made is None:
            made = self.known[key] = Node(op, operands, dict(attributes), type_, place)
        return made
