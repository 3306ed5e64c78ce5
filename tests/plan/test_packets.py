"""Packets against a nest that is unrolled command by command, and families against their plans one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.plan.nests import ORDERS, SIZES, TILES, Heads, Order, Sizes, nests, product, unrolled

from axiloom.isa.contract.types import DmaConfig
from axiloom.plan import Packets, Plan, Receive, Window, figures
from axiloom.plan.blocks import best
from axiloom.plan.caches import Caches, nest_cost
from axiloom.plan.packets import choices, choose, parts, pieces, runs, sequence, visits

HEADS = st.tuples(st.integers(1, 3), st.integers(1, 3))
WINDOWS = st.sampled_from([1 << 9, 1 << 11, 1 << 13, 1 << 16])


def dma(window: int) -> DmaConfig:
    return DmaConfig(input_buffer_size=window)


def lengths(plan: Plan, packets: Packets) -> list[int]:
    """Of each packet: what lies in front of a run of them goes with the first, what behind with the last."""
    found: Counter[tuple[int, ...]] = Counter()
    groups = parts(plan.levels[-1].pre) if packets.parts else []
    trips = plan.trips
    for command, at in unrolled(plan):
        level = plan.levels[len(at) - 1]
        behind = any(command is other for other in level.post)
        missing = trips[len(at) : packets.level + 1]
        number = (*at, *(n - 1 if behind else 0 for n in missing))[: packets.level + 1]
        own = [i for i, group in enumerate(groups) if any(command is other for other in group)]
        part = own[0] if own else max(0, len(groups) - 1) if behind else 0
        found[(*number[:-1], number[-1] // packets.count, part)] += command.sent_words
    return list(found.values())


@given(ORDERS, SIZES, TILES, HEADS, WINDOWS, st.booleans(), st.booleans())
def test_packets_of_a_nest_that_is_unrolled(
    order: Order, sizes: Sizes, tile: Sizes, heads: Heads, window: int, keep: bool, loops: bool
) -> None:
    plan = product(order, sizes, tile, heads)
    assume(np.prod(plan.trips) <= 2000)
    packets = choose(plan, dma(window), buffers=2, keep=keep, loops=loops)
    assume(packets is not None)
    moved = figures(plan.through(lambda body: Window(body, packets)))
    found = lengths(plan, packets)
    assert sum(found) == moved.sent == sum(command.sent_words for command, _ in unrolled(plan))
    assert len(found) == moved.packets
    assert max(found) <= moved.longest <= moved.window <= window // 4


@given(nests(), st.sampled_from([256, 512, 1 << 16]), st.integers(1, 100), st.sampled_from([1, 2]))
def test_what_stays_in_the_window_is_what_would_be_packed(
    plan: Plan, size: int, target: int, buffers: int
) -> None:
    packets = choose(plan, dma(size), buffers=buffers, keep=True, target=target)
    assume(packets is not None and not packets.parts)
    names = [level.name for level in plan.levels]
    first = {
        (command.opcode, move): piece.first
        for number, level in enumerate(plan.levels)
        for commands in (level.pre, level.post)
        for piece in pieces(plan, packets, number, commands)
        for command, move in ((commands[index], move) for index, move in piece.moves)
    }
    window: dict[int, object] = {}
    last, at, turn = None, 0, -1
    for command, digits in unrolled(plan):
        behind = command in plan.levels[len(digits) - 1].post
        inside = plan.trips[len(digits) : packets.level + 1]
        around = [*digits, *(n - 1 if behind else 0 for n in inside)][: packets.level + 1]
        around[-1] //= packets.count
        if around != last:  # the prefix lies in front of the base
            last, turn = around, turn + 1
            prefix = (level for level in plan.levels[len(digits) - 1 : packets.level])
            at = (
                turn % packets.copies * packets.room
                + packets.base
                + packets.apart * around[-1] * packets.stride
            )
            at -= sum(own.sent_words for level in prefix for own in level.pre)
        for move in command.moves:
            if isinstance(move, Receive):
                continue
            loops = first[command.opcode, move]
            times = [packets.copies if loop == loops[-1] else 1 for loop in loops]
            moved = zip(digits, names, strict=False)
            content = (command.opcode, move, tuple(n for n, name in moved if name in move.loops))
            words = {at + i: (content, i) for i in range(move.words)}
            if all(around[loop] < n for loop, n in zip(loops, times, strict=True)):
                window.update(words)
            assert words.items() <= window.items()
            at += move.words


@given(ORDERS, SIZES, TILES, HEADS, st.sampled_from([64, 256, 1024, 4096]))
def test_transfers_that_are_joined(
    order: Order, sizes: Sizes, tile: Sizes, heads: Heads, window: int
) -> None:
    for level in product(order, sizes, tile, heads).levels:
        joined = runs(level.all * 2, dma(window))
        assert [command for run in joined for command in run] == list(level.all * 2)
        words = [sum(command.sent_words for command in run) for run in joined]
        assert all(n <= window // 4 or len(run) == 1 for n, run in zip(words, joined, strict=True))
        for run, other in pairwise(joined):
            answers = any(isinstance(move, Receive) for move in run[-1].moves)
            assert answers or sum(c.sent_words for c in (*run, other[0])) > window // 4
        assert not any(isinstance(m, Receive) for run in joined for c in run[:-1] for m in c.moves)


@given(ORDERS, SIZES, st.lists(TILES, min_size=1, max_size=6), HEADS, WINDOWS, st.booleans(), st.booleans())
def test_a_family_is_its_plans(
    order: Order, sizes: Sizes, tiles: list[Sizes], heads: Heads, window: int, keep: bool, loops: bool
) -> None:
    family = product(order, sizes, {dim: np.array([tile[dim] for tile in tiles]) for dim in "mnk"}, heads)
    how = {"buffers": 2, "keep": keep, "loops": loops}
    found = dict.fromkeys(range(len(tiles)))
    for which, packets in choices(family, dma(window), **how):
        found |= {int(i): packets and packets[at] for at, i in enumerate(which)}
    caches = Caches(l2_size=8192)
    blocks = best(family, lambda plan: nest_cost(plan, dma(window), caches, **how))
    moved, cost = figures(family), nest_cost(family, dma(window), caches, **how)
    for i, tile in enumerate(tiles):
        alone = product(order, sizes, tile, heads)
        assert family[i] == alone
        assert found[i] == choose(alone, dma(window), **how)
        assert moved.sent[i] == figures(alone).sent
        assert cost[i] == pytest.approx(nest_cost(alone, dma(window), caches, **how))
        assert [blocks[i]] == best(alone, lambda plan: nest_cost(plan, dma(window), caches, **how))


@given(ORDERS, SIZES, TILES, HEADS, WINDOWS)
def test_packets_one_by_one_add_up(
    order: Order, sizes: Sizes, tile: Sizes, heads: Heads, window: int
) -> None:
    family = product(order, sizes, {dim: np.array([tile[dim]]) for dim in "mnk"}, heads)
    assume(np.prod(family.trips) <= 2000)
    ((_, packets),) = choices(family, dma(window), buffers=2, keep=True)
    assume(packets is not None)
    length = int(packets.number(family.trips)[0]) // max(1, len(packets.parts))
    present, fresh = sequence(packets, family.trips, family.items, length)
    for item, times, new in zip(family.items, present, fresh, strict=True):
        assert times.sum() == np.prod(family.trips[: item.level + 1])
        assert new.sum() == visits(packets, family.trips, item.level, item.moved, single=False)[0]
