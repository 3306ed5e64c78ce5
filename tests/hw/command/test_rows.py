# amaranth: UnusedElaboratable=no
"""Rows of any width against beats of any width: the same bits, in order, with pauses on both sides."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.command.rows import BeatsToRows, RowsToBeats


def _pass(component: Any, source: Any, sink: Any, items: list[Any], flushes: bool = False) -> list[Any]:
    """What comes out of `component`, with pauses. Items are (data, last) or plain words."""
    rng, taken = random.Random(1), []

    async def send(ctx: Any) -> None:
        for item in items:
            while rng.random() < 0.3:
                await ctx.tick()
            if isinstance(item, tuple):
                ctx.set(source.payload.data, item[0])
                ctx.set(source.payload.last, item[1])
            else:
                ctx.set(source.payload, item)
            ctx.set(source.valid, 1)
            await ctx.tick().until(source.ready)
            ctx.set(source.valid, 0)

    async def take(ctx: Any) -> None:
        for _ in range(400):
            ready = rng.random() < 0.6
            ctx.set(sink.ready, ready)
            if flushes:
                ctx.set(component.flush, len(taken) % 3 == 2)
            if ready and ctx.get(sink.valid):
                payload = ctx.get(sink.payload)
                taken.append(payload if isinstance(payload, int) else (payload.data, payload.last))
            await ctx.tick()

    simulate(component, take, models=[send])
    return taken


@pytest.mark.parametrize(("width", "row"), [(64, 16), (64, 64), (32, 128), (16, 16)])
def test_beats_become_rows(width: int, row: int) -> None:
    component = BeatsToRows(width, row)
    rng = random.Random(2)
    whole = [rng.getrandbits(max(width, row)) for _ in range(8)]
    beats = [word >> at & (1 << width) - 1 for word in whole for at in range(0, max(width, row), width)]
    rows = [word >> at & (1 << row) - 1 for word in whole for at in range(0, max(width, row), row)]
    assert _pass(component, component.beats, component.rows, beats) == rows


def test_a_flush_drops_the_rest_of_a_beat() -> None:
    component = BeatsToRows(64, 16)
    beats = [0x0004000300020001, 0x0008000700060005]
    assert _pass(component, component.beats, component.rows, beats, flushes=True) == [1, 2, 3, 5, 6, 7]


@pytest.mark.parametrize(("row", "width"), [(16, 64), (64, 64), (128, 32), (32, 64)])
def test_rows_become_beats(row: int, width: int) -> None:
    component = RowsToBeats(row, width)
    rng = random.Random(3)
    packets = [[rng.getrandbits(row) for _ in range(length)] for length in (1, 4, 3, 2)]
    items = [(word, at == len(packet) - 1) for packet in packets for at, word in enumerate(packet)]
    expected = []
    for packet in packets:
        bits = sum(word << row * at for at, word in enumerate(packet))
        beats = -(-row * len(packet) // width)
        expected += [(bits >> width * at & (1 << width) - 1, int(at == beats - 1)) for at in range(beats)]
    assert _pass(component, component.rows, component.beats, items) == expected


def test_widths_that_do_not_divide_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^payload: rows of 48 bits and beats of 64 bits do not divide"):
        BeatsToRows(64, 48)
    with pytest.raises(ValueError, match=r"^result: rows of 48 bits and beats of 64 bits do not divide"):
        RowsToBeats(48, 64)
