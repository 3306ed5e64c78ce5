# amaranth: UnusedElaboratable=no
"""The SoC behind a serial line: identity, registers and windows at their addresses; a copy."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.dma.dma_bench import (
    MM2S_DMACR,
    MM2S_LENGTH,
    MM2S_SA,
    S2MM_DA,
    S2MM_DMACR,
    S2MM_DMASR,
    S2MM_LENGTH,
)
from tests.hw.serial.line import DIVISOR, Host, command, words

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.serial.protocol import IDENTITY_ADDRESS, READ, WRITE, identity
from axiloom.hw.serial.soc import SerialSoc, check
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import TileRule

CLOCK_HZ = 25_000_000
WORDS = 4
OKAY, DECERR = 0, 3


def loopback() -> AcceleratorSpec:
    spec = isa.revise(isa.builtin("loopback"), tile=TileRule((WORDS,)), buffers={"A": WORDS, "C": WORDS})
    dma = replace(
        spec.link.dma,
        address=0x4040_0000,
        input_address=0x1600_0000,
        output_address=0x1700_0000,
        input_buffer_size=256,
        output_buffer_size=256,
    )
    return isa.revise(spec, dma=dma)


class Registers(Host):
    async def write(self, ctx: Any, address: int, values: Sequence[int]) -> int:
        """The worst response."""
        return (await self.ask(ctx, command(WRITE, address, len(values), words(*values)), 2))[0]

    async def read(self, ctx: Any, address: int, count: int) -> tuple[list[int], int]:
        """Words, and the worst response."""
        answer = await self.ask(ctx, command(READ, address, count), 4 * count + 2)
        found = [int.from_bytes(answer[at : at + 4], "little") for at in range(0, 4 * count, 4)]
        return found, answer[4 * count]


@pytest.mark.slow
def test_the_host_finds_identity_windows_and_registers_and_copies() -> None:
    spec = loopback()
    device = SerialSoc(spec, DIVISOR, CLOCK_HZ)
    host, rng = Registers(device), random.Random(1)
    dma = spec.link.dma
    data = [rng.getrandbits(32) for _ in range(WORDS)]
    leds = set()

    async def watch(ctx: Any) -> None:
        while True:
            leds.add(ctx.get(device.led))
            await ctx.tick()

    async def main(ctx: Any) -> None:
        assert await host.read(ctx, IDENTITY_ADDRESS, 4) == (list(identity(spec, CLOCK_HZ)), OKAY)
        assert (await host.read(ctx, 0x5000_0000, 1))[1] == DECERR
        assert await host.read(ctx, dma.address + S2MM_DMASR, 1) == ([1], OKAY)
        assert await host.write(ctx, dma.input_address, data) == OKAY
        for register, value in (
            (S2MM_DMACR, 1),
            (MM2S_DMACR, 1),
            (S2MM_DA, dma.output_address),
            (S2MM_LENGTH, 4 * WORDS),
            (MM2S_SA, dma.input_address),
            (MM2S_LENGTH, 4 * WORDS),
        ):
            assert await host.write(ctx, dma.address + register, [value]) == OKAY
        assert await host.read(ctx, dma.address + S2MM_DMASR, 1) == ([0x1002], OKAY)
        assert await host.read(ctx, dma.output_address, WORDS) == (data, OKAY)

    simulate(device, main, models=[host.line, watch], limit=100_000)
    assert any(led & 0b001 for led in leds), "the bridge was busy"
    assert any(led & 0b010 for led in leds), "MM2S was busy"
    assert any(led & 0b100 for led in leds), "S2MM was busy"
    assert all(led >> 4 == 0 for led in leds), "no error"


def test_identity_is_of_the_specification_and_the_clock() -> None:
    spec = loopback()
    magic, low, high, clock = identity(spec, CLOCK_HZ)
    assert magic.to_bytes(4, "little") == b"AXLM"
    digest = hashlib.sha256(isa.dumps(spec).encode()).digest()
    assert low.to_bytes(4, "little") + high.to_bytes(4, "little") == digest[:8]
    assert clock == CLOCK_HZ
    assert identity(isa.builtin("identity"), CLOCK_HZ)[1:3] != (low, high)


@pytest.mark.parametrize(
    ("dma", "width", "fault"),
    [
        (
            {"scatter_gather": True},
            32,
            "dma_config.scatterGather: descriptors would lie in the host's memory",
        ),
        ({}, 64, "stream_width: 64 bits; a board on a serial line has memory of 32 bits"),
        ({"input_buffer_size": 1 << 20}, 32, "dma_config.inputAddress, inputBufferSize: 1048576 bytes at"),
        ({"output_address": 0x1600_0000}, 32, "registers and windows must lie in different ranges"),
    ],
)
def test_what_cannot_be_behind_a_line_is_refused(dma: dict[str, Any], width: int, fault: str) -> None:
    good = loopback()
    assert check(good.link) == []
    spec = good.replace(dma=replace(good.link.dma, **dma), stream_width=width)
    (found,) = check(spec.link)
    assert fault in found
    with pytest.raises(SpecError):
        SerialSoc(spec, DIVISOR, CLOCK_HZ)
