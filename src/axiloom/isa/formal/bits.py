"""Formulas of whole numbers as formulas of bits: the same question to an engine that knows no others.

All numbers lie in ranges that the formula itself supposes, so each term has one, too, and so many bits that
nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from axiloom.isa.formal.graph import postorder
from axiloom.isa.instructions.tree import Range

MOST_BITS = 256


def in_bits(formula: z3.BoolRef, own: str = "") -> z3.BoolRef | None:
    """The formula on bit vectors; None where a number has no range, or an operation is none of these.

    The question must be whether it always holds: of several claims each has ranges, and so names, of its own,
    which end in `own`.
    """
    if z3.is_and(formula):
        claims = [in_bits(claim, f"{own}.{turn}") for turn, claim in enumerate(formula.children())]
        return None if None in claims else z3.And(*claims)
    ranges = _supposed(formula)
    nodes = [*postorder([formula])]
    kinds: dict[int, Range] = {}
    for node in nodes:
        if z3.is_int(node):
            kind = _range(node, ranges, kinds)
            if kind is None:
                return None
            kinds[node.get_id()] = kind
    bits = max((node.bits for node in kinds.values()), default=1) + 2
    if bits > MOST_BITS:
        return None
    terms: dict[int, Any] = {}
    for node in nodes:
        operands = [terms[child.get_id()] for child in node.children()]
        term = _made(node, operands, bits, own)
        if term is None:
            return None
        terms[node.get_id()] = term
    whole: z3.BoolRef = terms[formula.get_id()]
    return whole


def _supposed(formula: z3.BoolRef) -> dict[str, Range]:
    """Of numbers whose both ends stand in front of an implication."""
    ends: dict[str, dict[int, int]] = {}
    stack = [formula.arg(0)] if z3.is_implies(formula) else []
    while stack:
        fact = stack.pop()
        if z3.is_and(fact):
            stack += fact.children()
        elif (
            fact.decl().kind() in (z3.Z3_OP_GE, z3.Z3_OP_LE)
            and z3.is_const(fact.arg(0))
            and z3.is_int_value(fact.arg(1))
        ):
            ends.setdefault(fact.arg(0).decl().name(), {}).setdefault(
                fact.decl().kind(), fact.arg(1).as_long()
            )
    return {name: Range(of[z3.Z3_OP_GE], of[z3.Z3_OP_LE]) for name, of in ends.items() if len(of) == 2}


def _range(node: Any, ranges: Mapping[str, Range], kinds: Mapping[int, Range]) -> Range | None:
    if z3.is_int_value(node):
        return Range(node.as_long(), node.as_long())
    if z3.is_const(node):
        return ranges.get(node.decl().name())
    operands = [kinds[child.get_id()] for child in node.children() if z3.is_int(child)]
    rule = _RANGES.get(node.decl().kind())
    divides = node.decl().kind() in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD)
    if rule is None or (divides and not (z3.is_int_value(node.arg(1)) and node.arg(1).as_long() > 0)):
        return None
    return rule(operands)


def _product(operands: Sequence[Range]) -> Range:
    low = high = 1
    for part in operands:
        ends = [a * b for a in (low, high) for b in (part.low, part.high)]
        low, high = min(ends), max(ends)
    return Range(low, high)


_RANGES: Mapping[int, Callable[[Sequence[Range]], Range]] = {
    z3.Z3_OP_ADD: lambda operands: Range(
        sum(part.low for part in operands), sum(part.high for part in operands)
    ),
    z3.Z3_OP_SUB: lambda operands: Range(
        operands[0].low - sum(part.high for part in operands[1:]),
        operands[0].high - sum(part.low for part in operands[1:]),
    ),
    z3.Z3_OP_UMINUS: lambda operands: Range(-operands[0].high, -operands[0].low),
    z3.Z3_OP_MUL: _product,
    z3.Z3_OP_IDIV: lambda operands: Range(
        operands[0].low // operands[1].low, operands[0].high // operands[1].low
    ),
    z3.Z3_OP_MOD: lambda operands: Range(0, operands[1].low - 1),
    z3.Z3_OP_ITE: lambda operands: operands[0].joined(operands[1]),
}


def _made(node: Any, operands: Sequence[Any], bits: int, own: str) -> Any:
    if z3.is_int_value(node):
        return z3.BitVecVal(node.as_long(), bits)
    if z3.is_const(node):
        return z3.BitVec(node.decl().name() + own, bits) if z3.is_int(node) else node
    rule = _RULES.get(node.decl().kind())
    return None if rule is None else rule(operands)


def _floor(a: Any, b: Any) -> Any:
    """`b` is a positive constant."""
    value = b.as_long()
    if value & (value - 1) == 0:
        return a >> (value.bit_length() - 1)
    return z3.If(a >= 0, z3.UDiv(a, b), -z3.UDiv(b - 1 - a, b))


def _sum(operands: Sequence[Any]) -> Any:
    return sum(operands[1:], operands[0])


def _times(operands: Sequence[Any]) -> Any:
    whole = operands[0]
    for part in operands[1:]:
        whole = whole * part
    return whole


_RULES: Mapping[int, Callable[[Sequence[Any]], Any]] = {
    z3.Z3_OP_ADD: _sum,
    z3.Z3_OP_SUB: lambda operands: operands[0] - _sum(operands[1:]),
    z3.Z3_OP_UMINUS: lambda operands: -operands[0],
    z3.Z3_OP_MUL: _times,
    z3.Z3_OP_IDIV: lambda operands: _floor(*operands),
    z3.Z3_OP_MOD: lambda operands: operands[0] - _floor(*operands) * operands[1],
    z3.Z3_OP_ITE: lambda operands: z3.If(*operands),
    z3.Z3_OP_GE: lambda operands: operands[0] >= operands[1],
    z3.Z3_OP_LE: lambda operands: operands[0] <= operands[1],
    z3.Z3_OP_GT: lambda operands: operands[0] > operands[1],
    z3.Z3_OP_LT: lambda operands: operands[0] < operands[1],
    z3.Z3_OP_EQ: lambda operands: operands[0] == operands[1],
    z3.Z3_OP_DISTINCT: lambda operands: z3.Distinct(*operands),
    z3.Z3_OP_AND: lambda operands: z3.And(*operands),
    z3.Z3_OP_OR: lambda operands: z3.Or(*operands),
    z3.Z3_OP_NOT: lambda operands: z3.Not(operands[0]),
    z3.Z3_OP_IMPLIES: lambda operands: z3.Implies(*operands),
}
