"""Which iterations of a nest go into one packet, and where packets lie in the input window.

The search is the same for one plan, whose packets a pass makes, and for a family, of which a model chooses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain
from math import inf, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from axiloom.isa.contract.types import WORD_BITS, DmaConfig
from axiloom.plan.numbers import Num, ceil_div, least, most, where
from axiloom.plan.tree import Command, Item, Packets, Plan, Receive, Send, Words

WORD_CYCLES = 11
"""To read a word of a matrix, write it to the window and clean it: CPU cycles, about."""
PACKET_WORDS = 2048
"""About how long a packet should be: packing the first and unpacking the last overlap with nothing."""
PACKET_CYCLES = 900
"""To start a transfer and see its end: registers in the fabric are far away."""

Which = npt.NDArray[np.intp]


def choose(
    plan: Plan, dma: DmaConfig, *, buffers: int, keep: bool, target: int = PACKET_WORDS, loops: bool = True
) -> Packets | None:
    """The packets of one plan that cost the CPU least, None if not even one innermost iteration fits.

    `buffers`: places that packets take turns in; `keep`: what is in the window already is not packed again;
    `target`: about how many words a packet should have. Without `loops` an iteration of the innermost loop is
    the most that goes in a packet, and its parts go in packets of their own where they can.
    """
    ((_, packets),) = choices(plan, dma, buffers=buffers, keep=keep, target=target, loops=loops)
    return packets


def choices(
    plan: Plan, dma: DmaConfig, *, buffers: int, keep: bool, target: int = PACKET_WORDS, loops: bool = True
) -> list[tuple[Which, Packets | None]]:
    """The same for a family: numbers of candidates, and their packets, which differ in numbers only."""
    ways: list[Iterable[tuple[Packets, Num]]]
    if loops:
        ways = [chain(_whole(plan, buffers, target), _divided(plan, target) if buffers > 1 else ())]
    else:
        innermost = len(plan.levels) - 1
        ways = [_divided(plan, 1), (way for way in _whole(plan, buffers, 1) if way[0].level == innermost)]
    candidates = plan.count or 1
    best, cheapest = np.full(candidates, -1), np.full(candidates, inf)
    fitting: list[Packets] = []
    for some in ways:
        left = best < 0
        for packets, allowed in some:
            fits = left & allowed & _fits(packets, dma)
            if not np.any(fits):
                continue
            cycles = cost(plan, packets, keep=keep)
            better = fits & (cycles < cheapest)
            best, cheapest = np.where(better, len(fitting), best), np.where(better, cycles, cheapest)
            fitting.append(packets)
    groups = ((int(index), np.flatnonzero(best == index)) for index in np.unique(best))
    return [(which, fitting[index][which] if index >= 0 else None) for index, which in groups]


def innermost(trips: Sequence[Num]) -> Packets:
    """No packets, but the iterations of the innermost loop, as if all were put in one place."""
    return Packets(len(trips) - 1, 1, trips[-1], 0, 0, 0, False, 1)


def _fits(packets: Packets, dma: DmaConfig) -> Num:
    """Into the window, and into the LENGTH register."""
    window = dma.input_buffer_size * 8 // WORD_BITS
    return (packets.window <= window) & (packets.longest <= _longest(dma))


def _longest(dma: DmaConfig) -> int:
    """Words of a transfer that window and LENGTH register hold."""
    return min(dma.input_buffer_size, (1 << dma.length_width) - 1) * 8 // WORD_BITS


def _whole(plan: Plan, buffers: int, target: int) -> Iterator[tuple[Packets, Num]]:
    """Packets of about `target` words, and whether there can be such."""
    words = bodies(plan)
    prefix: Num = 0
    suffix: Num = 0
    for level, loop in enumerate(plan.levels):
        for count in _counts(loop.trips, most(1, target // words[level])):
            chunks = ceil_div(loop.trips, count)
            several = chunks > 1
            apart = Packets(
                level, count, chunks, words[level], prefix, suffix, True, where(several, 1, buffers)
            )
            yield apart, True
            # What lies behind a short last packet would lie in the middle of the longer ones.
            yield replace(apart, apart=False, copies=buffers), several & (loop.trips % count == 0)
        prefix, suffix = prefix + stage_words(loop.pre), suffix + stage_words(loop.post)


def _divided(plan: Plan, target: int) -> Iterator[tuple[Packets, Num]]:
    """Iterations of the innermost loop in parts, if they have `target` words; none if many tiles come back.

    With one tile at most an iteration, its receive is armed before anything waits for the device.
    """
    *outer, inner = plan.levels
    sizes = tuple(map(stage_words, parts(inner.pre)))
    if len(sizes) < 2 or sum(isinstance(item.move, Receive) for item in plan.items) > 1:
        return
    prefix = sum(stage_words(level.pre) for level in outer)
    suffix = sum(stage_words(level.post) for level in outer)
    together = Packets(len(outer), 1, inner.trips, sum(sizes), prefix, suffix, False, 1, sizes)
    large = together.body >= target
    yield together, large
    yield replace(together, apart=True), large & (inner.trips > 1)


def bodies(plan: Plan) -> list[Num]:
    """Words of one iteration of each loop, with the loops inside it."""
    words: list[Num] = []
    inner: Num = 0
    for level in reversed(plan.levels):
        words.insert(0, stage_words(level.all) + inner)
        inner = words[0] * level.trips
    return words


def stage_words(commands: Sequence[Command]) -> Num:
    return sum(command.sent_words for command in commands)


def parts(commands: Sequence[Command]) -> list[list[Command]]:
    """An iteration by tiles: a part for each command that sends one, with those behind it that do not."""
    groups: list[list[Command]] = []
    for command in commands:
        if command.sends_tile or not groups:
            groups.append([command])
        else:
            groups[-1].append(command)
    return groups


def _counts(trips: Num, limit: Num) -> list[Num]:
    """Iterations a packet, up to about `limit`: balanced, and divisors of `trips`; the largest first."""
    limit = least(trips, limit)
    balanced = ceil_div(trips, ceil_div(trips, limit))
    if not isinstance(limit, np.ndarray):
        return sorted({balanced, _divisor(trips, limit), 1}, reverse=True)
    counts = np.sort(np.broadcast_arrays(balanced, _divisor(trips, limit), 1), axis=0)[::-1]
    return [count for i, count in enumerate(counts) if not i or not np.array_equal(count, counts[i - 1])]


def _divisor(trips: Num, limit: Num) -> Num:
    """The largest divisor of `trips` up to `limit`."""
    if not isinstance(limit, np.ndarray):
        return max(count for count in range(1, limit + 1) if trips % count == 0)
    largest = np.ones_like(limit)
    for count in range(2, int(limit.max()) + 1):
        largest = np.where((trips % count == 0) & (count <= limit), count, largest)
    return largest


def runs(commands: Sequence[Command], dma: DmaConfig) -> list[list[Command]]:
    """Commands by the blocking transfers they go in, if as many share one as window and LENGTH hold.

    Only the last command of a transfer brings something back, for which the host waits. Joining is not always
    faster: joined words take more of the window, and so more of the caches.
    """
    joined: list[list[Command]] = []
    for command in commands:
        last = joined[-1] if joined else ()
        words = stage_words((*last, command))
        if last and words <= _longest(dma) and command.sent_words and _is_plain(command, *last):
            joined[-1].append(command)
        else:
            joined.append([command])
    return joined


def _is_plain(command: Command, *before: Command) -> bool:
    """Is all sent by the stream, without registers, and brings nothing before `command` something back?"""
    if any(isinstance(move, Receive) for other in before for move in other.moves):
        return False
    return not any(
        own.before or own.after or any(not isinstance(move, Words) and move.by for move in own.moves)
        for own in (command, *before)
    )


# --- what is kept --------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Tiles and the words beside them, each with the number of its command: what is packed at once."""

    moves: list[tuple[int, Words | Send]]
    first: tuple[int, ...]
    """Of the loops around a packet, those in whose first iterations alone it is packed; (): in all."""

    @property
    def words(self) -> Num:
        return sum(move.words for _, move in self.moves)


def pieces(plan: Plan, packets: Packets, level: int, commands: Sequence[Command]) -> list[Piece]:
    """What commands send in loop `level`, where packets stay in the window until others take their place.

    Words go with the tile behind them, the last ones with the tile in front.
    """
    names = [loop.name for loop in plan.levels]
    groups: list[list[tuple[int, Words | Send]]] = [[]]
    for number, command in enumerate(commands):
        for move in command.moves:
            if not isinstance(move, Receive):
                groups[-1].append((number, move))
                if isinstance(move, Send):
                    groups.append([])
    rest = groups.pop()
    if groups:
        groups[-1] += rest
    elif rest:
        return [Piece(rest, ())]
    split: list[Piece] = []
    for group in groups:
        moved = {names.index(name) for _, move in group for name in move.loops if name in names}
        first = _first(packets, plan.trips, level, moved)
        if split and split[-1].first == first:
            split[-1].moves.extend(group)
        else:
            split.append(Piece(group, first))
    return split


def _first(packets: Packets, trips: Sequence[Num], level: int, moved: Set[int]) -> tuple[int, ...]:
    """The loops around a packet that leave words and their place alone, inside all that change them.

    Where two places take turns, it is the first two iterations of the innermost of them. What stands at an
    edge of loops inside is in the same place each time, or in the other one every second time.
    """
    around = [*trips[: packets.level], packets.chunks]
    at_edge = {number for number in range(level + 1, len(around)) if around[number] > 1}
    elsewhere = at_edge | ({packets.level} if packets.apart else set())
    first: tuple[int, ...] = ()
    for number, n in enumerate(around):
        if n > 1 and number not in elsewhere:
            first = () if number in moved else (*first, number)
    if packets.copies > 1 and len(first) == 1 and around[first[0]] <= packets.copies:
        return ()
    return first


# --- what packets cost ---------------------------------------------------------------------------------


def cost(plan: Plan, packets: Packets, *, keep: bool) -> Num:
    """CPU cycles for packing and sending, about."""
    words = packed(plan, packets, keep=keep) + packets.longest  # nothing overlaps with packing the first
    return words * WORD_CYCLES + packets.number(plan.trips) * PACKET_CYCLES


def packed(plan: Plan, packets: Packets, *, keep: bool) -> Num:
    """Words that the CPU puts into the window for the nest; `keep`: not again what is there already."""
    trips = plan.trips
    words: dict[tuple[int, frozenset[int]], Num] = {}
    for level, _, move, moved in plan.items:
        if not isinstance(move, Receive):
            words[level, moved] = words.get((level, moved), 0) + move.words
    total: Num = 0
    for (level, moved), own in words.items():
        total = total + own * (visits(packets, trips, level, moved) if keep else prod(trips[: level + 1]))
    return total


def visits(
    packets: Packets, trips: Sequence[Num], level: int, moved: frozenset[int], *, single: bool = True
) -> Num:
    """How often something at `level` is put into the window, if it is left there while it stays the same.

    `single`: the loops `moved` change it even where they have one iteration.
    """
    outer, inside = [*trips[: packets.level]], [*trips[packets.level : level + 1]]
    if inside and not packets.apart:
        # Packets that share a place: their loop goes round outside, with the iterations of one inside.
        outer.append(packets.chunks)
        inside[0] = packets.count
    around: Num = 1
    repeats: Num = 1
    for loop, n in enumerate(outer):
        repeats = repeats * n
        if loop in moved:
            changes = True if single else n > 1
            around, repeats = where(changes, around * repeats, around), where(changes, 1, repeats)
    return least(prod(trips[: level + 1]), around * least(packets.copies, repeats) * prod(inside))


def sequence(
    packets: Packets, trips: Sequence[Num], items: Sequence[Item], length: int, *, lasts: bool = False
) -> tuple[list[Num], list[Num]]:
    """How often each item is in the first packets, and how often packed: arrays (`length`, candidates).

    The parts of a divided iteration count as one packet. `lasts`: what was done for a tile once is never
    done again, whatever came meanwhile.
    """
    at = np.arange(length)[:, None] + np.zeros_like(trips[0])
    radix = [*trips[: packets.level], packets.chunks]
    digits: list[Num] = []
    for n in reversed(radix):
        digits.insert(0, at % n)
        at = at // n
    exists = at == 0  # fewer packets than `length`
    iterations = np.minimum(packets.count, trips[packets.level] - digits[-1] * packets.count)
    present, fresh = [], []
    for level, behind, _, moved in items:
        number = np.zeros_like(at)
        for loop, (digit, n) in enumerate(zip(digits[: level + 1], radix, strict=False)):
            if loop == packets.level and packets.apart:
                continue
            moves = n > 1 if loop in moved else False
            forgotten = moves if not lasts else False
            number = np.where(forgotten, 0, np.where(moves, number, number * n + digit))
        if level >= packets.level:
            times = iterations * prod(trips[packets.level + 1 : level + 1]) * exists
        else:
            inner = zip(digits[level + 1 :], radix[level + 1 :], strict=True)
            times = exists * prod(digit == (n - 1 if behind else 0) for digit, n in inner)
        present.append(times)
        fresh.append(times * (number < packets.copies))
    return present, fresh
