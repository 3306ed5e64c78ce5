# amaranth: UnusedElaboratable=no
"""Memories in banks: against lists, for each storage; and what their checks see."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Const, Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.nest.access import Access
from axiloom.hw.nest.checks import Checks
from axiloom.hw.nest.circuit import Memory, Storage
from axiloom.hw.nest.memory import MemoryLogic, address_bits, external_ports
from axiloom.hw.nest.requests import Beat, Request

BEAT = Beat("p", 1, None)


class Bench:
    """Two reads, in which the bank is chosen, and a write, on banks 0 and 2 of 3."""

    def __init__(self, memory: Memory, second: bool = True) -> None:
        self.m, self.checks = Module(), Checks(True)
        self.on = [Signal(name=f"on_{number}") for number in range(3)]
        self.address = [Signal(4, name=f"address_{number}") for number in range(3)]
        self.bank = [Signal(2, name=f"bank_{number}") for number in range(3)]
        self.data = Signal(8)
        self.then = [Signal.like(each, name=f"{each.name}_then") for each in self.bank]
        domain = "sync" if memory.latency else "comb"
        self.m.d[domain] += [a.eq(b) for a, b in zip(self.then, self.bank, strict=True)]
        logic = MemoryLogic(memory)
        self.read = [logic.read(self._access(number)) for number in range(2 if second else 1)]
        logic.write(self._access(2, self.data))
        logic.build(self.m, self.checks, {})
        self.error = self.checks.build(self.m)

    def _access(self, number: int, *data: Signal) -> Access:
        request = Request(BEAT, 0, (), self.on[number], (self.address[number], *data))
        return Access(request, (0, 2), self.bank[number], f"access_{number}", self.then[number])


@pytest.mark.parametrize("storage", list(Storage))
def test_a_read_sees_the_writes_before_it(storage: Storage) -> None:
    memory = Memory("a", 8, 3, 6, storage, ports=2)
    bench, rng = Bench(memory), random.Random(1)
    words = [[0] * 6 for _ in range(3)]

    async def drive(ctx: Any) -> None:
        expected: list[int | None] = [None, None]
        for cycle in range(400):
            at = [(rng.choice([0, 2]), rng.randrange(6)) for _ in range(3)]
            if rng.random() < 0.5:
                at[0] = at[2]
            on, value = [rng.random() < 0.8 for _ in range(3)], rng.getrandbits(8)
            on[2] = on[2] or cycle < 60
            for number, (bank, address) in enumerate(at):
                ctx.set(bench.on[number], on[number])
                ctx.set(bench.bank[number], bank)
                ctx.set(bench.address[number], address)
            ctx.set(bench.data, value)
            await ctx.delay(1e-10)
            now = [
                words[bank][address] if on[number] else None for number, (bank, address) in enumerate(at[:2])
            ]
            for number, signal in enumerate(bench.read):
                known = expected[number] if memory.latency else now[number]
                assert known is None or ctx.get(signal) == known
            expected = now
            if on[2]:
                words[at[2][0]][at[2][1]] = value
            await ctx.tick()
        assert ctx.get(bench.error) == 0

    simulate(bench.m, drive)


@pytest.mark.parametrize(
    ("bank", "address", "text"),
    [(0, 6, "a: access_0: the address is not in the bank"), (1, 0, "a: access_0: there is no such bank")],
)
def test_what_is_not_there(bank: int, address: int, text: str) -> None:
    bench = Bench(Memory("a", 8, 3, 6))

    async def drive(ctx: Any) -> None:
        ctx.set(bench.bank[0], bank)
        ctx.set(bench.address[0], address)
        await ctx.tick()
        assert ctx.get(bench.error) == 0  # nothing was asked for
        ctx.set(bench.on[0], 1)
        await ctx.tick()
        await ctx.tick()
        assert bench.checks.texts[ctx.get(bench.error) - 1] == text

    simulate(bench.m, drive)


def test_two_addresses_on_one_port() -> None:
    """With one port the second read must rest, or read the same."""
    bench = Bench(Memory("a", 8, 3, 6, ports=1))

    async def drive(ctx: Any) -> None:
        for number in range(2):
            ctx.set(bench.on[number], 1)
            ctx.set(bench.address[number], 3)
        await ctx.tick()
        await ctx.tick()
        assert ctx.get(bench.error) == 0
        ctx.set(bench.address[1], 4)
        await ctx.tick()
        await ctx.tick()
        what = bench.checks.texts[ctx.get(bench.error) - 1]
        assert what == "a: two addresses on read port 0 of bank 0 in a cycle"

    simulate(bench.m, drive)


def test_two_writes_in_a_cycle() -> None:
    m, checks, logic = Module(), Checks(True), MemoryLogic(Memory("a", 8, 1, 4))
    on = [Signal(name=f"on_{number}") for number in range(2)]
    for number in range(2):
        request = Request(BEAT, number, (), on[number], (Const(number, 2), Const(7, 8)))
        logic.write(Access(request, (0,), Const(0, 1), f"write_{number}"))
    logic.build(m, checks, {})
    error = checks.build(m)

    async def drive(ctx: Any) -> None:
        for expected, bits in ((0, (1, 0)), (0, (0, 1)), (1, (1, 1))):
            for signal, bit in zip(on, bits, strict=True):
                ctx.set(signal, bit)
            await ctx.tick()
            await ctx.tick()
            assert ctx.get(error) == expected
        assert checks.texts == ["a: two writes to bank 0 in a cycle"]

    simulate(m, drive)


def test_ports_of_external_banks() -> None:
    memory = Memory("a__b", 8, 2, 1, ports=2, external=True)
    assert address_bits(memory) == 1
    assert external_ports(memory, 1, reads=True, writes=False) == {
        "a_b_1_r0_addr": ("out", 1),
        "a_b_1_r0_en": ("out", 1),
        "a_b_1_r0_data": ("in", 8),
        "a_b_1_r1_addr": ("out", 1),
        "a_b_1_r1_en": ("out", 1),
        "a_b_1_r1_data": ("in", 8),
    }
    assert [*external_ports(memory, 0, False, True)] == ["a_b_0_w_addr", "a_b_0_w_en", "a_b_0_w_data"]
