# amaranth: UnusedElaboratable=no
"""Tiles of O go out dense: channel by channel, row by row, without what lies right of the last column."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.hw.conv.sender import ConvSender

TILES = 8


@pytest.mark.parametrize(("stream_width", "macs"), [(32, 16), (64, 8), (128, 64)])
def test_tiles_go_out_dense(stream_width: int, macs: int) -> None:
    buffers = {"I": 128, "F": 256, "O": 256}
    spec = isa.builtin("conv_v4").replace(buffers=buffers, stream_width=stream_width, macs=macs)
    geometry = ConvGeometry.of(spec)
    rng = random.Random(stream_width)
    device = ConvSender(geometry)
    rows, cols, lanes = geometry.rows, geometry.cols, stream_width // 32
    halves = [[[rng.getrandbits(32) for _ in range(cols)] for _ in range(geometry.o_depth)] for _ in range(2)]
    expected: list[list[int]] = []  # of each tile, words
    received: list[list[int]] = [[]]
    early = 0

    def random_sizes() -> tuple[int, int, int]:
        while True:
            oc, oh, ow = rng.randrange(1, 3 * rows), rng.randrange(1, 4), rng.randrange(1, 3 * cols)
            if -(-oc // rows) * oh * -(-ow // cols) * rows <= geometry.o_depth:
                return oc, oh, ow

    def words(half: int, oc: int, oh: int, ow: int) -> list[int]:
        """Blocks of channels one behind the other, each with its rows of blocks of pixels."""
        across = -(-ow // cols)
        return [
            halves[half][((channel // rows * oh + y) * across + x // cols) * rows + channel % rows][x % cols]
            for channel in range(oc)
            for y in range(oh)
            for x in range(ow)
        ]

    async def main(ctx: Any) -> None:
        nonlocal early
        requests = [(rng.randrange(2), rng.random() < 0.3, random_sizes()) for _ in range(TILES)]
        for half, zero, sizes in requests:
            of_tile = words(half, *sizes)
            expected.append([0] * len(of_tile) if zero else of_tile)
        running, sendable, idle = 0, 0, 0
        fetched: int | None = None
        while idle < 30:
            # A half that has been asked for gets no other compute.
            held = 1 << ctx.get(device.send_half) if ctx.get(device.holds) else 0
            running &= held if rng.random() < 0.9 else 0
            running |= rng.randrange(4) & ~held
            sendable = rng.randrange(2)
            ctx.set(device.running, running)
            ctx.set(device.sendable, sendable)
            ctx.set(device.requests.valid, bool(requests))
            if requests:
                half, zero, (oc, oh, ow) = requests[0]
                asked = device.requests.payload
                across = -(-ow // cols)
                for target, value in (
                    (asked.half, half),
                    (asked.zero, zero),
                    (asked.dims.last_oc, oc - 1),
                    (asked.dims.last_n, oh * across - 1),
                    (asked.dims.walk.last_block, across - 1),
                    (asked.dims.last_lane, (ow - 1) % cols),
                ):
                    ctx.set(target, value)
            ctx.set(device.m_axis.tready, rng.random() < 0.7)
            if ctx.get(device.m_axis.tvalid) and ctx.get(device.m_axis.tready):
                beat = ctx.get(device.m_axis.tdata)
                received[-1] += [beat >> 32 * lane & 0xFFFF_FFFF for lane in range(lanes)]
                if ctx.get(device.m_axis.tlast):
                    received.append([])
            if requests and ctx.get(device.requests.ready):
                requests.pop(0)
            idle = idle + 1 if not requests and not ctx.get(device.busy) else 0
            flow, enable = ctx.get(device.send_flow), ctx.get(device.send_enable)
            row = halves[ctx.get(device.send_half)][ctx.get(device.send_address)]
            early += enable and running >> ctx.get(device.send_half) & 1 and ctx.get(device.reading)
            await ctx.tick()
            if flow:  # a row is there from the second flow after its read on
                ctx.set(device.send_row, rng.getrandbits(32 * cols) if fetched is None else fetched)
                fetched = sum(word << 32 * place for place, word in enumerate(row)) if enable else None

    simulate(device, main)
    whole = [tile + [0] * (-len(tile) % lanes) for tile in expected]  # the last beat is filled up
    assert received == [*whole, []]
    assert sum(map(len, whole)) > 200
    assert early > 0, "no row has gone out while its half was computed"
