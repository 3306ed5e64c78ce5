# amaranth: UnusedElaboratable=no
"""A front with a unit that echoes its payload: commands in order, payload apart, stop until reset."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tests.hw.component_bench import simulate

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.command.fault import Fault
from axiloom.hw.command.front import CommandFront

BEAT = 32


class Echo(wiring.Component):
    """Commands of 64 bits: the lowest byte says how many beats of payload come. They go out plus the upper
    word. 0xFF is no command."""

    def __init__(self) -> None:
        super().__init__(
            {
                "s_axis": In(AXI4Stream(BEAT)),
                "m_axis": Out(AXI4Stream(BEAT)),
                "error": Out(4),
                "restart": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        front = CommandFront(64, BEAT)
        m.submodules.front = ResetInserter(self.restart)(front)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        word = front.command.payload
        left, active, upper = Signal(8), Signal(), Signal(BEAT)
        bad = word[:8] == 0xFF
        m.d.comb += [
            self.error.eq(front.debug_error),
            front.command.ready.eq(~active),
            front.result.valid.eq(front.payload.valid & active),
            front.payload.ready.eq(front.result.ready & active),
            front.result.payload.data.eq(front.payload.payload + upper),
            front.result.payload.last.eq(left == 1),
        ]
        with m.If(front.command.valid & front.command.ready):
            m.d.comb += [front.next.eq(word[:8] == 0), front.fault.eq(bad * Fault.UNKNOWN.value)]
            m.d.sync += [left.eq(word[:8]), upper.eq(word[32:]), active.eq((word[:8] != 0) & ~bad)]
        with m.If(front.payload.valid & front.payload.ready):
            m.d.sync += left.eq(left - 1)
            with m.If(left == 1):
                m.d.comb += front.next.eq(1)
                m.d.sync += active.eq(0)
        with m.If(self.restart):
            m.d.sync += active.eq(0)
        return m


def _run(beats: list[int], reset_at: int | None = None) -> tuple[list[tuple[int, int]], int]:
    device, rng = Echo(), random.Random(4)
    taken: list[tuple[int, int]] = []
    error = 0

    async def send(ctx: Any) -> None:
        nonlocal error
        for number, beat in enumerate(beats):
            if number == reset_at:
                ctx.set(device.s_axis.tvalid, 0)
                for _ in range(30):
                    await ctx.tick()
                ctx.set(device.restart, 1)
                await ctx.tick()
                ctx.set(device.restart, 0)
            while rng.random() < 0.3:
                await ctx.tick()
            ctx.set(device.s_axis.tdata, beat)
            ctx.set(device.s_axis.tvalid, 1)
            for _ in range(60):
                arrived = ctx.get(device.s_axis.tready)
                await ctx.tick()
                if arrived:
                    break
            else:
                break
            ctx.set(device.s_axis.tvalid, 0)
        for _ in range(60):
            await ctx.tick()
        error = ctx.get(device.error)

    async def take(ctx: Any) -> None:
        while True:
            ready = rng.random() < 0.5
            ctx.set(device.m_axis.tready, ready)
            if ready and ctx.get(device.m_axis.tvalid):
                taken.append((ctx.get(device.m_axis.tdata), ctx.get(device.m_axis.tlast)))
            await ctx.tick()

    simulate(device, send, models=[take])
    return taken, error


def test_commands_and_their_payload() -> None:
    beats = [3, 100, 1, 2, 3, 0, 7, 1, 200, 4, 2, 300, 255, 5]
    expected = [(101, 0), (102, 0), (103, 1), (204, 1), (555, 0), (305, 1)]
    assert _run(beats) == (expected, 0)


def test_a_fault_stops_it_until_reset() -> None:
    beats = [1, 10, 5, 0xFF, 0, 1, 10, 6]
    assert _run(beats) == ([(15, 1)], Fault.UNKNOWN)
    assert _run([*beats[:5], 1, 20, 7], reset_at=5) == ([(15, 1), (27, 1)], 0)


def test_widths_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^stream width must be a positive multiple of 8, not 12$"):
        CommandFront(64, 12)
    with pytest.raises(ValueError, match=r"^command bits must be positive, not 0$"):
        CommandFront(0, 64)
