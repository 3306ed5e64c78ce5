"""Every function against the model that texts are executed with, bit for bit: all of what is short, and pairs
that are hard. `product.py`, `add.py`, `brain.py`, `convert.py`, `divide.py`, `table.py`, `places.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate
from tests.hw.nest.operators.netlist import computed
from tests.hw.nest.operators.vectors import floats

from axiloom.base.errors import SpecError
from axiloom.hw.numbers.function import Function
from axiloom.hw.numbers.registry import FUNCTIONS, function
from axiloom.hw.numbers.table import Exponential
from axiloom.isa.instructions.externals import FUNCTIONS as MODELS

BITS = {16: "uint16", 32: "uint32"}
SPECIAL = (
    *(0, 1, 2, 0x7F, 0x80, 0x81, 0xFF, 0x100, 0x3F80, 0x3F81, 0x3FFF, 0x4000),
    *(0x7F00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0),
)


@dataclass
class _Computed:
    """As an operator of nests, for the evaluation of netlists."""

    function: Function

    @property
    def operand_bits(self) -> list[int]:
        return list(self.function.operand_bits)

    @property
    def result(self) -> str:
        return BITS[self.function.result_bits]

    @property
    def latency(self) -> int:
        return self.function.latency

    def build(self, m: Module, name: str, *operands: Any) -> Any:
        return self.function.build(m, name, *operands)


def rtl(name: str, *operands: Any) -> Any:
    return computed(_Computed(function(name)), *operands)  # type: ignore[arg-type]


def pairs(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Of bfloat16: specials with all numbers; anything; results near the ends of the range."""
    every = np.concatenate([np.arange(0, 1 << 16, 37), SPECIAL])
    special = np.array([sign | one for one in SPECIAL for sign in (0, 1 << 15)])
    a = np.concatenate([np.repeat(special, len(every)), rng.integers(0, 1 << 16, 2 * count)])
    b = np.concatenate([np.tile(every, len(special)), rng.integers(0, 1 << 16, 2 * count)])
    ends = slice(-count, None)
    low = rng.integers(0, 2, count) == 0
    power = np.where(low, rng.integers(90, 131, count), rng.integers(379, 385, count)) - (a[ends] >> 7 & 255)
    b[ends] = b[ends] & 0x807F | power.clip(0, 255) << 7
    return a, b


def same(found: Any, expected: Any, nan: int, fraction: int) -> None:
    """Every NaN of the RTL is `nan`."""
    is_nan = (expected & ((1 << fraction) - 1) != 0) & (expected >> fraction & 255 == 255)
    wrong = np.flatnonzero(found.astype(np.int64) != np.where(is_nan, nan, expected))
    assert not wrong.size, f"{wrong.size} differ, the first is number {wrong[0]}"


def test_sums() -> None:
    a, b = floats(np.random.default_rng(1), 20_000)
    subnormal = np.random.default_rng(2).integers(0, 1 << 25, (2, 20_000), np.uint32)
    a, b = np.concatenate([a, subnormal[0]]), np.concatenate([b, subnormal[1] | 1 << 31])
    same(rtl("float32.add", a, b), MODELS["float32.add"].python(a, b), 0x7FC00000, 23)


def test_products_of_bfloat16() -> None:
    a, b = pairs(np.random.default_rng(3), 50_000)
    expected = MODELS["float32.mul"].python(a << 16, b << 16)
    same(rtl("float32.mul of bfloat16", a, b), expected, 0x7FC00000, 23)


def test_quotients() -> None:
    a, b = pairs(np.random.default_rng(4), 50_000)
    back = 253 - (b[-50_000:] >> 7 & 255) + (a[-50_000:] >> 7 & 255)
    b[-50_000:] = b[-50_000:] & 0x807F | back.clip(0, 255) << 7
    same(rtl("bfloat16.div", a, b), MODELS["bfloat16.div"].python(a, b), 0x7FC0, 7)


@pytest.mark.parametrize("operation", ["add", "mul", "max"])
def test_bfloat16_in_and_out(operation: str) -> None:
    """Sums with carries, near cancellations and far operands besides."""
    a, b = pairs(np.random.default_rng(7), 30_000)
    near = np.random.default_rng(8).integers(0, 1 << 11, (2, 30_000))
    a = np.concatenate([a, a[-30_000:]])
    b = np.concatenate([b, (a[-30_000:] ^ 1 << 15) + near[0] - near[1] & 0xFFFF])
    name = f"bfloat16.{operation}"
    same(rtl(name, a, b), MODELS[name].python(a, b), 0x7FC0, 7)


def test_the_larger_one_of_zeros_is_positive() -> None:
    a, b = np.array([0, 0, 0x8000, 0x8000]), np.array([0, 0x8000, 0, 0x8000])
    for found in (rtl("bfloat16.max", a, b), MODELS["bfloat16.max"].python(a, b)):
        assert found.tolist() == [0, 0, 0, 0x8000]


@pytest.mark.slow
def test_quotients_of_all_significands() -> None:
    a, b = (each.ravel() for each in np.meshgrid(np.arange(0x3F80, 0x4000), np.arange(0x3F80, 0x4000)))
    for low in (*(0, 1, 60, 126, 127, 128), *(134, 135, 140)):  # exponents of b: results are subnormal too
        other = b & 0x7F | (127 + 126 - low) << 7
        a_low = a & 0x7F | 1 << 7
        same(rtl("bfloat16.div", a_low, other), MODELS["bfloat16.div"].python(a_low, other), 0x7FC0, 7)


def test_conversions() -> None:
    a, _ = floats(np.random.default_rng(5), 20_000)
    same(rtl("float32.to_bfloat16", a), MODELS["float32.to_bfloat16"].python(a), 0x7FC0, 7)
    every = np.arange(1 << 16)
    assert np.array_equal(rtl("bfloat16.to_float32", every), MODELS["bfloat16.to_float32"].python(every))


def _exponentials(values: Any) -> list[int]:
    m, raw, found = Module(), Signal(16), []
    result = Signal(16)
    m.d.comb += result.eq(function("bfloat16.exp").build(m, "exp", raw))

    async def bench(ctx: Any) -> None:
        for value in [*values, 0, 0]:
            ctx.set(raw, int(value))
            found.append(ctx.get(result))
            await ctx.tick()

    simulate(m, bench, limit=1 << 17)
    return found[2:]


def test_exponentials() -> None:
    rng = np.random.default_rng(6)
    inside = rng.integers(110 << 7, 140 << 7, 1000) | rng.integers(0, 2, 1000) << 15
    special = [sign | one for one in SPECIAL for sign in (0, 1 << 15)]
    values = np.concatenate([inside, special])
    assert _exponentials(values) == MODELS["bfloat16.exp"].python(values).tolist()


@pytest.mark.slow
def test_all_exponentials() -> None:
    every = np.arange(1 << 16)
    assert _exponentials(every) == MODELS["bfloat16.exp"].python(every).tolist()


def test_a_table_that_is_not_all_of_its_function_is_refused() -> None:
    class Narrower(Exponential):
        least = 119

    with pytest.raises(SpecError, match=r"bfloat16.exp of 0xbb01 is .*, outside of the table"):
        Narrower().entries()


def test_an_unknown_function_is_refused() -> None:
    assert all(name == one.external for name, one in FUNCTIONS.items())
    with pytest.raises(SpecError, match=r"no RTL computes `float32.exp`; there is float32.add, "):
        function("float32.exp")
