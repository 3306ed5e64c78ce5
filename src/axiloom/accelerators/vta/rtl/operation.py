"""One lane of the ALU: two accumulators, one operation."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.accelerators.vta.rtl.meanings import ACCUMULATOR, ADD, MAX, MIN, MUL, SHR
from axiloom.hw.nest.operators.stages import Stages

LATENCY = 2
"""Cycles from the operands to `product`; `value` is of this cycle."""
_HALF = ACCUMULATOR // 2
_MOST = 16
"""Bits of the farthest shift, which is to the left."""


class Operation(wiring.Component):
    """`value`: what the operation `code` makes of `a` and `b`; `product`: the low bits of a * b,
    `LATENCY` cycles later, only with `multiplies`."""

    def __init__(self, multiplies: bool) -> None:
        self._multiplies = multiplies
        outputs = {"value": Out(ACCUMULATOR)} | ({"product": Out(ACCUMULATOR)} if multiplies else {})
        word = In(signed(ACCUMULATOR))
        super().__init__({"code": In(range(MUL + 1)), "a": word, "b": word, **outputs})

    @property
    def multiplies(self) -> bool:
        return self._multiplies

    def elaborate(self, platform: object) -> Module:
        m = Module()
        is_less = Signal()
        m.d.comb += is_less.eq(self.a < self.b)
        with m.Switch(self.code):
            with m.Case(MIN):
                m.d.comb += self.value.eq(Mux(is_less, self.a, self.b))
            with m.Case(MAX):
                m.d.comb += self.value.eq(Mux(is_less, self.b, self.a))
            with m.Case(ADD):
                m.d.comb += self.value.eq(self.a + self.b)
            with m.Case(SHR):
                m.d.comb += self.value.eq(_shifted(self.a, self.b))
        if self.multiplies:
            m.d.comb += self.product.eq(_product(Stages(m, "product"), self.a, self.b))
        return m


def _shifted(a: Value, b: Value) -> Value:
    """By the low 5 bits of `b`, as a signed number: to the right, or to the left by up to 16 bits. Both are
    one shift to the right of `a` with 16 zeros below."""
    wide = Cat(Const(0, _MOST), a, a[-1].replicate(_MOST - 1))
    by = Cat(b[:4], ~b[4])
    return (wide >> by)[:ACCUMULATOR]


def _product(stages: Stages, a: Value, b: Value) -> Value:
    """Out of products of halves, which three DSP48 hold."""
    halves: Sequence[tuple[Value, Value]] = (
        (a[:_HALF], b[:_HALF]),
        (a[_HALF:], b[:_HALF]),
        (a[:_HALF], b[_HALF:]),
    )
    low, left, right = (
        stages.later(stages.later(x, f"{name}_a") * stages.later(y, f"{name}_b"), name)
        for name, (x, y) in zip(("low", "left", "right"), halves, strict=True)
    )
    return (low + Cat(Const(0, _HALF), (left + right)[:_HALF]))[:ACCUMULATOR]
