# amaranth: UnusedElaboratable=no
"""Bytes that go over a line come out as they were, also where the two clocks differ; spikes are no bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module
from tests.hw.component_bench import simulate

from axiloom.hw.serial.uart import UartReceiver, UartTransmitter


def frame(byte: int) -> list[int]:
    return [0, *(byte >> bit & 1 for bit in range(8)), 1]


def received(line: list[int], divisor: int) -> tuple[list[int], int]:
    """Bytes and framing errors of a line, which has a level for each clock cycle."""
    receiver = UartReceiver(divisor)
    got: list[int] = []
    errors = 0

    async def bench(ctx: Any) -> None:
        nonlocal errors
        for level in [1] * 4 + line + [1] * 4 * divisor:
            ctx.set(receiver.line, level)
            await ctx.tick()
            if ctx.get(receiver.valid):
                got.append(ctx.get(receiver.data))
            errors += ctx.get(receiver.framing_error)

    simulate(receiver, bench)
    return got, errors


@pytest.mark.parametrize("divisor", [4, 17, 25])
def test_what_is_sent_is_received(divisor: int) -> None:
    rng = random.Random(divisor)
    data = [0x00, 0xFF, 0x55, 0xAA, *(rng.randrange(256) for _ in range(12))]
    m = Module()
    m.submodules.transmitter = transmitter = UartTransmitter(divisor)
    m.submodules.receiver = receiver = UartReceiver(divisor)
    m.d.comb += receiver.line.eq(transmitter.line)
    got: list[int] = []

    async def bench(ctx: Any) -> None:
        waiting = list(data)
        while len(got) < len(data):
            ctx.set(transmitter.bytes.valid, bool(waiting))
            ctx.set(transmitter.bytes.payload, waiting[0] if waiting else 0)
            taken = bool(waiting) and ctx.get(transmitter.bytes.ready)
            await ctx.tick()
            if taken:
                waiting.pop(0)
            if ctx.get(receiver.valid):
                got.append(ctx.get(receiver.data))

    simulate(m, bench, limit=20 * divisor * len(data))
    assert got == data


@pytest.mark.parametrize("bit_cycles", [39, 41])
def test_a_host_whose_clock_is_two_and_a_half_percent_off(bit_cycles: int) -> None:
    data = [0x00, 0xFF, 0x5A, 0x80]
    line = [bit for byte in data for bit in frame(byte) for _ in range(bit_cycles)]
    assert received(line, 40) == (data, 0)


def test_a_low_stop_bit_is_an_error_and_no_byte() -> None:
    broken = [*frame(0x42)[:-1], 0]
    line = [bit for bit in [*broken, 1, 1, *frame(0x17)] for _ in range(8)]
    assert received(line, 8) == ([0x17], 1)


def test_a_spike_is_no_start_bit() -> None:
    line = [0, 0] + [1] * 40 + [bit for bit in frame(0x99) for _ in range(16)]
    assert received(line, 16) == ([0x99], 0)


@pytest.mark.parametrize("divisor", [3, 0, 2.5])
def test_a_divisor_that_cannot_be(divisor: Any) -> None:
    with pytest.raises(ValueError, match=f"UART divisor must be an integer from 4 on, not {divisor!r}"):
        UartTransmitter(divisor)
