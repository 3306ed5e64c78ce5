"""MM2S: from memory to a stream, plain and strided."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Signal, Value
from amaranth.utils import exact_log2

from axiloom.hw.axi.rules.language import Side
from axiloom.hw.dma.mm2s import FIFO_DEPTH, MAX_BURSTS, PAGE_BYTES, Mm2s
from axiloom.hw.dma.sg_fetch import LENGTH_BITS
from axiloom.prove.axi.ours import agreements
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench
from axiloom.prove.inside import Inside

BURST = 16


def _plain(bench: Bench, width: int, most: int) -> None:
    mm2s = Mm2s(width, burst=BURST)
    inside = Inside(mm2s)
    clear = bench.free(1, "clear")
    mover = bench.component("mover", mm2s, clear)
    command, status = mover.command, mover.status
    keeper = "mm2s_registers.command"
    agreements.ALIGNED.assume(bench, keeper, command, width // 8)
    agreements.SOME.assume(bench, keeper, command, 1)
    agreements.ONE.assume(bench, keeper, command, status)
    error = status.slave_error | status.decode_error
    failed = agreements.failed(bench, error, clear)
    agreements.AFTER_ERROR.assume(bench, keeper, command, failed)
    _stream(bench, mover, clear, "dma.stop")
    _memory(bench, mover, inside, width, most)
    bench.lemma("failed", inside["failed"] == failed, "the mover knows of an error")
    _marks(bench, mover, inside)
    agreements.RISES.check(bench, "command", command, status)
    agreements.ACTIVE_ENDS.check(bench, "command", status)
    agreements.ACTIVE_FAILS.check(bench, "command", status, error)


def _strided(bench: Bench, width: int, most: int) -> None:
    mm2s = Mm2s(width, LENGTH_BITS, burst=BURST, strided=True)
    inside = Inside(mm2s)
    clear = bench.free(1, "clear")
    mover = bench.component("mover", mm2s, clear)
    keeper = "mm2s_descriptors.command"
    agreements.ALIGNED.assume(bench, keeper, mover.command, width // 8)
    agreements.ROWS_ALIGNED.assume(bench, keeper, mover.command, width // 8)
    agreements.SOME.assume(bench, keeper, mover.command, 1)
    agreements.READY.assume(bench, keeper, mover.command)
    _stream(bench, mover, clear, "dma_sg.stop")
    _memory(bench, mover, inside, width, most)


def _stream(bench: Bench, mover: Any, clear: Signal, keeper: str) -> None:
    """The stream's other side is in reset while `stop` is high."""
    agreements.stops(bench, mover.stop, mover.drained, clear, keeper)
    watch(bench, "stream", signals(mover.stream), Side.MANAGER, reset=bench.reset | mover.stop)
    agreements.DRAINED_STAYS.check(bench, "stop", mover.stop, mover.drained)


def _memory(bench: Bench, mover: Any, inside: Inside, width: int, most: int) -> None:
    memory = "read_arbiter.master0"
    bus = watch(bench, "bus", signals(mover.bus), Side.MANAGER, outstanding=most, neighbour=memory)
    level = inside["bursts.level"]
    if most >= MAX_BURSTS:
        known = (bus.seen["reads_level"] + mover.bus.arvalid == level) & (level <= MAX_BURSTS)
        bench.lemma("bursts", known, "the mover counts as many reads as are under way")
    words = inside["ends.inner_level"]
    bench.lemma(
        "pointers",
        ((inside["bursts.produce"] - inside["bursts.consume"])[:4] == level[:4])
        & ((inside["ends.produce"] - inside["ends.consume"])[:7] == words[:7])
        & (words <= FIFO_DEPTH - 1)
        & (inside["fifo.inner_level"] == words)
        & (inside["fifo.r_rdy"] == inside["ends.r_rdy"]),
        "a FIFO's level is between its pointers, and words and marks come together",
    )
    shift = exact_log2(width // 8)
    first = shift + exact_log2(BURST)
    beats, address, rest = inside["beats"], inside["address"], inside["to_request"]
    planned, ends_row = inside["planned"], inside["ends_row"]
    bench.lemma("beats", beats <= BURST, "a burst has at most 16 beats")
    bench.lemma("aligned", (address & ((1 << shift) - 1)) == 0, "the next address is aligned")
    part = (beats != 0) & (beats <= rest) & (ends_row == (beats == rest))
    bench.lemma("part", ~planned | part, "a planned burst is a part of the row that is left, or ends it")
    fits = ~address[first : exact_log2(PAGE_BYTES)].all() | (address[shift:first] + beats <= BURST)
    bench.lemma("fits", ~planned | fits, "a planned burst ends at 4 KiB or before")


def _marks(bench: Bench, mover: Any, inside: Inside) -> None:
    """A command's last word carries a mark, from its last burst on."""
    active, failed = mover.status.active, inside["failed"]
    asks = inside["planned"] | (inside["to_request"] != 0)
    level, consume = inside["bursts.level"], inside["bursts.consume"]
    words, first = inside["ends.inner_level"], inside["ends.consume"]
    behind = active & ~asks
    alone = behind & (level == 0) & ~failed

    def burst(number: Value) -> Value:
        age = (number - consume)[:4]
        marked = inside.row("bursts.storage", number)[0] & (age < level)
        return ~marked | ((age + 1 == level) & behind)

    def word(number: Value) -> Value:
        age = (number - first)[:7]
        marked = inside.row("ends.storage", number)[0] & (age < words)
        return ~marked | ((age + 1 == words) & alone)

    marked = inside["ends.r_rdy"] & inside["ends.r_data"][0]
    text = "a mark is on the newest, while a command is under way, and all is requested"
    bench.lemma_of_any("marked_bursts", 4, burst, text, [consume])
    bench.lemma("marked_word", ~marked | ((words == 0) & alone), text)
    bench.lemma_of_any("marked_words", 7, word, text, [first])
    drained = (level == 0) & ~mover.bus.arvalid
    bench.lemma("idle", active | (drained & (failed | ~asks)), "no command under way: nothing is planned")


TARGETS = {
    "mm2s": Target("memory to a stream, one transfer at a time", _plain, streams=True),
    "mm2s_strided": Target("memory to a stream, rows, one command behind the other", _strided, streams=True),
}
