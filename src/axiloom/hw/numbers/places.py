"""Where bits lie: leading zeros, and shifts to the right that keep what falls off as one bit."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Value

from axiloom.hw.nest.operators.stages import Stages


def normalised(stages: Stages, value: Value, most: Value, label: str) -> tuple[Value, Value]:
    """`value` to the left by as many places as it has leading zeros, at most `most`; and how many these are.

    A value of 0 goes as far as `most` allows."""
    width = len(value)
    moved: Value = value
    room: Value = most
    bits: list[Value] = []
    for step in reversed(range((width - 1).bit_length())):
        places = 1 << step
        if places >= width:
            bits.insert(0, Const(0, 1))
            continue
        goes = stages.wire(~moved[width - places :].any() & (room >= places), f"{label}_{places}")
        moved = stages.wire(
            Mux(goes, Cat(Const(0, places), moved[: width - places]), moved), f"{label}_by_{places}"
        )
        room = stages.wire((room - Mux(goes, places, 0))[: len(most)], f"{label}_room_{places}")
        bits.insert(0, goes)
    return moved, Cat(*bits)


def shifted_right(stages: Stages, value: Value, places: Value, label: str) -> Value:
    """`value` to the right; its lowest bit becomes 1 if anything but zeros fell off."""
    width = len(value)
    lost: Value = Const(0, 1)
    for step in range(len(places)):
        size = min(1 << step, width)
        off = places[step] & value[:size].any()
        shifted = Cat(value[size:], Const(0, size)) if size < width else Const(0, width)
        value = stages.wire(Mux(places[step], shifted, value), f"{label}_{1 << step}")
        lost = stages.wire(lost | off, f"{label}_lost_{1 << step}")
    return Cat(value[0] | lost, value[1:])


def rounded_up(fraction: Value, guards: int) -> Value:
    """Whether a fraction with `guards` bits behind it is rounded up: to the nearest, halves to even."""
    half, rest, last = fraction[guards - 1], fraction[: guards - 1], fraction[guards]
    return half & (rest.any() | last)


def kinds_of(*operands: Value) -> tuple[list[Value], list[Value], list[Value]]:
    """Which of these bfloat16 are NaN, which infinite and which 0."""
    nan = [operand[7:15].all() & operand[:7].any() for operand in operands]
    infinite = [operand[7:15].all() & ~operand[:7].any() for operand in operands]
    return nan, infinite, [~operand[:15].any() for operand in operands]
