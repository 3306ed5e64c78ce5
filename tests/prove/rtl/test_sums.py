"""Sums of products as whole numbers: what becomes the same term, and that none becomes another one."""

from __future__ import annotations

import random
from functools import reduce
from typing import Any

import pytest
import z3

from axiloom.prove.rtl.terms.sums import Sums

BYTES = [z3.BitVec(f"byte {number}", 8) for number in range(6)]


def wide(term: Any, bits: int) -> Any:
    return z3.SignExt(bits - term.size(), term)


def products(bits: int) -> list[Any]:
    return [wide(wide(a, 16) * wide(b, 16), bits) for a, b in zip(BYTES[::2], BYTES[1::2], strict=True)]


def test_orders_and_widths_of_a_sum() -> None:
    """As a text adds, from the left in as many bits as it needs, and as an adder of 32 bits does."""
    one, two, three = products(19)
    text = wide(wide(z3.Extract(17, 0, one + two), 20) + wide(three, 20), 32)
    rtl = reduce(lambda a, b: a + b, reversed(products(32)))
    ours, theirs = Sums()([text, rtl])
    assert ours.eq(theirs)
    assert not z3.simplify(text).eq(z3.simplify(rtl))


def test_bits_of_a_sum() -> None:
    """A shift to the right with the sign, as bits, and of a wider sum."""
    narrow, more = sum(products(18)), sum(products(32))
    bits = wide(z3.Extract(17, 5, narrow), 32)
    front = z3.Concat(*[z3.Extract(17, 17, narrow)] * 19, z3.Extract(17, 5, narrow))
    found = Sums()([bits, front, more >> 5, z3.Extract(31, 0, wide(more, 40) >> 5)])
    assert all(one.eq(found[0]) for one in found)


def test_a_sum_that_loses_bits_is_another() -> None:
    a, b = BYTES[:2]
    lost, kept, none = Sums()([wide(a + b, 16), wide(a, 16) + wide(b, 16), z3.ZeroExt(8, a) + wide(b, 16)])
    assert not lost.eq(kept)
    assert not kept.eq(none)
    wraps, more = Sums()([wide(sum(products(16)), 32), sum(products(32))])
    assert not wraps.eq(more)


def test_ranges_that_somebody_knows() -> None:
    """A digit in a byte: eight bits are enough for two of them."""
    a, b = BYTES[:2]
    sums = Sums(lambda term: (0, 9) if term.eq(a) or term.eq(b) else None)
    lost, kept, zeros = sums([wide(a + b, 16), wide(a, 16) + wide(b, 16), z3.ZeroExt(8, b + a)])
    assert lost.eq(kept)
    assert lost.eq(zeros)


A, B, C = (z3.BitVec(name, 3) for name in "abc")
WRAPS = A + B
UNSIGNED = z3.ZeroExt(1, A) + z3.ZeroExt(1, B) + z3.ZeroExt(1, C)
NEAR = {
    "a sum of numbers without signs that is too large, with zeros": z3.ZeroExt(2, UNSIGNED),
    "bits of it as a number": z3.ZeroExt(3, z3.Extract(2, 0, UNSIGNED)),
    "a sum that wraps, shifted": wide(WRAPS >> 1, 6),
    "one of two that wrap": wide(z3.If(A < B, A + B, A - B), 6) + 1,
    "one of two that only look negative": z3.ZeroExt(
        2, z3.If(A < B, z3.ZeroExt(1, A) + 5, z3.ZeroExt(1, B) + 5)
    ),
    "a bit that is not the sign": z3.Concat(z3.Extract(1, 1, WRAPS), WRAPS),
    "another one's sign": z3.Concat(z3.Extract(2, 2, A), B),
    "the sign of a part": z3.Concat(
        z3.Extract(1, 1, WRAPS), z3.Extract(1, 1, WRAPS), z3.Extract(1, 0, WRAPS)
    ),
    "one sign and one zero": z3.Concat(z3.BitVecVal(0, 1), z3.Extract(2, 2, A), A),
    "a product of itself": wide(wide(A, 6) * wide(A, 6), 8) >> 2,
    "a shift by more than there is": wide(A, 6) >> z3.BitVecVal(40, 6),
    "a shift that is not known": wide(A, 6) >> wide(B, 6),
    "up and away": wide(A << 2, 6),
    "up by more than there is": wide(A, 6) << z3.BitVecVal(8, 6),
    "less than nothing": wide(-A, 6) - wide(B, 6),
    "zeros behind two": z3.Concat(A, B, z3.BitVecVal(0, 2)),
}
"""What a rule must not take for its own, or just may."""


@pytest.mark.parametrize("name", NEAR)
def test_rules(name: str) -> None:
    _checked([NEAR[name]])


@pytest.mark.parametrize("seed", range(12))
def test_nothing_becomes_another(seed: int) -> None:
    """Terms as they come."""
    source = random.Random(seed)
    known: list[Any] = [A, B, C]
    for _ in range(16):
        known.append(_made(source, known))
    _checked(known)


def _checked(terms: list[Any]) -> None:
    """With what names stand for, each is what it was, and names are in their ranges."""
    sums = Sums()
    made = sums(terms)
    claims = [z3.substitute(a, *sums.named) == b for a, b in zip(made, terms, strict=True)]
    claims += [
        z3.And(meaning >= low, meaning <= high)
        for (_, meaning), (low, high) in zip(sums.named, sums.ranges, strict=True)
    ]
    for claim in claims:
        solver = z3.Solver()
        solver.add(z3.Not(claim))
        assert solver.check() == z3.unsat, claim


def _made(source: random.Random, known: list[Any]) -> Any:
    """One more term of up to six bits."""
    one, other = (source.choice(known) for _ in range(2))
    bits = max(one.size(), other.size())
    a, b = wide(one, bits), wide(other, bits)
    low = source.randrange(one.size())
    high = source.randrange(low, one.size())
    shift = source.randrange(bits)
    ways = [
        a + b,
        a - b,
        a * b,
        -a,
        a + source.randrange(-4, 4),
        a >> shift,
        a << shift,
        z3.Extract(high, low, one),
        wide(one, 6),
        z3.ZeroExt(6 - one.size(), one),
        z3.If(a <= b, a, b),
        z3.Concat(z3.Extract(high, high, one), z3.Extract(high, low, one)) if high - low < 5 else a,
        z3.Concat(one, z3.BitVecVal(0, 2)) if one.size() < 5 else b,
        z3.Concat(z3.BitVecVal(0, 1), one) if one.size() < 6 else a,
        a ^ b,
    ]
    return source.choice(ways)
