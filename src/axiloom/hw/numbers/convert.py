"""bfloat16 is the upper half of a float32."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value

from axiloom.hw.nest.operators.float import encoding
from axiloom.hw.nest.operators.stages import Stages
from axiloom.hw.numbers.function import Function

NAN = encoding.NAN >> 16


class Widen(Function):
    """Exact: wires."""

    external = "bfloat16.to_float32"
    operand_bits = (16,)
    result_bits = 32
    latency = 0

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        return Cat(Const(0, 16), operands[0])


class Narrow(Function):
    """To the nearest, halves to even; a carry out of the exponent's last value is infinity."""

    external = "float32.to_bfloat16"
    operand_bits = (32,)
    result_bits = 16
    latency = 0

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        stages = Stages(m, name)
        (raw,) = operands
        up = raw[15] & (raw[:15].any() | raw[16])
        rounded = stages.wire((raw[16:] + up)[:16], "rounded")
        return stages.wire(Mux(encoding.is_nan(raw), NAN, rounded), "narrow")
