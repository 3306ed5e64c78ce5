"""`with_identities`: products with an identity, where an instruction multiplies and none moves.

The rules ``dot_with_identity`` and ``dot_of_identity`` say that such a product is its factor.
Backwards they match any matrix: so they are not for saturation, and are applied here once to each value,
for a cover that could not be found without them. In floats they hold in real numbers: a zero may lose its
sign, and what is infinite spreads over its row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from axiloom.graph.graph import Node, Type
from axiloom.graph.ops import Builder
from axiloom.selection.egraph.saturated import ENode, Saturated
from axiloom.selection.machine.derive import Meaning

RULES = ("dot_with_identity", "dot_of_identity")


def with_identities(saturated: Saturated, meanings: Iterable[Meaning]) -> Saturated:
    """The same classes with products beside them, and identities as classes of constants behind them."""
    types, classes = list(saturated.types), [list(nodes) for nodes in saturated.classes]
    many = len(types)
    known: dict[Type, int] = {}
    products = {meaning.value.type: meaning for meaning in meanings if _is_product(meaning)}
    for meaning in products.values():
        left, right = (operand.type for operand in meaning.operands)
        attributes = tuple(sorted(meaning.value.attributes.items()))
        for eclass in range(many):
            if types[eclass] != meaning.value.type:
                continue
            for rule, turn, square in zip(RULES, (1, 0), (right, left), strict=True):
                if len(set(square.shape)) != 1 or (left, right)[1 - turn] != types[eclass]:
                    continue
                eye = known.get(square)
                if eye is None:
                    eye = known[square] = _identity(square, types, classes)
                operands = (eclass, eye) if turn else (eye, eclass)
                classes[eclass].append(ENode("dot_general", operands, attributes, rule))
    return replace(saturated, types=tuple(types), classes=tuple(map(tuple, classes)))


def _is_product(meaning: Meaning) -> bool:
    attributes = meaning.value.attributes
    return meaning.value.op == "dot_general" and (
        attributes["lhs_contracting"],
        attributes["rhs_contracting"],
    ) == (
        (1,),
        (0,),
    )


def _identity(type_: Type, types: list[Type], classes: list[list[ENode]]) -> int:
    numbers: dict[int, int] = {}

    def add(node: Node) -> int:
        if id(node) not in numbers:
            operands = tuple(add(operand) for operand in node.operands)
            types.append(node.type)
            classes.append([ENode(node.op, operands, tuple(sorted(node.attributes.items())))])
            numbers[id(node)] = len(types) - 1
        return numbers[id(node)]

    return add(identity(type_))


def identity(type_: Type) -> Node:
    """The identity as a value that follows from nothing."""
    make = Builder().op
    rows, columns = (make("iota", shape=type_.shape, number="int64", dimension=i) for i in (0, 1))
    return make("convert", make("compare", rows, columns, direction="EQ"), number=type_.number)
