"""Tokens between the load, compute and store engines of a device: what of another engine a command waits for.

A command takes a token of an engine that has one for it, or waits, and leaves one when it is done. Four
queues count them; an engine's commands come in order, and all begin in the program's order. Source:
TVM's versatile tensor accelerator, the header of its hardware: `pop_prev_dep`, `pop_next_dep`,
`push_prev_dep`, `push_next_dep`; load comes before compute, and compute before store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOKENS = "tokens"
"""The field of an instruction; in a text without it commands come one after the other."""
BITS = 4
POP_PREV, POP_NEXT, PUSH_PREV, PUSH_NEXT = range(BITS)
LOAD, COMPUTE, STORE = ENGINES = ("load", "compute", "store")
"""Each before the next."""
COUNT_BITS = 10
"""Of a queue: how many tokens it may hold."""


@dataclass(frozen=True)
class Queue:
    """From `source` to `target`: which bit of a command pushes, and which pops."""

    source: str
    target: str
    push: int
    pop: int


QUEUES: Sequence[Queue] = tuple(
    queue
    for first, second in (ENGINES[:2], ENGINES[1:])
    for queue in (Queue(first, second, PUSH_NEXT, POP_PREV), Queue(second, first, PUSH_PREV, POP_NEXT))
)
