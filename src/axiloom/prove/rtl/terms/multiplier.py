"""What a multiplier of the RTL gives is the product, for all factors.

Solvers do not prove that of 32 bits. Where factors are taken apart, it is shown in steps that they do
prove: the result is a sum of the partial products, each with a weight; each of their factors is a sum of
the parts, each with a weight; and the weights multiplied out are those of the product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from axiloom.prove.rtl.terms.machine import PRODUCT, walk, with_products

BITS = 32
Decide = Callable[[Any], "tuple[bool | None, str, Any]"]


def holds(
    multiply: Callable[[Any, Any], Any],
    bits: int,
    decide: Decide,
    simplify: Callable[[Any], Any] = z3.simplify,
) -> tuple[bool | None, str]:
    """Is ``multiply(a, b)`` the product of two signed factors of `bits` bits, modulo 2^32; who says so."""
    a, b = z3.BitVec("a", bits), z3.BitVec("b", bits)
    result = simplify(multiply(a, b))
    if bits == BITS:
        for low in sorted({one.params()[1] for one in walk([result]) if z3.is_app_of(one, z3.Z3_OP_EXTRACT)}):
            if low and _by_parts(result, a, b, low, decide):
                return True, "z3, by parts"
    wide = [z3.SignExt(BITS - bits, one) if bits < BITS else one for one in (a, b)]
    said, solver, _ = decide(with_products(result) == wide[0] * wide[1])
    return said, solver


def _by_parts(result: Any, a: Any, b: Any, low: int, decide: Decide) -> bool:
    """The proof for factors that are taken apart below bit `low`."""
    partial = [one for one in walk([result]) if one.num_args() == 2 and one.decl().name().startswith(PRODUCT)]
    if not partial or any(one.size() < BITS for one in partial):
        return False
    cuts = [z3.BitVec(f"partial{i}", BITS) for i in range(len(partial))]
    # What is above 32 bits may be anything.
    above = [one.size() - BITS for one in partial]
    wide = [
        z3.Concat(z3.BitVec(f"above{i}", bits), cut) if bits else cut
        for i, (cut, bits) in enumerate(zip(cuts, above, strict=True))
    ]
    outside = z3.substitute(result, *zip(partial, wide, strict=True))
    if (weights := _weights(outside, cuts, decide)) is None:
        return False
    parts = [
        z3.ZeroExt(BITS - size, z3.BitVec(name, size))
        for name, size in (("a_low", low), ("a_high", BITS - low), ("b_low", low), ("b_high", BITS - low))
    ]
    together = [
        z3.Concat(z3.BitVec(f"{name}_high", BITS - low), z3.BitVec(f"{name}_low", low)) for name in "ab"
    ]
    found = dict.fromkeys(((i, j) for i in range(4) for j in range(4)), 0)
    for weight, one in zip(weights, partial, strict=True):
        factors = []
        for factor in one.children():
            own = z3.substitute(z3.Extract(BITS - 1, 0, factor), (a, together[0]), (b, together[1]))
            if (of_parts := _weights_of(own, parts, decide)) is None:
                return False
            factors.append(of_parts)
        for i, x in enumerate(factors[0]):
            for j, y in enumerate(factors[1]):
                key = (min(i, j), max(i, j))
                found[key] = (found[key] + weight * x * y) % (1 << BITS)
    wanted = dict.fromkeys(found, 0)
    for i, x in enumerate((1, 1 << low)):
        for j, y in enumerate((1, 1 << low)):
            wanted[i, j + 2] = x * y % (1 << BITS)
    return found == wanted


def _weights(term: Any, variables: Sequence[Any], decide: Decide) -> list[int] | None:
    """`term` is the sum of the variables with these weights; None: it is not."""
    return _sum_of(term, variables, variables, decide)


def _weights_of(term: Any, parts: Sequence[Any], decide: Decide) -> list[int] | None:
    return _sum_of(term, parts, [part.arg(0) for part in parts], decide)


def _sum_of(term: Any, parts: Sequence[Any], names: Sequence[Any], decide: Decide) -> list[int] | None:
    weights = []
    for name in names:
        values = [(other, z3.BitVecVal(int(other is name), other.size())) for other in names]
        weight = z3.simplify(z3.substitute(term, *values, *_zeros(term, names)))
        if not z3.is_bv_value(weight):
            return None
        weights.append(weight.as_long())
    total = sum((weight * part for weight, part in zip(weights, parts, strict=True)), z3.BitVecVal(0, BITS))
    return weights if decide(term == total)[0] else None


def _zeros(term: Any, names: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Every other constant of the term, and zero."""
    own = {name.get_id() for name in names}
    return [
        (one, z3.BitVecVal(0, one.size()))
        for one in walk([term])
        if z3.is_const(one) and not z3.is_bv_value(one) and one.get_id() not in own
    ]
