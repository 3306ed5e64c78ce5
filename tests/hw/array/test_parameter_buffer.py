# amaranth: UnusedElaboratable=no
"""Parameters of channels: loaded as words or as channels, read as rows, while the other half is loaded."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array.parameter_buffer import CHANNEL_BITS, ParameterBuffer

CHANNELS = 10


@pytest.mark.every(3)
@pytest.mark.parametrize("lanes", [1, 2, 4])
@pytest.mark.parametrize("load_width", [32, 64])
def test_rows_of_the_half_that_was_loaded(lanes: int, load_width: int) -> None:
    rng = random.Random(lanes)
    device = ParameterBuffer(CHANNELS, lanes, load_width)
    checked = 0

    async def bench(ctx: Any) -> None:
        nonlocal checked
        halves: list[list[int]] = [[], []]
        for _ in range(30):
            size = rng.randrange(1, CHANNELS + 1)
            ctx.set(device.size, size)
            into = 1 - ctx.get(device.load.half)
            tile = [rng.getrandbits(CHANNEL_BITS) for _ in range(size)]
            halves[into] = []
            parts = [word >> at & (1 << load_width) - 1 for word in tile for at in range(0, 64, load_width)]
            for number, part in enumerate(parts):
                while rng.random() < 0.3:  # noise that does not count, while rows of the other half are read
                    ctx.set(device.load.valid, 0)
                    ctx.set(device.load_data, rng.getrandbits(load_width))
                    await read(ctx, halves, 1 - into)
                ctx.set(device.load.valid, 1)
                ctx.set(device.load_data, part)
                assert ctx.get(device.load.ready)
                assert ctx.get(device.load.last) == (number == len(parts) - 1)
                await read(ctx, halves, 1 - into)
            ctx.set(device.load.valid, 0)
            halves[into] = tile
            assert ctx.get(device.load.half) == into
            for _ in range(4):
                await read(ctx, halves, into)

    async def read(ctx: Any, halves: list[list[int]], half: int) -> None:
        nonlocal checked
        tile = halves[half]
        row = rng.randrange(max(1, -(-len(tile) // lanes)))
        ctx.set(device.read, bool(tile))
        ctx.set(device.read_half, half)
        ctx.set(device.row, row)
        await ctx.tick()
        if not tile:
            return
        ctx.set(device.read, 0)
        for lane, word in enumerate(tile[row * lanes : (row + 1) * lanes]):
            got = device.parameters[lane]
            assert ctx.get(got.bias) % (1 << 32) == word % (1 << 32)
            assert ctx.get(got.multiplier) == word >> 32 & 0xFFFF
            assert ctx.get(got.shift) == word >> 48 & 0x3F
            checked += 1

    simulate(device, bench)
    assert checked > 200


def test_refuses_another_width() -> None:
    with pytest.raises(ValueError, match=r"^width of parameters that are loaded must be 32 or 64, not 16$"):
        ParameterBuffer(CHANNELS, 1, 16)
