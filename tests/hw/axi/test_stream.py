"""The input register: every word once, in order, one a cycle, TREADY independent of what follows."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.axi.stream import StreamInput


@pytest.mark.parametrize(("offers", "takes"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.5, 0.5)])
def test_no_word_is_lost_or_doubled(offers: float, takes: float) -> None:
    rng = random.Random(1)
    stream = StreamInput()
    words = list(range(1, 101))
    taken: list[int] = []
    cycles = 0

    async def bench(ctx: Any) -> None:
        nonlocal cycles
        sent, offered = 0, False
        while len(taken) < len(words):
            offered = offered or (sent < len(words) and rng.random() < offers)
            ready = rng.random() < takes
            ctx.set(stream.s_axis.tvalid, offered)
            ctx.set(stream.s_axis.tdata, words[sent] if offered else 0)
            before = ctx.get(stream.s_axis.tready)
            ctx.set(stream.words.ready, ready)
            assert ctx.get(stream.s_axis.tready) == before, "a path from ready to tready"
            if ready and ctx.get(stream.words.valid):
                taken.append(ctx.get(stream.words.payload))
            await ctx.tick()
            if offered and before:
                sent, offered = sent + 1, False
            cycles += 1

    simulate(stream, bench)
    assert taken == words
    if offers == takes == 1:
        assert cycles == len(words) + 1, "one word a cycle"
