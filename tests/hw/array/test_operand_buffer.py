# amaranth: UnusedElaboratable=no
"""Tiles go in as the stream brings them and come out block by block, while the next one is loaded."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array.operand_buffer import READ_LATENCY, BlockEnd, OperandBuffer
from axiloom.hw.array.operand_layout import OperandLayout

DEPTH = 24
LAYOUTS = {
    "along k": OperandLayout("A", 8, 4, True, 32, 4, DEPTH),
    "along k, ragged": OperandLayout("A", 8, 4, True, 32, 4, DEPTH, ragged=True),
    "along k, an element a word": OperandLayout("A", 32, 2, True, 32, 2, DEPTH),
    "across k": OperandLayout("B", 8, 8, False, 32, 2, DEPTH),
    "across k, two blocks a word": OperandLayout("B", 8, 2, False, 32, 1, DEPTH),
    "across k, an element a word": OperandLayout("B", 32, 4, False, 32, 4, DEPTH),
}
MOST_K = 12
TILES = 12

Tile = list[list[int]]
"""An element by line and k."""


def random_tile(rng: random.Random, layout: OperandLayout) -> Tile:
    """Any that fits a half."""
    unit = layout.lanes if layout.along_k else max(layout.lanes, layout.per_word)
    while True:
        lines = unit * rng.randrange(1, 4)
        k = rng.randrange(1, MOST_K + 1)
        if layout.along_k and not layout.ragged:
            k += -k % layout.per_word
        per_line = -(-k // layout.per_word)
        words = lines // layout.banks * per_line
        if not layout.along_k:
            words = -(-lines // layout.per_word // layout.banks) * k
        if words <= layout.depth:
            return [[rng.getrandbits(layout.bits) for _ in range(k)] for _ in range(lines)]


def words_of(tile: Tile, layout: OperandLayout) -> list[int]:
    """As the stream brings them: packed along lines, or along k; a line that ends in a word is filled up."""
    lines = tile if layout.along_k else [list(column) for column in zip(*tile, strict=True)]
    words = []
    for line in lines:
        for at in range(0, len(line), layout.per_word):
            part = line[at : at + layout.per_word]
            words.append(sum(element << layout.bits * place for place, element in enumerate(part)))
    return words


@pytest.mark.every(3)
@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_loaded_is_read_block_by_block(name: str) -> None:
    layout = LAYOUTS[name]
    rng = random.Random(name)
    device = OperandBuffer(layout, 6, 6)
    tiles = [random_tile(rng, layout) for _ in range(TILES)]
    loaded: deque[tuple[Tile, int]] = deque()
    checked, waited = 0, 0

    async def load(ctx: Any) -> None:
        nonlocal waited
        for tile in tiles:
            k = len(tile[0]) + (-len(tile[0]) % layout.per_word if layout.ragged else 0)
            ctx.set(device.lines, len(tile))
            ctx.set(device.k, k)
            for _ in range(3):  # the sizes settle
                await ctx.tick()
            before, words = ctx.get(device.load.half), words_of(tile, layout)
            for number, word in enumerate(words):
                while rng.random() < 0.3:
                    ctx.set(device.load.valid, 0)
                    ctx.set(device.load_data, rng.getrandbits(layout.width))
                    await ctx.tick()
                ctx.set(device.load.valid, 1)
                ctx.set(device.load_data, word)
                while not ctx.get(device.load.ready):
                    waited += 1
                    await ctx.tick()
                assert ctx.get(device.load.last) == (number == len(words) - 1)
                await ctx.tick()
            ctx.set(device.load.valid, 0)
            assert ctx.get(device.load.half) == 1 - before
            ctx.set(device.claim, 1)
            await ctx.tick()
            ctx.set(device.claim, 0)
            loaded.append((tile, 1 - before))

    async def read(ctx: Any) -> None:
        nonlocal checked
        for _ in tiles:
            while not loaded or rng.random() < 0.9:
                await ctx.tick()
            tile, half = loaded.popleft()
            ctx.set(device.start, 1)
            ctx.set(device.start_half, half)
            await ctx.tick()
            ctx.set(device.start, 0)
            blocks = len(tile) // layout.lanes
            block = 0
            for _ in range(3 * blocks):
                due: deque[list[int]] = deque([[]] * (READ_LATENCY - 1))
                last = block == blocks - 1
                end = rng.choice((BlockEnd.REPEAT, BlockEnd.RESTART, *(() if last else (BlockEnd.NEXT,))))
                lanes = tile[block * layout.lanes : (block + 1) * layout.lanes]
                k = 0
                for _cycle in range(200):
                    advance = k < len(tile[0]) and rng.random() < 0.8
                    ctx.set(device.advance, advance)
                    ctx.set(device.block_end, end if advance and k == len(tile[0]) - 1 else BlockEnd.STAY)
                    due.append([lane[k] for lane in lanes] if advance else [])
                    k += advance
                    await ctx.tick()
                    if expected := due.popleft():
                        elements = ctx.get(device.elements)
                        got = [
                            elements >> layout.bits * lane & ((1 << layout.bits) - 1)
                            for lane in range(layout.lanes)
                        ]
                        assert got == expected, (block, k)
                        checked += 1
                    if k == len(tile[0]) and not any(due):
                        break
                ctx.set(device.advance, 0)
                ctx.set(device.block_end, BlockEnd.STAY)
                block = {BlockEnd.REPEAT: block, BlockEnd.NEXT: block + 1, BlockEnd.RESTART: 0}[end]
            ctx.set(device.finish, 1)
            ctx.set(device.finish_half, half)
            await ctx.tick()
            ctx.set(device.finish, 0)

    simulate(device, load, read)
    assert checked > 100
    assert waited > 0, "no load has waited for its half"
