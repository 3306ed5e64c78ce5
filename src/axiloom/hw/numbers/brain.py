"""Sums, products and the larger one of two bfloat16: made in float32 and rounded, as the models are."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Value

from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.add import Add
from axiloom.hw.numbers.convert import NAN, Narrow, Widen
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.product import Product


class BrainAdd(Function):
    external = "bfloat16.add"
    operand_bits = (16, 16)
    result_bits = 16
    latency = Add.latency

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        wide = [Widen().build(m, name, operand) for operand in operands]
        return Narrow().build(m, f"{name}_rounded", Add().build(m, name, *wide))


class BrainMultiply(Function):
    external = "bfloat16.mul"
    operand_bits = (16, 16)
    result_bits = 16
    latency = Product.latency

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        return Narrow().build(m, f"{name}_rounded", Product().build(m, name, *operands))


class BrainMaximum(Function):
    """0 is larger than -0; of a NaN and anything it is NaN."""

    external = "bfloat16.max"
    operand_bits = (16, 16)
    result_bits = 16
    latency = 1

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        a, b = operands
        # Patterns in the order of their numbers: negative ones turned round, below the others.
        order = [
            stages.wire(Mux(operand[15], ~operand, operand ^ 1 << 15), f"order_{i}")
            for i, operand in enumerate(operands)
        ]
        is_nan = [operand[7:15].all() & operand[:7].any() for operand in operands]
        larger = stages.wire(Mux(order[0] < order[1], b, a), "larger")
        return stages.later(stages.wire(Mux(is_nan[0] | is_nan[1], NAN, larger)[:16], "kind"), "result")
