# amaranth: UnusedElaboratable=no
"""Streams of other widths carry the same bits, and TLAST where it was."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.axi.resize import Resize

Beat = tuple[int, int]


def run(device: Resize, beats: list[Beat], seed: int, wanted: int) -> list[Beat]:
    rng = random.Random(seed)
    got: list[Beat] = []

    async def send(ctx: Any) -> None:
        for data, last in beats:
            while rng.random() < 0.3:
                await ctx.tick()
            ctx.set(device.i.tdata, data)
            ctx.set(device.i.tlast, last)
            ctx.set(device.i.tvalid, 1)
            while not (await ctx.tick().sample(device.i.tready))[2]:
                pass
            ctx.set(device.i.tvalid, 0)

    async def receive(ctx: Any) -> None:
        while len(got) < wanted:
            ctx.set(device.o.tready, rng.random() < 0.6)
            sampled = await ctx.tick().sample(
                device.o.tvalid, device.o.tready, device.o.tdata, device.o.tlast
            )
            _, _, valid, ready, data, last = sampled
            if valid and ready:
                got.append((data, last))

    simulate(device, send, receive)
    return got


@pytest.mark.parametrize(("source", "target"), [(32, 8), (32, 16), (128, 512), (16, 32)])
def test_the_same_bits_in_the_same_order(source: int, target: int) -> None:
    rng = random.Random(source)
    parts = max(source, target) // min(source, target)
    whole = [rng.getrandbits(max(source, target)) for _ in range(9)]
    mask = (1 << min(source, target)) - 1
    narrow = [
        (word >> part * min(source, target) & mask, int(at % 3 == 2 and part == parts - 1))
        for at, word in enumerate(whole)
        for part in range(parts)
    ]
    wide = [(word, int(at % 3 == 2)) for at, word in enumerate(whole)]
    given, wanted = (wide, narrow) if source > target else (narrow, wide)
    assert run(Resize(source, target), given, 1, len(wanted)) == wanted


def test_tlast_ends_a_beat_that_is_not_full() -> None:
    given = [(0x11, 0), (0x22, 1), (0x33, 0), (0x44, 0), (0x55, 0), (0x66, 0)]
    assert run(Resize(8, 32), given, 2, 2) == [(0x2211, 1), (0x66554433, 0)]


def test_widths_that_do_not_divide() -> None:
    with pytest.raises(ValueError, match="24 bits cannot become one of 32"):
        Resize(24, 32)
