"""Which transfers of placed ops share a queue of a scatter-gather DMA, and what travels without a copy.

Tiles that lie in memory as they travel are read, and written, where they are. What a descriptor cannot
express (zeros beside an edge, transposition, odd rows) goes through the window, for each operand as a whole
or, where only edges are at fault, for those tiles. A result is written in place where all its tiles
overwrite and fill whole cache lines; or whole beats, where nothing else uses its array: then that belongs to
the DMA until the queue is closed, as tiles share lines. So does a result of `LARGE` bytes, whose lines the
runtime then need not maintain one by one. Of as many bytes that are read in place it is told, too.

Tiles come back to on-chip memory. In some flows C comes back at every step, and the CPU adds each partial
sum to C. A line from DDR costs the CPU about 92 cycles, a line from on-chip memory 30. On-chip memory
lies beside the PL310, so the driver invalidates L1 only: one operation a line and no register access. If
the slots are too large for 32 KiB, or the port is coherent, the driver uses the output window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from axiloom.drivergen.dialects import queue
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.dialects.views import VIEWS
from axiloom.drivergen.match.trait import Trait
from axiloom.drivergen.nest.annotated import source_of
from axiloom.drivergen.nest.flow import Placed, placed
from axiloom.plan import Command, Plan, Queue, Receive, Send
from axiloom.plan.figures import moves
from axiloom.plan.tree import Move, Node

LARGE = 64 << 10
"""Bytes from which the runtime may rather clean or empty the caches than maintain line by line."""
OWNED = "in place, in an array that only the DMA writes to"


@dataclass(frozen=True)
class Units:
    """Bytes of a beat of the stream, and of a cache line.

    What the DMA writes in place must share no line with what the CPU writes.
    """

    beat: int
    line: int


class Nest:
    """A placed op: what is copied before the queue opens, and what is queued."""

    def __init__(self, op: linalg.GenericOp, trait: Trait, plan: Plan, units: Units) -> None:
        self.op, self.trait = op, trait
        # What no descriptor expresses is copied, if it is sent once, in front of all loops.
        last = max((n for n, command in enumerate(plan.before) if _has_gaps(command)), default=-1)
        self.copied = plan.before[: last + 1]
        self.queued: tuple[Node, ...] = plan.body[last + 1 :]
        for move in moves(self.queued):
            if placed(move).flat.dense is not None:
                fail(op, f"there is no descriptor for a tile like {_text(placed(move))}")
        self.ways = {_received(move, units) for move in self.receives}

    @property
    def receives(self) -> list[Receive]:
        return [move for move in moves(self.queued) if isinstance(move, Receive)]

    @property
    def in_place(self) -> bool:
        return queue.THROUGH_WINDOW not in self.ways

    def arrays(self, kind: type[Send | Receive]) -> dict[SSAValue, None]:
        return {array(move): None for move in moves(self.queued) if isinstance(move, kind)}


@dataclass
class Group:
    """Nests that share a queue."""

    nests: list[Nest]

    def takes(self, nest: Nest) -> bool:
        """Nests that follow each other share a queue where all that comes back is written in place.

        The parts of a convolution then overlap. In one queue what is received would be read before it is
        there, and a queue owns at most one array.
        """
        last = self.nests[-1]
        if nest.copied or not last.in_place or not nest.in_place or not _follows(last.op, nest.op):
            return False
        nests = [*self.nests, nest]
        received = {own: None for inner in nests for own in inner.arrays(Receive)}
        if len(received) > 1 and any(OWNED in inner.ways for inner in nests):
            return False
        return received.keys().isdisjoint(nest.arrays(Send))

    @property
    def _sizes(self) -> set[int]:
        return {move.words for nest in self.nests for move in nest.receives}

    @property
    def words(self) -> int:
        """Of the largest tile that comes back."""
        return max(self._sizes, default=1)

    def queues(self, units: Units) -> list[Plan]:
        """Of each nest what is queued, the queue's settings in each of them."""
        ways = {way for nest in self.nests for way in nest.ways}
        received = list({own: None for nest in self.nests for own in nest.arrays(Receive)})
        ops = [nest.op for nest in self.nests]
        alone = len(received) == 1 and all(op in ops for op in _touched(received[0]))
        in_place = queue.THROUGH_WINDOW not in ways and (alone or OWNED not in ways)
        words = self._sizes
        if len(words) > 1 and not in_place:
            fail(ops[0], f"tiles of different sizes are received in it ({sorted(words)} words)")
        own = in_place and alone and (OWNED in ways or array_bytes(received[0]) >= LARGE)

        def now(move: Move) -> Move:
            if isinstance(move, Send):
                way = placed(move).flat.way(units.beat)
                return replace(move, in_place=way != queue.THROUGH_WINDOW)
            return replace(move, in_place=in_place) if isinstance(move, Receive) else move

        bodies = [Plan(nest.queued).each(now).body for nest in self.nests]
        sends = [move for body in bodies for move in moves(body) if isinstance(move, Send)]
        cleaned = {array(move): None for move in sends if move.in_place}
        size = sum(map(array_bytes, cleaned))
        settings = Queue((), own=received[0] if own else None, clean=size if size >= LARGE else 0)
        return [
            Plan((*nest.copied, replace(settings, body=body)))
            for nest, body in zip(self.nests, bodies, strict=True)
        ]


def groups(
    ops: Sequence[linalg.GenericOp], traits: Sequence[Trait], plans: Sequence[Plan], units: Units
) -> list[Group]:
    """Of placed ops, in their order."""
    queues: list[Group] = []
    for op, trait, plan in zip(ops, traits, plans, strict=True):
        nest = Nest(op, trait, plan, units)
        if queues and queues[-1].takes(nest):
            queues[-1].nests.append(nest)
        else:
            queues.append(Group([nest]))
    return queues


def in_order(command: Command) -> list[Move]:
    """As they are queued: the first receive before the words that make the device send."""
    receives: list[Move] = [move for move in command.moves if isinstance(move, Receive)]
    sent = [move for move in command.moves if not isinstance(move, Receive)]
    return [*receives[:1], *sent, *receives[1:]]


def array(move: Send | Receive) -> SSAValue:
    return source_of(move.region).array


def array_bytes(value: SSAValue) -> int:
    """0 where its shape is not known."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    if not kind.has_static_shape() or not isinstance(kind.element_type, FixedBitwidthType):
        return 0
    return prod(kind.get_shape()) * kind.element_type.bitwidth // 8


def _has_gaps(command: Command) -> bool:
    return any(isinstance(move, Send) and placed(move).flat.dense is not None for move in command.moves)


def _received(move: Receive, units: Units) -> str:
    """How one tile could get to memory: those that share lines need an array that is the DMA's alone."""
    tile = placed(move).flat
    rows = tile.rows()
    if rows is None or move.add or not tile.is_whole:
        return queue.THROUGH_WINDOW
    if rows.fits(units.line):
        return queue.IN_PLACE
    return OWNED if rows.fits(units.beat) else queue.THROUGH_WINDOW


def _touched(value: SSAValue) -> Iterator[Operation]:
    """The ops that work on an array or a view of it."""
    for use in value.uses:
        if isinstance(use.operation, VIEWS):
            yield from _touched(use.operation.results[0])
        else:
            yield use.operation


def _follows(op: Operation, other: Operation) -> bool:
    """Is there nothing between two ops of a block but what has no effect?"""
    between = op.next_op
    while between is not None and between is not other:
        if not is_side_effect_free(between):
            return False
        between = between.next_op
    return between is other


def _text(region: Placed) -> str:
    kind = source_of(region).value.type
    assert isinstance(kind, MemRefType)
    return str(region.kind(kind.element_type))
