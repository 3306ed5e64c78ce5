# amaranth: UnusedElaboratable=no
"""Tiles of C go out of the result buffer in the order of the stream, as words; TLAST ends each."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.hw.matmul.geometry import Geometry
from axiloom.hw.matmul.sender import Sender
from axiloom.isa import AcceleratorSpec

TILES = 8


def orders() -> dict[str, AcceleratorSpec]:
    rows_first = isa.builtin("v3_4")
    columns_first = {**rows_first.data, "C": ("n", "m")}
    return {
        "rows": rows_first,
        "rows, wide": isa.revise(isa.builtin("v3_8"), stream_width=128),
        "columns": rows_first.replace(data=columns_first),
        "any tile": isa.builtin("v4_16"),
    }


class Memory:
    """The result buffer as the sender sees it: a row is on `send_row` from the second flow on."""

    def __init__(self, rng: random.Random, geometry: Geometry) -> None:
        self.halves = [
            [[rng.getrandbits(32) for _ in range(geometry.cols)] for _ in range(geometry.c_depth)]
            for _ in range(2)
        ]
        self.fetched: int | None = None

    def element(self, geometry: Geometry, half: int, n: int, row: int, col: int) -> int:
        """Block after block, row after row of a block."""
        block = row // geometry.rows * (n // geometry.cols) + col // geometry.cols
        return self.halves[half][block * geometry.rows + row % geometry.rows][col % geometry.cols]

    async def serve(self, ctx: Any, device: Sender, rng: random.Random) -> None:
        """The end of a cycle."""
        flow, enable = ctx.get(device.send_flow), ctx.get(device.send_enable)
        half, address, zero = (
            ctx.get(device.send_half),
            ctx.get(device.send_address),
            not ctx.get(device.reading),
        )
        await ctx.tick()
        if flow:
            if self.fetched is not None:
                ctx.set(device.send_row, self.fetched)
            self.fetched = None
            if enable:
                row = [rng.getrandbits(32)] if zero else self.halves[half][address]
                self.fetched = sum(word << 32 * place for place, word in enumerate(row))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", orders())
def test_tiles_go_out_in_the_order_of_the_stream(name: str) -> None:
    spec = orders()[name]
    geometry = Geometry.of(spec)
    rng = random.Random(name)
    device = Sender(geometry)
    memory = Memory(rng, geometry)
    lanes = geometry.stream_width // 32
    expected: list[tuple[int, int]] = []
    received: list[tuple[int, int]] = []
    waits = early = 0

    def random_tile() -> tuple[int, int, int]:
        if not geometry.flexible:
            return geometry.tile
        m, n, k = (unit * rng.randrange(1, 4) for unit in geometry.granule)
        return m, n, k

    async def main(ctx: Any) -> None:
        nonlocal waits, early
        requests = [(rng.randrange(2), rng.random() < 0.3, random_tile()) for _ in range(TILES)]
        for half, zero, (m, n, _) in requests:
            places = [(row, col) for row in range(m) for col in range(n)]
            if not geometry.c_rows_first:
                places = [(row, col) for col in range(n) for row in range(m)]
            words = [0 if zero else memory.element(geometry, half, n, row, col) for row, col in places]
            expected.extend((word, number == len(words) - 1) for number, word in enumerate(words))
        running, idle = 0, 0
        while idle < 20:
            held = 1 << ctx.get(device.send_half) if ctx.get(device.holds) else 0
            # A half that has been asked for gets no other compute.
            running &= held if rng.random() < 0.9 else 0
            running |= rng.randrange(4) & ~held
            ctx.set(device.running, running)
            ctx.set(device.sendable, rng.randrange(2))
            ctx.set(device.requests.valid, bool(requests))
            if requests:
                half, zero, tile = requests[0]
                asked = device.requests.payload
                ctx.set(asked.half, half)
                ctx.set(asked.zero, zero)
                for dim, size in zip("mnk", tile, strict=True) if geometry.flexible else ():
                    ctx.set(asked.dims[dim], size)
            ctx.set(device.m_axis.tready, rng.random() < 0.7)
            if running & held:
                early += ctx.get(device.send_enable)
                waits += not ctx.get(device.sendable)
            if ctx.get(device.m_axis.tvalid) and ctx.get(device.m_axis.tready):
                beat, last = ctx.get(device.m_axis.tdata), ctx.get(device.m_axis.tlast)
                for lane in range(lanes):
                    received.append((beat >> 32 * lane & 0xFFFF_FFFF, bool(last and lane == lanes - 1)))
            if requests and ctx.get(device.requests.ready):
                requests.pop(0)
            idle = idle + 1 if not requests and not ctx.get(device.busy) else 0
            await memory.serve(ctx, device, rng)

    simulate(device, main)
    assert received == expected
    assert waits > 0, "no tile has waited for its half"
    assert early > 0, "no row has gone out while its half was computed"
