# amaranth: UnusedElaboratable=no
"""Blocks of sums are added to what is there, in one half, while rows of the other are sent."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array.result_buffer import MIN_BLOCK_CYCLES, ResultBuffer

WORD = 1 << 32
COMPUTES = 40


@pytest.mark.parametrize(("rows", "cols"), [(1, 4), (4, 2), (8, 1)])
def test_sums_are_added_and_sent(rows: int, cols: int) -> None:
    rng = random.Random(rows)
    blocks_most = 4
    device = ResultBuffer(rows, cols, rows * blocks_most)
    contents: list[list[list[int]]] = [[], []]  # of each half, by row
    block: list[list[int]] = [[0] * cols] * rows  # whose sums the array has
    to_send: list[tuple[int, list[list[int]]]] = []
    sent, overlapped, computing = 0, 0, False

    async def array(ctx: Any) -> None:
        """`sums` has the row that was asked for two cycles ago."""
        asked = [[0] * cols]
        while True:
            asked.append(block[ctx.get(device.select)])
            await ctx.tick()
            value = sum(word << 32 * place for place, word in enumerate(asked.pop(0)))
            ctx.set(device.sums, value)

    async def compute(ctx: Any) -> None:
        nonlocal block, computing
        half, cleared = 0, True
        for _ in range(COMPUTES):
            if cleared or rng.random() < 0.6:
                blocks = rng.randrange(1, blocks_most + 1) if cleared else len(contents[half]) // rows
                computing = True
                ctx.set(device.start, 1)
                ctx.set(device.start_half, half)
                await ctx.tick()
                ctx.set(device.start, 0)
                made: list[list[int]] = []
                for number in range(blocks):
                    sums = [[rng.getrandbits(32) for _ in range(cols)] for _ in range(rows)]
                    made += sums
                    ctx.set(device.step.last_row, rows - 1)
                    assert ctx.get(device.busy)
                    ctx.set(device.step.block_done, 1)
                    ctx.set(device.step.first_block, number == 0)
                    ctx.set(device.step.last_block, number == blocks - 1)
                    ctx.set(device.step.half, half)
                    ctx.set(device.step.accumulate, not cleared)
                    block = sums  # from the next cycle on: `array` has looked already
                    await ctx.tick()
                    ctx.set(device.step.block_done, 0)
                    for _ in range(max(rows, MIN_BLOCK_CYCLES) - 1 + rng.randrange(3)):
                        await ctx.tick()
                old = [[0] * cols] * len(made) if cleared else contents[half]
                contents[half] = [
                    [(a + b) % WORD for a, b in zip(*pair, strict=True)]
                    for pair in zip(old, made, strict=True)
                ]
                cleared = computing = False
                continue
            while to_send:
                await ctx.tick()
            to_send.append((half, contents[half]))
            half, cleared = 1 - half, True

    async def send(ctx: Any) -> None:
        nonlocal sent, overlapped
        while True:
            if not to_send:
                await ctx.tick()
                continue
            half, expected = to_send[0]
            while ctx.get(device.running) >> half & 1:
                await ctx.tick()
            await ctx.tick()  # the half is whole in the cycle behind
            ctx.set(device.sending, 1)
            ctx.set(device.send_half, half)
            addresses: list[int | None] = [rng.randrange(len(expected)) for _ in range(10)]
            fetched: int | None = None
            for address in [*addresses, None, None]:
                ctx.set(device.send_enable, 0)
                ctx.set(device.send_flow, 0)
                while rng.random() < 0.3:
                    await ctx.tick()
                ctx.set(device.send_flow, 1)
                ctx.set(device.send_enable, address is not None)
                ctx.set(device.send_address, address or 0)
                await ctx.tick()
                ctx.set(device.send_flow, 0)
                ctx.set(device.send_enable, 0)
                if fetched is not None:
                    for _ in range(1 + rng.randrange(2)):  # it stays until the next flow
                        row = ctx.get(device.send_row)
                        got = [row >> 32 * place & (WORD - 1) for place in range(cols)]
                        assert got == expected[fetched]
                        if rng.random() < 0.5:
                            break
                        await ctx.tick()
                    sent += 1
                    overlapped += computing
                fetched = address
            ctx.set(device.sending, 0)
            to_send.pop(0)

    simulate(device, compute, models=[array, send])
    assert sent > 50
    assert overlapped > 10


@pytest.mark.parametrize(("rows", "cols"), [(1, 2), (4, 2), (8, 1)])
def test_rows_are_sent_behind_the_compute_that_writes_them(rows: int, cols: int) -> None:
    """Each tile is asked for as its last compute begins; its rows, in any order, have their last values."""
    rng = random.Random(rows)
    blocks_most = 3
    device = ResultBuffer(rows, cols, rows * blocks_most)
    block: list[list[int]] = [[0] * cols] * rows
    held: list[int] = []  # halves that still have to be sent
    to_send: list[tuple[int, int, list[list[int]]]] = []  # half, rows of each block, rows
    early = {False: 0, True: 0}  # by whether the compute adds

    async def array(ctx: Any) -> None:
        asked = [[0] * cols]
        while True:
            asked.append(block[ctx.get(device.select)])
            await ctx.tick()
            ctx.set(device.sums, sum(word << 32 * place for place, word in enumerate(asked.pop(0))))

    async def compute(ctx: Any) -> None:
        nonlocal block
        for number in range(COMPUTES):
            half, blocks, computes = number % 2, rng.randrange(1, blocks_most + 1), rng.randrange(1, 4)
            used = rng.randrange(rows) + 1  # rows of each block
            sums = [
                [[rng.getrandbits(32) for _ in range(cols)] for _ in range(rows * blocks)]
                for _ in range(computes)
            ]
            whole = [
                [sum(words) % WORD for words in zip(*of_row, strict=True)]
                for of_row in zip(*sums, strict=True)
            ]
            while half in held:
                await ctx.tick()
            for turn, each in enumerate(sums):
                ctx.set(device.start, 1)
                ctx.set(device.start_half, half)
                await ctx.tick()
                ctx.set(device.start, 0)
                if turn == computes - 1 and number % 3 < 2:  # else it is cleared instead
                    held.append(half)
                    to_send.append((half, used, whole))
                for at in range(blocks):
                    for _ in range(rng.randrange(1, 4)):
                        await ctx.tick()
                    ctx.set(device.step.block_done, 1)
                    ctx.set(device.step.first_block, at == 0)
                    ctx.set(device.step.last_block, at == blocks - 1)
                    ctx.set(device.step.half, half)
                    ctx.set(device.step.accumulate, turn > 0)
                    ctx.set(device.step.last_row, used - 1)
                    block = each[at * rows : (at + 1) * rows]
                    await ctx.tick()
                    ctx.set(device.step.block_done, 0)
                    for _ in range(max(used, MIN_BLOCK_CYCLES) - 2):
                        await ctx.tick()
        while held:
            await ctx.tick()

    async def send(ctx: Any) -> None:
        while True:
            if not to_send:
                await ctx.tick()
                continue
            half, used, expected = to_send.pop(0)
            addresses = [at for at in range(len(expected)) if at % rows < used]
            ctx.set(device.sending, 1)
            ctx.set(device.send_half, half)
            follows, at = bool(ctx.get(device.running) >> half & 1), 0
            await ctx.tick()
            fetched: int | None = None
            ctx.set(device.send_flow, 1)
            while at < len(addresses) or fetched is not None:
                ctx.set(device.send_address, addresses[min(at, len(addresses) - 1)])
                may = at < len(addresses) and (not follows or bool(ctx.get(device.sendable)))
                ctx.set(device.send_enable, may)
                early[bool(ctx.get(device.step.accumulate))] += may and follows
                follows = follows and bool(ctx.get(device.running) >> half & 1)
                await ctx.tick()
                if fetched is not None:
                    row = ctx.get(device.send_row)
                    assert [row >> 32 * place & (WORD - 1) for place in range(cols)] == expected[fetched]
                fetched = addresses[at] if may else None
                at += may
            ctx.set(device.send_enable, 0)
            ctx.set(device.sending, 0)
            held.remove(half)

    simulate(device, compute, models=[array, send])
    assert not to_send
    assert early[False] > 10
    assert early[True] > 10
