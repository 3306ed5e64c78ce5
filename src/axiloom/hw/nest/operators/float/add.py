"""float32 `add` and `sub`, made for few LUTs.

Steps, with registers between them:

1. The difference of the exponents says which operand is x, that of the larger exponent, and how far y's
   significand goes right. Significands are not compared: with equal exponents their difference may be
   negative.
2. y goes right by the rest, two bits wider than a significand; what falls off is kept as one bit, sticky. A
   significand to subtract is inverted.
3. The sum. Sticky takes the place of the carry: x - y - (a little) is x + ~y.
4. Normalised by 16, 12, 8 or 4 bits. A negative sum is inverted at the same time, and ones follow from the
   right: the last 1 of the negation comes with the rounding, because all bits behind the significand are
   ones. No such sum has been rounded by step 2. Infinity and NaN replace the sum here, zero as well.
5. Normalised by the last 3 bits and rounded by one carry chain through significand and exponent.

Flip-flops have a synchronous set or reset: constants that replace a value come for free where a register is.
"""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.formats import FLOAT32
from axiloom.hw.nest.operators.operator import Operator, Raw
from axiloom.hw.nest.operators.stages import Stages

_CUTS = {4: (1, 0, 1, 1), 5: (1, 1, 1, 1), 3: (0, 1, 1, 0)}
"""By latency, whether there are registers behind steps 1 to 4. There are always behind the last."""


class Sum(Operator):
    """NaN of inf - inf. A sum of 0 has a minus sign if both operands have."""

    forms = "add, sub: float32"

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return tuple(_CUTS) if name in ("add", "sub") and number == result == FLOAT32 else ()

    def reference(self, *operands: Raw) -> Raw:
        x, y = (encoding.decode(operand) for operand in operands)
        with np.errstate(all="ignore"):
            return encoding.encode(x + y if self.name == "add" else x - y)

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        a, b = operands
        if self.name == "sub":
            b = b ^ (1 << 31)
        stages = _Stages(m, name)
        cuts = _CUTS[self.latency]

        # 1
        difference = stages.wire(encoding.exponent(a) - encoding.exponent(b), "difference")
        swap = difference[-1]
        subtract = a[31] ^ b[31]
        is_a_large = stages.wire(encoding.exponent(a).all(), "is_a_large")
        is_b_large = stages.wire(encoding.exponent(b).all(), "is_b_large")
        is_large = is_a_large | is_b_large
        is_nan = (
            (is_a_large & encoding.fraction(a).any())
            | (is_b_large & encoding.fraction(b).any())
            | (is_a_large & is_b_large & subtract)
        )
        is_zero = encoding.is_zero(a) & encoding.is_zero(b)
        smaller = Cat(Mux(swap, encoding.fraction(a), encoding.fraction(b)), 1)
        moved = Mux(difference[0], Cat(smaller, 0), Cat(0, smaller))
        moved = stages.cleared(moved, encoding.is_zero(a) | encoding.is_zero(b), "smaller", cuts[0])
        keep = [
            stages.later(value, label, cuts[0])
            for value, label in (
                (_distance(stages, difference), "distance"),
                (swap, "swap"),
                (encoding.fraction(a), "a"),
                (encoding.fraction(b), "b"),
                (Cat(subtract, is_nan, is_zero, is_large, Mux(swap, b[31], a[31])), "kinds"),
                (encoding.exponent(a), "a_exponent"),
                (encoding.exponent(b), "b_exponent"),
            )
        ]
        distance, *keep = keep

        # 2
        aligned, sticky = _aligned(moved, distance)
        subtract = keep[3][0]
        inverted = stages.later(aligned ^ subtract.replicate(26), "addend", cuts[1])
        sticky = stages.later(sticky, "lost", cuts[1])
        swap, a, b, kinds, *exponents = (
            stages.later(value, f"{label}2", cuts[1])
            for value, label in zip(
                keep, ("swap", "a", "b", "kinds", "a_exponent", "b_exponent"), strict=True
            )
        )

        # 3: the addend comes first, so that the choice of x is in the adder's LUTs
        subtract = kinds[0]
        carry = subtract & ~sticky
        larger = Cat(Const(0, 2), Mux(swap, b, a), 1, 0)
        total = (Cat(carry, inverted, subtract) + Cat(1, larger))[1:28]
        total = stages.later(stages.wire(total, "total"), "sum", cuts[2])
        sticky = stages.later(sticky, "sticky", cuts[2])
        kinds = stages.later(kinds, "kinds3", cuts[2])
        swap = stages.later(swap, "swap3", cuts[2])
        a, b = (
            stages.later(exponent, f"{label}3", cuts[2])
            for exponent, label in zip(exponents, "ab", strict=True)
        )
        exponent = Mux(swap, b, a)
        return _rounded(stages, total, sticky, kinds, exponent, cuts[3])


class _Stages(Stages):
    def cleared(self, value: Value, when: Value, label: str, is_cut: int, to: int = 0) -> Value:
        """`value`, or `to` when `when` holds; a register's set or reset does it where there is a register."""
        chosen = Mux(when, Const(to, len(value)), value)
        return self.later(chosen, label) if is_cut else self.wire(chosen, label)


def _distance(stages: Stages, difference: Value) -> Value:
    """Bits 1 to 4 of how far y goes right; all ones for 32 and more."""
    inverted = difference[:8] ^ difference[-1].replicate(8)
    carry = difference[-1]
    bits: list[Value] = []
    for bit in range(1, 5):
        below = ~difference[:bit].any() & carry
        bits.append(inverted[bit] ^ below)
    is_far = inverted[5:8].any() | (~difference[:5].any() & carry)
    return Cat(*bits) | stages.wire(is_far, "far").replicate(4)


def _aligned(moved: Value, distance: Value) -> tuple[Value, Value]:
    """26 bits, and whether anything fell off."""
    wide = Cat(0, moved)
    near = wide >> (distance[:2] << 1)
    lost_near = (
        (distance[:2].any() & wide[1])
        | (distance[1] & wide[2:4].any())
        | (distance[:2].all() & wide[4:6].any())
    )
    far = near >> (distance[2:] << 3)
    lost_far = (
        (distance[2:].any() & near[:8].any())
        | (distance[3] & near[8:16].any())
        | (distance[2:].all() & near[16:24].any())
    )
    return far[:26], lost_near | lost_far


def _first(first: Value, second: Value, third: Value) -> Value:
    """How many of these are 1 before the first 0."""
    return Cat(first & (~second | third), first & second)


def _rounded(
    stages: _Stages, total: Value, sticky: Value, kinds: Value, exponent: Value, is_cut: int
) -> Value:
    # 4
    subtract, is_nan, is_zero, is_large, sign = kinds
    negative = stages.wire(total[26] & subtract, "negative")
    # By fours: how many nibbles of zeros lead, at once for the 16 bits and for the rest.
    positive = stages.wire(total ^ negative.replicate(27), "positive")
    zeros = [~positive[low : low + 4].any() for low in range(23, 0, -4)]
    by_16 = stages.wire(zeros[0] & zeros[1] & zeros[2] & zeros[3], "by_16")
    count = stages.wire(
        Mux(
            zeros[0] & zeros[1],
            Mux(zeros[2] & zeros[3], _first(zeros[4], zeros[5], ~positive[0:3].any()), Cat(zeros[2], 1)),
            Cat(zeros[0], 0),
        ),
        "count",
    )
    half = Mux(by_16, Cat(negative.replicate(16), positive[:11]), positive)
    near = half
    for bit, shift in ((1, 8), (0, 4)):
        near = Mux(count[bit], Cat(negative.replicate(shift), near[: 27 - shift]), near)
    significand = stages.cleared(near[:26], is_large | is_zero, "significand", is_cut)
    top = stages.later(is_large | (near[26] & ~is_zero), "top", is_cut)
    # Less 2: 0 to 3 are added below. The exponent comes last: the choice of it is in the adder's LUTs then.
    shifts = ~Cat(0, 1, count, by_16, Const(0, 4))
    lowered = (Cat(1, shifts) + Cat(1, exponent, 0))[1:10]
    lowered = stages.cleared(lowered, is_large, "lowered", is_cut, to=252)
    is_nan = stages.later(is_nan, "is_nan", is_cut)
    sign = stages.later((sign ^ negative) & ~is_nan if not is_cut else (sign ^ negative), "sign", is_cut)
    subtract = stages.later(subtract, "subtract", is_cut)
    negative = stages.later(negative, "fill", is_cut)
    sticky = stages.later(sticky, "sticky4", is_cut)

    # 5
    near = Cat(significand, top)
    by_2 = stages.wire(~near[25:27].any(), "by_2")
    by_1 = stages.wire(~near[26] & (near[25] | ~near[24]), "by_1")
    normal = Mux(
        by_2,
        Mux(by_1, Cat(negative.replicate(3), near[:24]), Cat(negative.replicate(2), near[:25])),
        Mux(by_1, Cat(negative.replicate(1), near[:26]), near),
    )
    normal = stages.wire(normal, "normal")
    up = stages.wire(normal[2] & (normal[3] | normal[:2].any() | sticky), "up")
    step = Cat(up, Const(0, 22), ~by_1, ~by_2)
    packed = stages.wire((Cat(normal[3:26], lowered) + step)[:32], "packed")
    is_zero = ~normal[26]
    is_small = is_zero | packed[31] | (packed[23:32] == 0)
    overflows = (lowered == 252) & near[26]
    result = Signal(32, name=f"{stages.name}_result", reset_less=True)
    d = stages.m.d.sync
    d += result[:22].eq(Mux(is_small | overflows, 0, packed[:22]))
    d += result[22].eq(is_nan | (~(is_small | overflows) & packed[22]))
    d += result[23:31].eq(Mux(is_small, 0, packed[23:31]))
    d += result[31].eq(sign & ~is_nan & ~(is_zero & subtract))
    return result
