"""What the parts of a DMA rely on of each other, beyond the rules of AXI."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, Value

from axiloom.prove.axi.ours.target import Agreement
from axiloom.prove.bench import Bench


def failed(bench: Bench, error: Value, clear: Value) -> Signal:
    """Was there an `error` in a cycle before this one, and no reset since?"""
    seen = Signal(name="agreed_failed")
    bench.m.d.sync += seen.eq(Mux(bench.reset | clear, 0, seen | error))
    return seen


def _aligned(_bench: Bench, command: Any, word_bytes: int) -> Value:
    return ~command.start | ((command.address & Const(word_bytes - 1, 32)) == 0)


def _rows_aligned(_bench: Bench, command: Any, word_bytes: int) -> Value:
    offset = ((command.length | command.stride) & (word_bytes - 1)) != 0
    return ~command.start | (command.rows == 0) | ~offset


def _rises(bench: Bench, command: Any, status: Any) -> Value:
    return bench.register(command.start | status.active) | ~status.active


ALIGNED = Agreement("aligned", "a command's address is a multiple of the port's width", _aligned)
ROWS_ALIGNED = Agreement("rows_aligned", "so are length and stride of a command with rows", _rows_aligned)
SOME = Agreement(
    "some",
    "a command has as many bytes as the mover needs, one or a word",
    lambda _bench, command, least: ~command.start | (command.length >= least),
)
ONE = Agreement(
    "one",
    "no command while one is under way",
    lambda _bench, command, status: ~command.start | ~status.active,
)
READY = Agreement(
    "ready",
    "a command only when the mover can take one",
    lambda _bench, command: ~command.start | command.ready,
)
AFTER_ERROR = Agreement(
    "after_error",
    "no command after an error, until a reset",
    lambda _bench, command, failed: ~command.start | ~failed,
)

RISES = Agreement("rises", "a mover becomes active by a command, and by nothing else", _rises)
ACTIVE_ENDS = Agreement(
    "active_ends",
    "a command ends only while one is under way",
    lambda _bench, status: ~status.done | status.active,
)
ACTIVE_FAILS = Agreement(
    "active_fails",
    "an error comes only while a command is under way",
    lambda _bench, status, error: ~error | status.active,
)

ONE_WRITE = Agreement(
    "one_write",
    "at most one register of a channel is written in a cycle",
    lambda _bench, strobes: (
        Cat((strobe & other for i, strobe in enumerate(strobes) for other in strobes[:i])).any() == 0
    ),
)
DESCRIPTORS = Agreement(
    "descriptors",
    "descriptors are read at multiples of 64, and words of them are written",
    lambda _bench, requests: (requests.read_address[:6] == 0) & (requests.write_address[:2] == 0),
)
DRAINED_STAYS = Agreement(
    "drained_stays",
    "a drained channel stays drained while stop is high",
    lambda bench, stop, drained: ~bench.register(stop & drained & ~bench.reset) | ~stop | drained,
)

STOP_STAYS = Agreement(
    "stop_stays",
    "stop stays until the reset that it is for",
    lambda bench, stop, clear: ~bench.register(stop & ~clear & ~bench.reset) | stop,
)
CLEAR_DRAINED = Agreement(
    "clear_drained",
    "that reset comes when nothing is under way",
    lambda _bench, stop, clear, drained: ~clear | (stop & drained),
)


def stops(bench: Bench, stop: Value, drained: Value, clear: Value, kept_by: str) -> None:
    """A soft reset: `stop`, and when all that was begun has ended, `clear`."""
    STOP_STAYS.assume(bench, kept_by, stop, clear)
    CLEAR_DRAINED.assume(bench, kept_by, stop, clear, drained)
