# amaranth: UnusedElaboratable=no
"""One request after the other, each row when it may be read, whatever order rows are walked in."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data
from tests.hw.component_bench import simulate

from axiloom.hw.array.requantise import elements_layout, sums_layout
from axiloom.hw.array.tile_sender import Reading, TileSender


@dataclass(frozen=True)
class Tiles:
    post: bool
    stream_width: int = 32
    cols: int = 1
    command_dims: data.StructLayout = data.StructLayout({"rows": 4})  # noqa: RUF009


class Counting(TileSender):
    """Reads `rows` rows, from address 0 on; `flowing` and `posts` come from outside."""

    def __init__(self, tiles: Tiles) -> None:
        super().__init__(tiles, 16, sums_layout(1, 2, 1, shared=False), elements_layout(1, 1))
        self.flowing, self.posts, self.advance = Signal(), Signal(), Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tile = Reading(self.requests.payload.shape())
        last = Signal()
        m.d.comb += [
            last.eq(self.send_address == tile.request.dims.rows),
            tile.posts.eq(self.posts),
            self.advance.eq(tile.advance),
        ]
        self._take_requests(m, tile, self.flowing, last)
        with m.If(tile.advance):
            m.d.sync += self.send_address.eq(self.send_address + 1)
            with m.If(last):
                m.d.sync += self.send_address.eq(0)
        return m


@pytest.mark.parametrize("post", [False, True])
def test_each_row_is_read_once_and_when_it_may_be(post: bool) -> None:
    device = Counting(Tiles(post))
    rng = random.Random(post)
    requests = [
        {
            "half": rng.randrange(2),
            "zero": rng.randrange(2),
            "rows": rng.randrange(6),
            "post": post and rng.randrange(2),
        }
        for _ in range(120)
    ]
    expected = [(one["half"], row) for one in requests for row in range(one["rows"] + 1)]
    read: list[tuple[int, int]] = []
    waits = {"running": 0, "post": 0}
    early = 0

    def may_begin(one: dict[str, int], posting: int) -> bool:
        behind = bool(post and not one["post"] and posting)
        waits["post"] += behind
        return not behind

    async def main(ctx: Any) -> None:
        nonlocal early
        pending = list(requests)
        current: dict[str, int] | None = None
        begun, follows, running, posting, idle = False, False, 0, 0, 0
        while idle < 10:
            if rng.random() < 0.2:
                # No compute begins on a half that has been asked for.
                held = 1 << current["half"] if current else 0
                running = rng.randrange(4) & ~(held & ~running)
                posting = rng.randrange(4) if post else 0
            sendable = rng.random() < 0.5
            ctx.set(device.running, running)
            ctx.set(device.sendable, sendable)
            ctx.set(device.posts, posting & 1)
            if post:
                ctx.set(device.requantising, posting >> 1)
            ctx.set(device.flowing, rng.random() < 0.7)
            ctx.set(device.requests.valid, bool(pending))
            if pending:
                asked = device.requests.payload
                ctx.set(asked.half, pending[0]["half"])
                ctx.set(asked.zero, pending[0]["zero"])
                ctx.set(asked.dims.rows, pending[0]["rows"])
                if post:
                    ctx.set(asked.requantise, pending[0]["post"])
            assert ctx.get(device.requests.ready) == (current is None)
            assert ctx.get(device.holds) == bool(current and not current["zero"])
            assert ctx.get(device.reading) == bool(current and begun and not current["zero"])
            may_read = not follows or sendable
            advances = bool(current and begun and may_read and ctx.get(device.flowing))
            waits["running"] += bool(current and begun and not may_read)
            early += advances and follows
            assert ctx.get(device.advance) == ctx.get(device.send_enable) == advances
            if advances and current:
                read.append((ctx.get(device.send_half), ctx.get(device.send_address)))

            taken = current is None and bool(pending)
            if taken:
                current = pending.pop(0)
            if current:
                follows = (taken or follows) and not current["zero"] and running >> current["half"] & 1 > 0
            if current and not begun:
                begun = may_begin(current, posting)
            elif advances and current and read[-1][1] == current["rows"]:
                current, begun = None, False
            idle = 0 if pending or current else idle + 1
            await ctx.tick()

    simulate(device, main)
    assert read == expected
    assert waits["running"] > 10
    assert early > 10
    assert waits["post"] > 20 or not post
