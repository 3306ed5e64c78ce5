"""Formulas of whole numbers as formulas of bits: the same question to an engine that knows no others.

All numbers lie in ranges that the formula itself supposes, so each term has one too, and so many bits that
nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from axiloom.isa.formal.graph import postorder
from axiloom.isa.instructions.tree import Range

MOST_BITS = 256


def in_bits(formula: z3.BoolRef) -> z3.BoolRef | None:
    """The formula on bit vectors; None where a number has no range, or an operation is none of these.

    The question must be whether it always holds: of several claims each has ranges, and so names, of its own.
    """
    if z3.is_and(formula):
        claims = [in_bits(claim) for claim in formula.children()]
        return None if None in claims else z3.And(*claims)
    ranges = _supposed(formula)
    nodes = [*postorder([formula])]
    kinds: dict[int, Range] = {}
    for one in nodes:
        if z3.is_int(one):
            kind = _range(one, ranges, kinds)
            if kind is None:
                return None
            kinds[one.get_id()] = kind
    bits = max((one.bits for one in kinds.values()), default=1) + 2
    if bits > MOST_BITS:
        return None
    made: dict[int, Any] = {}
    for one in nodes:
        given = [made[child.get_id()] for child in one.children()]
        found = _made(one, given, bits)
        if found is None:
            return None
        made[one.get_id()] = found
    whole: z3.BoolRef = made[formula.get_id()]
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


def _range(one: Any, ranges: Mapping[str, Range], kinds: Mapping[int, Range]) -> Range | None:
    if z3.is_int_value(one):
        return Range(one.as_long(), one.as_long())
    if z3.is_const(one):
        return ranges.get(one.decl().name())
    given = [kinds[child.get_id()] for child in one.children() if z3.is_int(child)]
    rule = _RANGES.get(one.decl().kind())
    divides = one.decl().kind() in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD)
    if rule is None or (divides and not (z3.is_int_value(one.arg(1)) and one.arg(1).as_long() > 0)):
        return None
    return rule(given)


def _product(given: Sequence[Range]) -> Range:
    low = high = 1
    for one in given:
        ends = [a * b for a in (low, high) for b in (one.low, one.high)]
        low, high = min(ends), max(ends)
    return Range(low, high)


_RANGES: Mapping[int, Callable[[Sequence[Range]], Range]] = {
    z3.Z3_OP_ADD: lambda given: Range(sum(one.low for one in given), sum(one.high for one in given)),
    z3.Z3_OP_SUB: lambda given: Range(
        given[0].low - sum(one.high for one in given[1:]), given[0].high - sum(one.low for one in given[1:])
    ),
    z3.Z3_OP_UMINUS: lambda given: Range(-given[0].high, -given[0].low),
    z3.Z3_OP_MUL: _product,
    z3.Z3_OP_IDIV: lambda given: Range(given[0].low // given[1].low, given[0].high // given[1].low),
    z3.Z3_OP_MOD: lambda given: Range(0, given[1].low - 1),
    z3.Z3_OP_ITE: lambda given: given[0].joined(given[1]),
}


def _made(one: Any, given: Sequence[Any], bits: int) -> Any:
    if z3.is_int_value(one):
        return z3.BitVecVal(one.as_long(), bits)
    if z3.is_const(one):
        return z3.BitVec(one.decl().name(), bits) if z3.is_int(one) else one
    rule = _RULES.get(one.decl().kind())
    return None if rule is None else rule(given)


def _floor(a: Any, b: Any) -> Any:
    """`b` is a positive constant."""
    value = b.as_long()
    if value & (value - 1) == 0:
        return a >> (value.bit_length() - 1)
    return z3.If(a >= 0, z3.UDiv(a, b), -z3.UDiv(b - 1 - a, b))


def _sum(given: Sequence[Any]) -> Any:
    return sum(given[1:], given[0])


def _times(given: Sequence[Any]) -> Any:
    found = given[0]
    for one in given[1:]:
        found = found * one
    return found


_RULES: Mapping[int, Callable[[Sequence[Any]], Any]] = {
    z3.Z3_OP_ADD: _sum,
    z3.Z3_OP_SUB: lambda given: given[0] - _sum(given[1:]),
    z3.Z3_OP_UMINUS: lambda given: -given[0],
    z3.Z3_OP_MUL: _times,
    z3.Z3_OP_IDIV: lambda given: _floor(*given),
    z3.Z3_OP_MOD: lambda given: given[0] - _floor(*given) * given[1],
    z3.Z3_OP_ITE: lambda given: z3.If(*given),
    z3.Z3_OP_GE: lambda given: given[0] >= given[1],
    z3.Z3_OP_LE: lambda given: given[0] <= given[1],
    z3.Z3_OP_GT: lambda given: given[0] > given[1],
    z3.Z3_OP_LT: lambda given: given[0] < given[1],
    z3.Z3_OP_EQ: lambda given: given[0] == given[1],
    z3.Z3_OP_DISTINCT: lambda given: z3.Distinct(*given),
    z3.Z3_OP_AND: lambda given: z3.And(*given),
    z3.Z3_OP_OR: lambda given: z3.Or(*given),
    z3.Z3_OP_NOT: lambda given: z3.Not(given[0]),
    z3.Z3_OP_IMPLIES: lambda given: z3.Implies(*given),
}
