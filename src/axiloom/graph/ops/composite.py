"""Operations that are made of others: their meaning follows from their definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from axiloom.graph.graph import Attribute, Node, Type, in_order
from axiloom.graph.ops.op import (
    Algebra,
    Array,
    Arrays,
    Attributes,
    Definition,
    Element,
    Evaluate,
    Index,
    Op,
    Read,
    Result,
)
from axiloom.graph.ops.registry import OPS as KNOWN
from axiloom.graph.ops.registry import Builder

Types = Sequence[Type]


def composite(
    name: str,
    operands: int,
    definition: Definition,
    attributes: Mapping[str, type] | None = None,
    doc: str = "",
    element: Element | None = None,
    result: Result | None = None,
    evaluate: Evaluate | None = None,
) -> Op:
    """An operation of `definition`. `element` is given where sizes may be unknown, `evaluate` where NumPy can
    do it faster; else they follow too, as does `result`."""

    @lru_cache(maxsize=256)
    def built(types: tuple[Type, ...], attributes: tuple[tuple[str, Attribute], ...]) -> tuple[Node, ...]:
        """The definition on parameters, operands first."""
        builder = Builder()
        leaves = [builder.leaf("parameter", str(i), type_) for i, type_ in enumerate(types)]
        return tuple(in_order([definition(builder.op, leaves, dict(attributes))]))

    def nodes(types: Types, attributes: Attributes) -> tuple[Node, ...]:
        return built(tuple(types), tuple(sorted(attributes.items())))

    def typed(types: Types, attributes: Attributes) -> Type:
        return nodes(types, attributes)[-1].type

    def evaluated(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
        values: dict[int, Array] = {}
        for node in nodes(types, attributes):
            if node.op == "parameter":
                values[id(node)] = arrays[int(str(node.attributes["name"]))]
                continue
            inputs = [values[id(operand)] for operand in node.operands]
            kinds = [operand.type for operand in node.operands]
            values[id(node)] = KNOWN[node.op].evaluate(inputs, kinds, node.attributes)
        return values[id(nodes(types, attributes)[-1])]

    def defined(
        algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
    ) -> Any:
        return element_of(nodes(types, attributes)[-1], algebra, reads, index)

    return Op(
        name,
        operands,
        result or typed,
        evaluate or evaluated,
        element or defined,
        attributes or {},
        doc,
        definition,
    )


def element_of(node: Node, algebra: Algebra, parameters: Sequence[Read], index: Index) -> Any:
    """One element of a definition whose parameters are numbered."""
    if node.op == "parameter":
        return parameters[int(str(node.attributes["name"]))](index)
    return computed(node, algebra, index, lambda operand, at: element_of(operand, algebra, parameters, at))


def computed(node: Node, algebra: Algebra, index: Index, element: Callable[[Node, Index], Any]) -> Any:
    """One element of what `node` computes, by its operands' elements."""
    reads = [partial(element, operand) for operand in node.operands]
    kinds = [operand.type for operand in node.operands]
    return KNOWN[node.op].element(algebra, reads, index, kinds, node.attributes)


def splat_like(make: Any, like: Node, value: str) -> Node:
    """A number everywhere, of the type of `like`."""
    node: Node = make("splat", shape=like.type.shape, number=like.type.number, value=value)
    return node


def along(make: Any, vector: Node, like: Node, dimension: int) -> Node:
    """A vector along a dimension of `like`, repeated along the others."""
    node: Node = make("broadcast_in_dim", vector, shape=like.type.shape, dimensions=(dimension,))
    return node
