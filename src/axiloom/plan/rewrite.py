"""Plans from plans: tiles that stay on the device, loops in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from axiloom.plan.numbers import Num
from axiloom.plan.tree import Command, Level, Move, Plan, Region, Send, Words


def resident(plan: Plan, *, outermost: bool = False) -> Plan:
    """With loads in front of the loops that do not change them.

    `outermost`: loads of dense tiles leave the outermost loop, too.
    """
    levels, before = list(plan.levels), list(plan.before)
    for number in reversed(range(len(levels))):
        level = levels[number]
        for load in [*takewhile(lambda command: command.loads, level.pre)]:
            dense = all(move.region.dense for move in load.moves if isinstance(move, Send))
            stays = number == 0 and not (outermost and dense)
            if stays or not _is_resident(load, levels[number:], dense=dense):
                continue
            pre = levels[number].pre
            levels[number] = replace(level, pre=tuple(command for command in pre if command is not load))
            left = _without(load, level.name)
            if number == 0:
                before.append(left)
            else:
                levels[number - 1] = replace(levels[number - 1], pre=(*levels[number - 1].pre, left))
    return Plan.of(levels, before)


def _is_resident(load: Command, levels: Sequence[Level], *, dense: bool) -> bool:
    """Does it load the same in every iteration, and nothing else in the loop load the same operand?"""
    once = dense and levels[0].trips == 1
    if any(levels[0].name in move.loops for move in load.moves) and not once:
        return False
    own = set(_arrays(load))
    others = (command for level in levels for command in level.all if command is not load)
    return not any(own.intersection(_arrays(command)) for command in others)


def _arrays(command: Command) -> Iterator[object]:
    return (move.region.array for move in command.moves if isinstance(move, Send))


def _without(command: Command, loop: str) -> Command:
    """In front of a loop: what it moved is where its first iteration has it."""
    return _renamed(command, lambda name, step: () if name == loop else ((name, step),))


def blocked(plan: Plan, number: int, count: Num) -> Plan:
    """With loop number `number` in blocks of `count` iterations, a divisor of them.

    The loop over blocks is outermost.
    """
    levels = list(plan.levels)
    loop = levels[number]
    block = f"{loop.name}_block"
    levels[number] = replace(loop, trips=count, end=loop.step * count, of=block)

    def now(name: str, step: Num) -> tuple[tuple[str, Num], ...]:
        if name != loop.name:
            return ((name, step),)
        return (block, None if step is None else step * count), (name, step)

    outer = Level(block, loop.trips // count, step=loop.step * count, end=loop.end)
    return Plan.of(
        [
            outer,
            *(
                replace(
                    level,
                    pre=tuple(_renamed(command, now) for command in level.pre),
                    post=tuple(_renamed(command, now) for command in level.post),
                )
                for level in levels
            ),
        ],
        plan.before,
    )


def tiled(plan: Plan, number: int, count: int) -> Plan:
    """The same for a driver: blocks of one iteration have no loop inside."""
    if count > 1:
        return blocked(plan, number, count)
    levels = plan.levels
    assert not any(level.all for level in levels[:number]), (
        "such a loop is the first one with transfers in it"
    )
    loops = [levels[number], *levels[:number], *levels[number + 1 :]]
    moved = [replace(loop, pre=level.pre, post=level.post) for loop, level in zip(loops, levels, strict=True)]
    return Plan.of(moved, plan.before)


_Rename = Callable[[str, Num], tuple[tuple[str, Num], ...]]


def _renamed(command: Command, now: _Rename) -> Command:
    """With other loops: `now` says which take the place of one, and by how much they move what that moved."""

    def region(old: Region) -> Region:
        spans = (replace(s, loops=tuple(new for loop in s.loops for new in now(*loop))) for s in old.spans)
        return replace(old, spans=tuple(spans))

    def move(old: Move) -> Move:
        if isinstance(old, Words):
            return replace(old, loops=frozenset(name for loop in old.loops for name, _ in now(loop, 0)))
        return replace(old, region=region(old.region))

    return replace(command, moves=tuple(map(move, command.moves)))
