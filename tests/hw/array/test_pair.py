"""Two products out of one multiplier are the products: all that there are, and the sums of the longest k."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tests.hw.component_bench import simulate

from axiloom.hw.array import pair
from axiloom.hw.array.mac_array import LATENCY, MacArray
from axiloom.hw.verilog.emit import convert


class Elements(wiring.Component):
    """Two elements and what they share, registered, then a :class:`PairMultiplier`."""

    def __init__(self) -> None:
        elements = {name: In(signed(8)) for name in ("low", "high", "shared")}
        super().__init__(elements | {f"{name}_product": Out(signed(16)) for name in ("low", "high")})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.multiplier = multiplier = pair.PairMultiplier()
        low, high, shared = (Signal(signed(8), name=f"{name}_held") for name in ("low", "high", "shared"))
        products = pair.products(multiplier.both)
        m.d.sync += [low.eq(self.low), high.eq(self.high), shared.eq(self.shared)]
        m.d.comb += [
            multiplier.pair.eq(pair.packed(low, high)),
            multiplier.shared.eq(shared),
            self.low_product.eq(products[0]),
            self.high_product.eq(products[1]),
        ]
        return m


MUTANTS = {
    "a borrow between the products": (r"17'h08000", "17'h00000"),
    "the low product's sign is not turned": (r"= ~both\[15\]", "= both[15]"),
    "the high factor lends nothing": (r"\{ 1'h0, low_held\[7\] \}", "2'h0"),
    "the loan has 8 bits": (r"\(_1\)", "($signed(high_held) - $signed({ 1'h0, low_held[7] }))"),
    "the low factor has no sign": (r"(port_\w+\[7\], ){8}", "8'h00, "),
    "the shared factor has no sign": (r"\$signed\(shared\)", "$signed({ 1'h0, shared })"),
}
"""Pattern in the Verilog, and what takes its place."""


def proved(verilog: str) -> bool | None:
    """What the solvers say: both products of the machine in `verilog` are right for all 2^24 triples."""
    z3 = pytest.importorskip("z3")
    pytest.importorskip("bitwuzla")
    from axiloom.prove.rtl.terms import machine
    from axiloom.prove.solvers import decide

    read = machine.read((("elements.v", verilog),), "elements")

    def held(name: str) -> Any:
        pieces = sorted(read.parts[f"{name}_held"], reverse=True)
        terms = [read.registers[own] for _, _, own in pieces]
        return z3.SignExt(8, z3.Concat(*terms) if len(terms) > 1 else terms[0])

    shared = held("shared")
    wanted = {"low_product": held("low") * shared, "high_product": held("high") * shared}
    step = read.stepper()
    state: dict[str, Any] = dict(read.registers)
    for _ in range(2):
        state, _ = step(state, read.inputs)
    _, outputs = step(state, read.inputs)
    claims = [machine.with_products(outputs[name]) == right for name, right in wanted.items()]
    (said,) = decide([z3.And(*claims)], 300)
    return said.holds


@pytest.mark.slow
def test_a_solver_proves_both_products_for_all_factors() -> None:
    assert proved(convert(Elements(), "elements")) is True


@pytest.mark.every(3)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_solver_finds_faults(mutant: str) -> None:
    good = convert(Elements(), "elements")
    bad, count = re.subn(*MUTANTS[mutant], good)
    assert count == 1
    assert proved(bad) is False


def test_all_triples_by_the_formula() -> None:
    """The module's text in NumPy, beside the solver: 2^24 products."""
    elements = np.arange(-128, 128)
    high, low = elements[:, None], elements[None, :]
    for shared in elements:
        total = ((high << 16) + low) * shared + (1 << 15)
        np.testing.assert_array_equal(
            ((total & 0xFFFF) ^ 0x8000).astype("<u2").view("<i2"), low * shared + 0 * high
        )
        np.testing.assert_array_equal(total >> 16, high * shared + 0 * low)
    held = (high << 16) + low
    assert (held.min(), held.max()) == (-(1 << 23) - 128, (127 << 16) + 127)  # 25 bits, and no fewer


@pytest.mark.parametrize("longest", [1, 2, 1023, 1024, 4096])
def test_sums_hold_the_longest_k_and_no_more(longest: int) -> None:
    bits = pair.sum_bits(longest)
    assert longest * 128 * 128 < 1 << bits - 1
    assert longest * 128 * 128 > 1 << bits - 3


def sums(longest: int, a: list[int], b: list[list[int]], rows: int = 2) -> list[list[int]]:
    """What an array puts out after a block: row r's sums of a[k] x b[k]."""
    cols = len(b[0])
    array = MacArray(8, rows, cols, longest)
    found: list[list[int]] = []

    async def bench(ctx: Any) -> None:
        for k, (factor, line) in enumerate(zip(a, b, strict=True)):
            ctx.set(array.a, sum((factor & 0xFF) << 8 * row for row in range(rows)))
            ctx.set(array.b, sum((one & 0xFF) << 8 * col for col, one in enumerate(line)))
            ctx.set(array.control.valid, 1)
            ctx.set(array.control.first, k == 0)
            await ctx.tick()
        ctx.set(array.control.valid, 0)
        await ctx.tick().repeat(LATENCY - 2)
        for row in range(rows + 1):
            ctx.set(array.select, row % rows)
            await ctx.tick()
            if row:
                word = ctx.get(array.selected)
                found.append([_signed(word >> 32 * col) for col in range(cols)])

    simulate(array, bench)
    return found


def _signed(word: int) -> int:
    return (word & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)


@pytest.mark.parametrize("longest", [3, 64])
@pytest.mark.parametrize("ends", [(-128, -128), (-128, 127), (127, 127)])
def test_the_largest_sums_are_whole(longest: int, ends: tuple[int, int]) -> None:
    a, b = [ends[0]] * longest, [[ends[1], ends[1], -ends[1] - 1, 0]] * longest
    right = [longest * ends[0] * one for one in b[0]]
    assert sums(longest, a, b) == [right, right]


@pytest.mark.parametrize("cols", [1, 2, 8])
def test_sums_of_random_blocks(cols: int) -> None:
    """A single column has no neighbour: its products come from a multiplier of their own."""
    random = np.random.default_rng(cols)
    a = random.integers(-128, 128, 20)
    b = random.integers(-128, 128, (20, cols))
    assert sums(20, a.tolist(), b.tolist()) == [(a @ b).tolist()] * 2


def test_sums_are_too_narrow_for_a_longer_k() -> None:
    """A bit fewer would not do: the test above looks at the widths."""
    longest = 4
    assert sums(longest, [-128] * 8, [[-128, -128]] * 8)[0] != [8 * 128 * 128] * 2
