"""The two halves of a buffer: no half is loaded that has a user, and every free one can be."""

from __future__ import annotations

import random
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.array.ping_pong import MAX_USERS, ping_pong
from axiloom.hw.engine.load_port import LoadPort

PORTS = ("claim", "finish", "finish_half")


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(4))
def test_a_load_waits_for_its_half_and_for_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    m = Module()
    buffer: Any = SimpleNamespace(
        load=LoadPort().flip().create(), **{name: Signal(name=name) for name in PORTS}
    )
    taken = ping_pong(m, buffer)
    loads, waits, fullest = 0, 0, 0

    async def bench(ctx: Any) -> None:
        nonlocal loads, waits, fullest
        half, loaded = 0, 0
        users: deque[int] = deque()  # the half of each, in order
        for cycle in range(3000):
            eager = cycle // 100 % 3  # to claim, to finish, neither
            claim = loaded > 0 and users.count(half) < MAX_USERS and rng.random() < (0.7, 0.1, 0.3)[eager]
            finish = bool(users) and rng.random() < (0.1, 0.7, 0.3)[eager]
            valid, last = rng.random() < 0.7, rng.random() < 0.4
            ctx.set(buffer.claim, claim)
            ctx.set(buffer.finish, finish)
            ctx.set(buffer.finish_half, users[0] if finish else rng.randrange(2))
            ctx.set(buffer.load.valid, valid)
            ctx.set(buffer.load.last, last)
            ready = users.count(1 - half) == 0
            assert ctx.get(buffer.load.half) == half
            assert ctx.get(buffer.load.ready) == ready
            assert ctx.get(taken) == (valid and ready)
            waits += valid and not ready
            if claim:
                users.append(half)
            if finish:
                users.popleft()
            fullest = max(fullest, users.count(half))
            if valid and ready and last:
                half, loaded = 1 - half, loaded + 1
            await ctx.tick()
        loads = loaded

    simulate(m, bench)
    assert loads > 100
    assert waits > 100
    assert fullest == MAX_USERS
