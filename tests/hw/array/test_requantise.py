# amaranth: UnusedElaboratable=no
"""The post-processor against its formula in Python's integers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.hw.component_bench import simulate

from axiloom.hw.array.requantise import LATENCY, Requantise

I32 = st.one_of(st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31)]), st.integers(-(2**31), 2**31 - 1))
I8 = st.integers(-128, 127)
CHANNEL = st.tuples(I32, st.one_of(st.just(65535), st.integers(0, 65535)), st.integers(0, 63))
BOUNDS = st.tuples(I8, I8, I8)
Channel = tuple[int, int, int]
Bounds = tuple[int, int, int]


def reference(acc: int, channel: Channel, bounds: Bounds) -> int:
    (bias, multiplier, shift), (zp, lo, hi) = channel, bounds
    total = (acc + bias + 2**31) % 2**32 - 2**31
    half = 1 << (shift - 1) if shift else 0
    return min(max(((total * multiplier + half) >> shift) + zp, lo), hi)


def test_reference_rounds_half_up() -> None:
    shift_by_one = (0, 1, 1)
    assert [reference(acc, shift_by_one, (0, -128, 127)) for acc in (-3, -2, -1, 0, 1, 2, 3)] == [
        *(-1, -1, 0, 0, 1, 1, 2)
    ]


@dataclass(frozen=True)
class Tile:
    """Parameters and rows of sums: of all channels, or (`shared`) `lanes` of the channel of that number."""

    channels: Sequence[Channel]
    bounds: Bounds
    rows: Sequence[tuple[int, Sequence[int]]]


def run(tiles: Sequence[Tile], lanes: int, *, shared: bool, load_width: int, stalls: float, seed: int) -> Any:
    """Elements with their tags, and how many cycles went by; parameters are loaded as early as they can."""
    rng = random.Random(seed)
    device = Requantise(lanes, 16, load_width, tag=12, shared=shared)
    loaded: list[int] = []
    collected: list[tuple[list[int], int]] = []
    clock = [0]

    async def load(ctx: Any) -> None:
        for number, tile in enumerate(tiles):
            words = [
                word
                for bias, mult, shift in tile.channels
                for word in (bias & 0xFFFFFFFF, mult | shift << 16)
            ]
            if load_width == 64:
                words = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
            ctx.set(device.size, len(tile.channels))
            for index, word in enumerate(words):
                while rng.random() < stalls or not ctx.get(device.load.ready):
                    await ctx.tick()
                junk = rng.getrandbits(10) if load_width == 64 or index % 2 else 0  # above the shift
                ctx.set(device.load_data, word | junk << load_width - 10)
                ctx.set(device.load.valid, 1)
                assert ctx.get(device.load.last) == (index == len(words) - 1)
                await ctx.tick()
                ctx.set(device.load.valid, 0)
            loaded.append(ctx.get(device.load.half))
            ctx.set(device.claim, 1)
            await ctx.tick()
            ctx.set(device.claim, 0)
            assert len(loaded) == number + 1

    async def send(ctx: Any) -> None:
        payload = device.i.payload
        for number, tile in enumerate(tiles):
            while len(loaded) <= number:
                await ctx.tick()
            ctx.set(payload.half, loaded[number])
            ctx.set(payload.bounds, dict(zip(("zp", "lo", "hi"), tile.bounds, strict=True)))
            ctx.set(device.finish_half, loaded[number])
            for index, (row, sums) in enumerate(tile.rows):
                while rng.random() < stalls:
                    await ctx.tick()
                ctx.set(payload.row, row)
                ctx.set(payload.acc, list(sums))
                ctx.set(payload.tag, number << 8 | index)
                ctx.set(device.i.valid, 1)
                while not ctx.get(device.i.ready):
                    await ctx.tick()
                ctx.set(device.finish, index == len(tile.rows) - 1)
                await ctx.tick()
                ctx.set(device.finish, 0)
                ctx.set(device.i.valid, 0)

    async def receive(ctx: Any) -> None:
        while len(collected) < sum(len(tile.rows) for tile in tiles):
            ready = rng.random() >= stalls
            ctx.set(device.o.ready, ready)
            if ctx.get(device.o.valid) and ready:
                payload = device.o.payload
                collected.append(([ctx.get(payload.elements[i]) for i in range(lanes)], ctx.get(payload.tag)))
            clock[0] += 1
            assert clock[0] < 5000
            await ctx.tick()
        ctx.set(device.o.ready, 0)
        await ctx.tick()
        assert not ctx.get(device.busy)

    simulate(device, receive, load, send)  # in this order in every cycle: i.ready follows o.ready
    return collected, clock[0]


def expected(tiles: Sequence[Tile], lanes: int, *, shared: bool) -> list[tuple[list[int], int]]:
    return [
        (
            [
                reference(acc, tile.channels[row if shared else row * lanes + lane], tile.bounds)
                for lane, acc in enumerate(sums)
            ],
            number << 8 | index,
        )
        for number, tile in enumerate(tiles)
        for index, (row, sums) in enumerate(tile.rows)
    ]


@st.composite
def programs(draw: st.DrawFn, lanes: int, shared: bool) -> list[Tile]:
    tiles = []
    for _ in range(draw(st.integers(1, 4))):
        rows = draw(st.integers(1, 16 if shared else 16 // lanes))
        channels = [draw(CHANNEL) for _ in range(rows if shared else rows * lanes)]
        order = draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=12))
        sums = st.lists(I32, min_size=lanes, max_size=lanes)
        tiles.append(Tile(channels, draw(BOUNDS), [(row, draw(sums)) for row in order]))
    return tiles


@pytest.mark.every(3)
@pytest.mark.parametrize(("lanes", "shared", "load_width"), [(4, False, 32), (2, False, 64), (4, True, 64)])
@settings(max_examples=12, deadline=None)
@given(data=st.data(), stalls=st.sampled_from([0, 0.3]), seed=st.integers(0, 99))
def test_any_tiles(
    data: st.DataObject, lanes: int, shared: bool, load_width: int, stalls: float, seed: int
) -> None:
    """Parameters of the next tile come while this one is sent; bounds change from tile to tile."""
    tiles = data.draw(programs(lanes, shared))
    got, _ = run(tiles, lanes, shared=shared, load_width=load_width, stalls=stalls, seed=seed)
    assert got == expected(tiles, lanes, shared=shared)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    channels=st.lists(CHANNEL, min_size=16, max_size=16),
    bounds=BOUNDS,
    sums=st.lists(st.lists(I32, min_size=8, max_size=8), min_size=16, max_size=16),
)
@example(
    [(-1, 65535, shift) for shift in range(16)], (0, -128, 127), [[-(2**31), 2**31 - 1, *range(-3, 3)]] * 16
)
@example(
    [(0, 1, 47 - shift) for shift in range(16)], (127, -128, 127), [[-(2**31), 2**31 - 1, 0, 1] * 2] * 16
)
@example(
    [(0, 65535, 48 + shift) for shift in range(16)],
    (-128, -128, 127),
    [[-(2**31), -1, 0, 2**31 - 1] * 2] * 16,
)
@example([(2**31 - 1, 2, 1)] * 16, (0, 5, -5), [[1, 0, -1, 2, 3, 4, 5, 6]] * 16)
def test_exact(channels: list[Channel], bounds: Bounds, sums: list[list[int]]) -> None:
    tiles = [Tile(channels, bounds, list(enumerate(sums)))]
    got, _ = run(tiles, 8, shared=True, load_width=64, stalls=0, seed=0)
    assert got == expected(tiles, 8, shared=True)


def test_values_near_each_power_of_two() -> None:
    """Where the steps of the shift meet: the largest and smallest sums still in range, and beyond."""
    tiles = []
    for shift in range(0, 48, 3):
        edges = [round(edge * 2**shift / 40000) + by for edge in (-129, -128, 127, 128) for by in (-1, 1)]
        row = [min(max(edge, -(2**31)), 2**31 - 1) for edge in edges]
        tiles.append(Tile([(0, 40000, shift)], (0, -128, 127), [(0, row)]))
    got, _ = run(tiles, 8, shared=True, load_width=32, stalls=0, seed=0)
    assert got == expected(tiles, 8, shared=True)


def test_a_vector_a_cycle() -> None:
    tiles = [Tile([(0, 1, 0)] * 4, (0, -128, 127), [(0, [n, 2, 3, 4]) for n in range(100)])]
    got, cycles = run(tiles, 4, shared=False, load_width=64, stalls=0, seed=0)
    assert [elements[0] for elements, _ in got] == list(range(100))
    assert cycles <= 100 + LATENCY + 10


def test_other_widths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^width of parameters that are loaded must be 32 or 64, not 128$"):
        Requantise(4, 16, 128, 1, shared=False)
