# amaranth: UnusedElaboratable=no
"""Dense beats out of vectors that are not full, against packing in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.component_bench import simulate

from axiloom.hw.axi.packer import Packer

Tile = list[list[int]]
Beat = tuple[int, int]


def run(device: Packer, tiles: list[Tile], stalls: float = 0, seed: int = 0) -> tuple[list[Beat], int]:
    """(tdata, tlast) of each beat, and the cycles it took; elements behind the count are noise."""
    rng = random.Random(seed)
    beats: list[Beat] = []
    vectors = [(vector, at == len(tile) - 1) for tile in tiles for at, vector in enumerate(tile)]
    cycles = [0]

    async def receive(ctx: Any) -> None:
        quiet = 0
        while quiet < 8:
            ready = rng.random() >= stalls
            ctx.set(device.m_axis.tready, ready)
            if ctx.get(device.m_axis.tvalid):
                assert ctx.get(device.busy)
                if ready:
                    beats.append((ctx.get(device.m_axis.tdata), ctx.get(device.m_axis.tlast)))
            quiet = quiet + 1 if sent[0] == len(vectors) and not ctx.get(device.busy) else 0
            cycles[0] += 1
            await ctx.tick()

    sent = [0]

    async def send(ctx: Any) -> None:
        payload = device.i.payload
        for vector, last in vectors:
            while rng.random() < stalls:
                await ctx.tick()
            noise = [rng.getrandbits(device.bits) for _ in range(device.lanes - len(vector))]
            elements = [*vector, *noise]
            ctx.set(payload.elements, sum(e << device.bits * at for at, e in enumerate(elements)))
            ctx.set(payload.count, len(vector))
            ctx.set(payload.last, last)
            ctx.set(device.i.valid, 1)
            while not ctx.get(device.i.ready):
                await ctx.tick()
            await ctx.tick()
            ctx.set(device.i.valid, 0)
            sent[0] += 1

    simulate(device, receive, send)  # in this order in every cycle: i.ready follows tready
    return beats, cycles[0] - 8


def packed(tiles: list[Tile], bits: int, stream_width: int) -> list[Beat]:
    beats = []
    for tile in tiles:
        whole = sum(e << bits * at for at, e in enumerate(e for vector in tile for e in vector))
        count = -(-sum(map(len, tile)) * bits // stream_width)
        mask = (1 << stream_width) - 1
        beats += [(whole >> stream_width * at & mask, int(at == count - 1)) for at in range(count)]
    return beats


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("bits", "lanes", "width"), [(8, 4, 32), (8, 8, 64), (8, 8, 128), (8, 1, 64), (32, 1, 32), (32, 2, 128)]
)
@settings(max_examples=15, deadline=None)
@given(data=st.data(), stalls=st.sampled_from([0, 0.3]), seed=st.integers(0, 99))
def test_any_counts(data: st.DataObject, bits: int, lanes: int, width: int, stalls: float, seed: int) -> None:
    vector = st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=lanes)
    tiles = data.draw(st.lists(st.lists(vector, min_size=1, max_size=12), min_size=1, max_size=4))
    beats, _ = run(Packer(bits, lanes, width), tiles, stalls, seed)
    assert beats == packed(tiles, bits, width)


def test_a_vector_a_cycle() -> None:
    """Rows of seven elements, four and three at once: two vectors a row, and beats of four."""
    tile = [vector for row in range(30) for vector in ([row] * 4, [row] * 3)]
    beats, cycles = run(Packer(8, 4, 32), [tile])
    assert beats == packed([tile], 8, 32)
    assert cycles <= len(tile) + 5


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^packer lanes must be a power of two, not 3$"):
        Packer(8, 3, 32)
    with pytest.raises(ValueError, match=r"^packer must get at most a beat of 32 bits, not 8 x 8$"):
        Packer(8, 8, 32)
