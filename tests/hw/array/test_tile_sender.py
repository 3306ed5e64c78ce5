# amaranth: UnusedElaboratable=no
"""One request after the other, each when its half may be read, whatever order rows are walked in."""

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
def test_each_request_is_read_once_and_when_it_may_be(post: bool) -> None:
    device = Counting(Tiles(post))
    rng = random.Random(post)
    requests = [
        {
            "half": rng.randrange(2),
            "zero": rng.randrange(2),
            "rows": rng.randrange(6),
            "post": post and rng.randrange(2),
        }
        for _ in range(80)
    ]
    expected = [(one["half"], row) for one in requests for row in range(one["rows"] + 1)]
    read: list[tuple[int, int]] = []
    waits = {"running": 0, "post": 0}

    def may_begin(one: dict[str, int], running: int, posting: int) -> bool:
        computing = not one["zero"] and running >> one["half"] & 1
        behind = post and not one["post"] and posting
        waits["running"] += bool(computing)
        waits["post"] += bool(behind)
        return not computing and not behind

    async def main(ctx: Any) -> None:
        pending = list(requests)
        current: dict[str, int] | None = None
        begun, running, posting, idle = False, 0, 0, 0
        while idle < 10:
            if rng.random() < 0.2:
                running = rng.randrange(4)
                posting = rng.randrange(4) if post else 0
            # What is being read is not computed any more.
            now = running & ~(1 << current["half"]) if current and begun else running
            ctx.set(device.running, now)
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
            advances = bool(current and begun and ctx.get(device.flowing))
            assert ctx.get(device.advance) == ctx.get(device.send_enable) == advances
            if advances and current:
                read.append((ctx.get(device.send_half), ctx.get(device.send_address)))

            if current is None and pending:
                current = pending.pop(0)
                begun = may_begin(current, now, posting)
            elif current and not begun:
                begun = may_begin(current, now, posting)
            elif advances and current and read[-1][1] == current["rows"]:
                current = None
            idle = 0 if pending or current else idle + 1
            await ctx.tick()

    simulate(device, main)
    assert read == expected
    assert waits["running"] > 20
    assert waits["post"] > 20 or not post
