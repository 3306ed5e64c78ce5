# amaranth: UnusedElaboratable=no
"""Registers in scatter-gather mode: what is asked for ahead, and when which interrupt comes; the others are
seen over the bus (`test_sg.py`)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.dma.sg_registers import DELAY_UNIT, SgRegisters

RUN, IOC, DELAY = 1, 1 << 12, 1 << 13


async def write(ctx: Any, device: SgRegisters, name: str, word: int) -> None:
    ctx.set(device.write_data, word)
    ctx.set(getattr(device, f"write_{name}"), 1)
    await ctx.tick()
    ctx.set(getattr(device, f"write_{name}"), 0)


def test_what_is_asked_for_ahead_meets_its_tail() -> None:
    device = SgRegisters()

    async def main(ctx: Any) -> None:
        ctx.set(device.write_data, 0x2000)
        ctx.set(device.write_ahead, 1)
        assert ctx.get(device.ask)
        assert ctx.get(device.first) == 0x2000 >> 6
        await ctx.tick()
        ctx.set(device.write_ahead, 0)
        assert not ctx.get(device.ask)
        assert (ctx.get(device.ahead), ctx.get(device.until)) == (0x2000, 0x2000 >> 6)
        await write(ctx, device, "control", RUN)
        for tail, meets in ((0x1FC0, 0), (0x2000, 1)):
            ctx.set(device.write_data, tail)
            ctx.set(device.write_tail, 1)
            assert (ctx.get(device.go), ctx.get(device.meets)) == (1, meets)

    simulate(device, main)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ioc_after_so_many_packets_and_the_delay_if_they_do_not_come(seed: int) -> None:
    """Every cycle for thousands of them: which of the two flags is set, cleared meanwhile at random."""
    rng = random.Random(seed)
    device = SgRegisters()
    counts = {IOC: 0, DELAY: 0}

    async def main(ctx: Any) -> None:
        threshold, delay, awaited, quiet, flags, enables = 1, 0, 1, 0, 0, 0
        for cycle in range(12_000):
            burst = cycle // 1500 % 2
            event = rng.random() < (0.004 if burst else 0.05)
            packet = rng.random() < 0.8
            word, strobe = rng.getrandbits(32) & 0x00FF_7000, ""
            if rng.random() < 0.001 or cycle == 0:
                strobe = "control"
                word = rng.choice((0, 1, 2, 5)) << 16 | rng.choice((0, 1, 2)) << 24 | rng.choice((IOC, DELAY))
            elif rng.random() < 0.01:
                strobe = "status"
            ctx.set(device.write_data, word)
            ctx.set(device.write_control, strobe == "control")
            ctx.set(device.write_status, strobe == "status")
            ctx.set(device.completed, event)
            ctx.set(device.packet, packet)
            assert ctx.get(device.status) & (IOC | DELAY) == flags
            assert ctx.get(device.introut) == bool(flags & enables)
            counting = delay != 0 and awaited != threshold
            assert ctx.get(device.counting) == counting
            event = event and packet
            runs_out = counting and not event and quiet + 1 == delay * DELAY_UNIT
            new = word >> 16 & 0xFF if strobe == "control" else 0
            if strobe == "status":
                flags &= ~word
            quiet = quiet + 1 if counting and not event else 0
            if new and new != threshold:
                awaited = new
            elif event:
                awaited -= 1
                if awaited == 0:
                    awaited = threshold
                    flags |= IOC
                    counts[IOC] += 1
            elif runs_out:
                awaited = threshold
                flags |= DELAY
                counts[DELAY] += 1
            if strobe == "control":
                # A delay that is shortened below what has passed wraps: begin the count anew by an event.
                if word >> 24 != delay:
                    quiet = quiet if counting and not event else 0
                delay, enables, threshold = word >> 24, word & 0x7000, new or threshold
            await ctx.tick()
            if strobe == "control" and quiet >= delay * DELAY_UNIT > 0:
                return

    simulate(device, main)
    assert counts[IOC] > 5
    assert counts[DELAY] > 0
