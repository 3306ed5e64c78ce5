"""What a plan moves, by one walk: of a family, arrays with one value a candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from axiloom.plan.numbers import Num
from axiloom.plan.tree import Command, Loop, Node, Plan, Queue, Receive, Send, Window


@dataclass
class Figures:
    """Totals of a run; words are 32 bits wide."""

    commands: Num = 0
    sent: Num = 0
    received: Num = 0
    tiles: Num = 0
    """Those that come back."""
    packets: Num = 0
    longest: Num = 0
    """Words of the longest packet there can be."""
    window: Num = 0
    """Words of the window that packets lie in."""


def figures(plan: Plan) -> Figures:
    totals = Figures()
    for command, times in commands(plan):
        totals.commands += times
        totals.sent += times * command.sent_words
        for move in command.moves:
            if isinstance(move, Receive) and move.by is None:
                totals.tiles += times
                totals.received += times * move.words
    if isinstance(plan.transport, Window):
        packets = plan.transport.packets
        totals.packets = packets.number(plan.trips)
        totals.longest, totals.window = packets.longest, packets.window
    return totals


def commands(plan: Plan) -> Iterator[tuple[Command, Num]]:
    """Each command in the order of the text, and how often it is sent."""

    def walk(nodes: tuple[Node, ...], times: Num) -> Iterator[tuple[Command, Num]]:
        for node in nodes:
            if isinstance(node, Command):
                yield node, times
            else:
                yield from walk(node.body, times * node.trips if isinstance(node, Loop) else times)

    return walk(plan.body, 1)


def moves(nodes: Sequence[Node]) -> Iterator[Send | Receive]:
    """Each tile that is moved, in the order of the text."""
    for command, _ in commands(Plan(tuple(nodes))):
        yield from (move for move in command.moves if isinstance(move, Send | Receive))


def in_order(plan: Plan) -> Iterator[Command]:
    """The commands of one plan, as the driver sends them: loops are unrolled."""

    def walk(nodes: tuple[Node, ...]) -> Iterator[Command]:
        for node in nodes:
            if isinstance(node, Loop):
                for _ in range(node.trips):
                    yield from walk(node.body)
            elif isinstance(node, Window | Queue):
                yield from walk(node.body)
            else:
                yield node

    return walk(plan.body)
