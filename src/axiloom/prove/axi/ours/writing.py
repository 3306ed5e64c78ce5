"""S2MM: from a stream to memory, plain and strided.

WLAST comes from marks that lie beside the words in a FIFO; lengths travel with the addresses, in a FIFO of
their own, and then in the queue of the port's rules. `Bursts` keeps beside them, of each burst whose last
word was not sent, its length and the number of its last word: the lemmas say that all three agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.utils import exact_log2

from axiloom.hw.axi.rules.language import Side, Watch
from axiloom.hw.dma.mm2s import BURST_INCR, PAGE_BYTES
from axiloom.hw.dma.s2mm import COMMAND_DEPTH, FIFO_DEPTH, MAX_OUTSTANDING, S2mm
from axiloom.hw.dma.sg_fetch import LENGTH_BITS
from axiloom.prove.axi.ours import agreements
from axiloom.prove.axi.ours.target import Target, entry, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import AT_ONCE, NEVER, Bench, Rank
from axiloom.prove.inside import Inside

BURST = 16
WORDS = FIFO_DEPTH - 1
COMMANDS = COMMAND_DEPTH - 1
"""Rows of the FIFOs' memories; one more is in their output register."""
NUMBER = WORDS.bit_length()
"""Bits of a word's number, of which twice as many must differ as there are words in the FIFO."""
RING = MAX_OUTSTANDING.bit_length()
"""Bits of a burst's number."""


class Bursts:
    """Of each burst whose words are all there, and whose last was not sent: its length and its last word.

    In a ring, so that nothing moves: a burst has a number, and so has a word; each begins again at 0.

    Members
    -------
    level, first, next : how many bursts there are, the number of the oldest, and of the one collected
    lengths : by a burst's number; less one, as in AWLEN
    ends : by a burst's number, the number of its last word
    written, sent : how many words came and went
    owners, shown : by the row of a word in its FIFO, the number of its burst; and of the word that is shown
    """

    def __init__(self, bench: Bench, bus: Any, inside: Inside, resets: Value) -> None:
        ring = 1 << RING
        self.first, self.next = (Signal(RING, name=f"bursts_{end}") for end in ("first", "next"))
        self.level = (self.next - self.first)[:RING]
        self.lengths = [Signal(8, name=f"bursts_length{i}") for i in range(ring)]
        self.ends = [Signal(NUMBER, name=f"bursts_end{i}") for i in range(ring)]
        self.written, self.sent = (
            Signal(NUMBER, name=f"bursts_{counter}") for counter in ("written", "sent")
        )
        self.owners = [Signal(RING, name=f"bursts_owner{i}") for i in range(WORDS)]
        self.shown = Signal(RING, name="bursts_shown")
        accept, moves = inside["accept"], bus.wvalid & bus.wready
        m, ends = bench.m, inside["burst_ends"]
        for i in range(ring):
            with m.If(accept & ends & (self.next == i)):
                m.d.sync += [self.lengths[i].eq(inside["beat"]), self.ends[i].eq(self.written)]
        for i, owner in enumerate(self.owners):
            with m.If(accept & (inside["fifo.produce"] == i)):
                m.d.sync += owner.eq(self.next)
        with m.If((inside["fifo.inner_level"] != 0) & (~inside["fifo.r_rdy"] | inside["fifo.r_en"])):
            m.d.sync += self.shown.eq(entry(self.owners, inside["fifo.consume"]))
        m.d.sync += [
            self.next.eq(Mux(resets, 0, self.next + (accept & ends))),
            self.first.eq(Mux(resets, 0, self.first + (moves & bus.wlast))),
            self.written.eq(Mux(resets, 0, self.written + accept)),
            self.sent.eq(Mux(resets, 0, self.sent + moves)),
        ]

    def length(self, i: Value | int) -> Value:
        """Of the burst behind `i` others."""
        return entry(self.lengths, (self.first + i)[:RING])

    def held(self, number: Value) -> Value:
        """Is there a burst of this number?"""
        return (number - self.first)[:RING] < self.level

    def left(self, number: Value) -> Value:
        """Words to be sent before the last one of that burst."""
        return (entry(self.ends, number) - self.sent)[:NUMBER]


def _plain(bench: Bench, width: int, most: int) -> None:
    s2mm = S2mm(width, burst=BURST)
    inside = Inside(s2mm)
    clear = bench.free(1, "clear")
    mover = bench.component("mover", s2mm, clear)
    command, status = mover.command, mover.status
    keeper = "s2mm_registers.command"
    agreements.ALIGNED.assume(bench, keeper, command, width // 8)
    agreements.SOME.assume(bench, keeper, command, width // 8)
    agreements.ONE.assume(bench, keeper, command, status)
    error = status.slave_error | status.decode_error | mover.overflow
    failed = agreements.failed(bench, error, clear)
    agreements.AFTER_ERROR.assume(bench, keeper, command, failed)
    _fair(bench, mover, ~status.active & ~command.start)
    bus = _ports(bench, mover, clear, most, "dma.stop")
    collecting = inside["collecting"]
    bench.lemma(
        "idle",
        status.active | (~collecting & (inside["pending"] == 0)),
        "no command under way: nothing is collected, and no answer is awaited",
    )
    bench.lemma(
        "whole", collecting | failed | (inside["beat"] == 0), "a burst is left unfinished only in an error"
    )
    _collected(bench, inside, width, None)
    _sent(bench, mover, inside, bus, clear, width)
    bench.lemma("failed", inside["failed"] == failed, "the mover knows of an error")
    active, empty = status.active, inside["pending"] == 0
    phase = Mux(inside["failed"], Mux(active, 2, 1), Mux(collecting, 3, Mux(active, 5, 4)))
    _at_last(bench, inside, bus, phase, [("command", ~active), (AT_ONCE, ~collecting & empty)])
    agreements.RISES.check(bench, "command", command, status)
    agreements.ACTIVE_ENDS.check(bench, "command", status)
    agreements.ACTIVE_FAILS.check(bench, "command", status, error)


def _strided(bench: Bench, width: int, most: int) -> None:
    s2mm = S2mm(width, LENGTH_BITS, burst=BURST, strided=True)
    inside = Inside(s2mm)
    clear = bench.free(1, "clear")
    mover = bench.component("mover", s2mm, clear)
    keeper = "s2mm_descriptors.command"
    agreements.ALIGNED.assume(bench, keeper, mover.command, width // 8)
    agreements.ROWS_ALIGNED.assume(bench, keeper, mover.command, width // 8)
    agreements.SOME.assume(bench, keeper, mover.command, width // 8)
    agreements.READY.assume(bench, keeper, mover.command)
    _fair(bench, mover, (mover.command.ready | inside["failed"]) & ~mover.command.start)
    bus = _ports(bench, mover, clear, most, "dma_sg.stop")
    whole = inside["collecting"] | inside["failed"] | (inside["beat"] == 0)
    bench.lemma("whole", whole, "a burst is left unfinished only in an error")
    _collected(bench, inside, width, inside["rows_left"])
    _sent(bench, mover, inside, bus, clear, width)
    phase = Mux(inside["failed"], 1, Mux(inside["collecting"], 3, 4))
    _at_last(bench, inside, bus, phase, [("command", ~inside["collecting"] | inside["failed"])])


def _at_last(
    bench: Bench, inside: Inside, bus: Watch, phase: Value, first: Sequence[tuple[str, Value]]
) -> None:
    """While a word waits, none comes, so that what is collected leaves; `first` is what it waits for before.

    `phase` falls from one command to the next, or to an error.
    """
    shown = inside["commands.r_rdy"]
    commands = (inside["commands.inner_level"] + shown)[:3]
    words = (inside["fifo.inner_level"] + inside["fifo.r_rdy"])[:7]
    hidden, no_data = (commands != 0) & ~shown, bus.waits("w_follows")
    falls = [
        *first,
        (AT_ONCE, hidden | no_data),
        ("bus.aw_taken", shown),
        ("bus.w_taken", bus.seen["aw_level"] != 0),
        ("bus.b_answered", Const(1, 1)),
    ]
    value = Cat(no_data, hidden, words, commands, inside["pending"], phase)
    bench.rank("stream", "t_taken_live", Rank(value, falls))
    bench.rank("bus", "w_follows_live", Rank(Const(0, 1), [(AT_ONCE, Const(1, 1))]))
    bench.rank("bus", "aw_follows_live", NEVER)


def _fair(bench: Bench, mover: Any, idle: Value) -> None:
    """At last there is a command, also after an error, which a reset ends; and a stop ends, too."""
    bench.fair(idle, "command")
    bench.fair(mover.stop, "stop")


def _ports(bench: Bench, mover: Any, clear: Signal, most: int, keeper: str) -> Watch:
    agreements.stops(bench, mover.stop, mover.drained, clear, keeper)
    agreements.DRAINED_STAYS.check(bench, "stop", mover.stop, mover.drained)
    watch(bench, "stream", signals(mover.stream), Side.SUBORDINATE, reset=bench.reset | mover.stop)
    memory = "write_arbiter.master0"
    return watch(bench, "bus", signals(mover.bus), Side.MANAGER, outstanding=most, neighbour=memory)


def _collected(bench: Bench, inside: Inside, width: int, rows_left: Value | None) -> None:
    """Where the burst that is collected lies."""
    shift, page = exact_log2(width // 8), exact_log2(PAGE_BYTES)
    address, begin, beat = inside["address"], inside["burst_address"], inside["beat"]
    words = address[shift:page]
    aligned = address[:shift] == 0
    if rows_left is not None:
        more = rows_left == 0
        aligned &= more | ((inside["next_row"][:shift] == 0) & (inside["stride"][:shift] == 0))
    bench.lemma("aligned", ~inside["collecting"] | aligned, "the next word's address is aligned")
    bench.lemma(
        "page", ~inside["collecting"] | (inside["page_ends"] == words.all()), "the end of 4 KiB is seen ahead"
    )
    bench.lemma(
        "burst",
        ~inside["collecting"] | (beat == 0) | ((begin[:shift] == 0) & (begin[shift:page] + beat == words)),
        "the words of a burst follow its address, in the same 4 KiB",
    )


def _sent(bench: Bench, mover: Any, inside: Inside, bus: Watch, clear: Signal, width: int) -> None:
    """What is collected, on its way to memory."""
    bursts = Bursts(bench, mover.bus, inside, bench.reset | clear)
    _queues(bench, inside, bus, bursts)
    _addresses(bench, inside, bus, bursts, width)
    _words(bench, inside, bus, bursts)


def _queues(bench: Bench, inside: Inside, bus: Watch, bursts: Bursts) -> None:
    """How many bursts and words are where."""
    pending, waiting, done = inside["pending"], bus.seen["aw_level"], bus.seen["done"]
    commands = inside["commands.inner_level"] + inside["commands.r_rdy"]
    words = inside["fifo.inner_level"] + inside["fifo.r_rdy"]
    rows = {"fifo": WORDS, "ends": WORDS, "commands": COMMANDS}
    for name, depth in rows.items():
        level, there = inside[f"{name}.inner_level"], inside[f"{name}.r_rdy"]
        produce, consume = inside[f"{name}.produce"], inside[f"{name}.consume"]
        bench.lemma(
            f"{name}_level",
            (level <= depth) & (there | (level <= 1)) & ((consume + level)[: len(produce)] == produce),
            "a FIFO's level is between its pointers",
        )
    beside = [
        inside[f"fifo.{signal}"] == inside[f"ends.{signal}"] for signal in ("inner_level", "r_rdy", "produce")
    ]
    bench.lemma("marks", Cat(beside).all(), "each word has its mark beside it")
    full = (
        (inside["words_full"] == (words == FIFO_DEPTH))
        & (inside["commands_full"] == (commands == COMMAND_DEPTH))
        & (inside["pending_full"] == (pending == MAX_OUTSTANDING))
    )
    bench.lemma("full", full, "what is full is known")
    bench.lemma(
        "pending",
        (pending <= MAX_OUTSTANDING) & (pending == waiting + done + commands),
        "an answer is awaited of each burst, on the bus or before it",
    )
    waits, early = inside["address_waits"], bus.seen["w_level"]
    bench.lemma(
        "waits",
        ~waits | inside["commands.r_rdy"],
        "an address that was not accepted is still there",
    )
    bench.lemma(
        "unsent",
        (inside["unsent"] == waiting - early)
        & ((early == 0) | (waits & (waiting == 0) & (early == 1)))
        & (bursts.level + early == waiting + commands),
        "data follows its address, or is sent while that waits",
    )
    bench.lemma(
        "numbers",
        ((bursts.written - bursts.sent)[:NUMBER] == words)
        & ((bursts.sent + inside["fifo.r_rdy"])[: NUMBER - 1] == inside["fifo.consume"]),
        "words are counted as they come and go",
    )


def _addresses(bench: Bench, inside: Inside, bus: Watch, bursts: Bursts, width: int) -> None:
    """Addresses and lengths, from the FIFO to the port."""
    shift, page = exact_log2(width // 8), exact_log2(PAGE_BYTES)

    def good(entry: Value) -> Value:
        end = entry[shift:page] + entry[32:40]
        return (entry[:shift] == 0) & (end < PAGE_BYTES >> shift) & (entry[32:40] < BURST)

    rows = [inside.row("commands.storage", i) for i in range(COMMANDS)]
    there, level, consume = (inside[f"commands.{signal}"] for signal in ("r_rdy", "inner_level", "consume"))
    out, waiting = inside["commands.r_data"], bus.seen["aw_level"]
    bench.lemma("commands", Cat(map(good, rows)).all(), "an address fits its length into 4 KiB")
    bench.lemma("command", ~there | good(out), "so does the one that is shown")
    # The address that is shown may be of a burst that is sent.
    early = bus.seen["w_level"][0]
    same = [~there | (Mux(early, bus.queues["w"][0], bursts.length(waiting)) == out[32:40])]
    for i in range(COMMANDS):
        row = entry(rows, (consume + i)[: len(consume)])
        same.append((level <= i) | (bursts.length(waiting + there - early + i) == row[32:40]))
    bench.lemma("lengths", Cat(same).all(), "lengths wait in their order")
    asked = []
    for i, place in enumerate(bus.queues["aw"][:MAX_OUTSTANDING]):
        begins = place[9:]  # the address's lowest bits, length, size and kind
        of_begin = (begins[:shift] == 0) & (begins[shift + 8 : shift + 16] == place[:8])
        of_begin &= (begins[shift + 16 : shift + 19] == shift) & (begins[shift + 19 :] == BURST_INCR)
        asked.append((waiting <= i) | ((place[:8] == bursts.length(i)) & of_begin & place[8]))
    bench.lemma("asked", Cat(asked).all(), "and so they do on the port")


def _words(bench: Bench, inside: Inside, bus: Watch, bursts: Bursts) -> None:
    """Marks and the words that they end."""
    beat, some = bus.seen["w_beat"], bursts.level != 0
    waits, there, consume = (inside[f"fifo.{signal}"] for signal in ("inner_level", "r_rdy", "consume"))
    words, mark = waits + there, inside["ends.r_data"][0]
    first, newest = bursts.first, (bursts.next - 1)[:RING]
    begun = (bus.seen["aw_level"] != 0) | (inside["address_waits"] & (bus.seen["w_level"] == 0))
    within = Mux(begun, beat <= bursts.length(0), beat == 0)
    bench.lemma("w_beat", within, "a beat is in its burst")
    ends = ~some | (bursts.left(first) == bursts.length(0) - beat)
    bench.lemma("oldest", ends, "the oldest burst ends where its length says")
    rest = words == Mux(some, (bursts.left(newest) + 1)[:NUMBER], 0) + inside["beat"]
    bench.lemma("rest", rest, "behind the last burst are the words of the next")
    base = (bursts.sent + there)[:NUMBER]

    def word(row: Value) -> Value:
        """A word in the FIFO's memory: its burst, and its mark."""
        age, marked = (row - consume)[: NUMBER - 1], inside.row("ends.storage", row)[0]
        number = Cat(row, base[NUMBER - 1] ^ (row < base[: NUMBER - 1]))
        owner = entry(bursts.owners, row)
        behind = Mux(age == waits - 1, bursts.next, entry(bursts.owners, (row + 1)[: NUMBER - 1]))
        follows = behind == (owner + marked)[:RING]
        known = (owner - first)[:RING] <= bursts.level
        known &= (owner == bursts.next) | ((number - bursts.sent)[:NUMBER] <= bursts.left(owner))
        ends = (owner != bursts.next) & (entry(bursts.ends, owner) == number)
        return (age >= waits) | (follows & known & (~marked | ends))

    text = "a marked word is the last of its burst, and the one behind it is of the next"
    bench.lemma_of_any("word", NUMBER - 1, word, text, [consume])
    behind = Mux(waits == 0, bursts.next, entry(bursts.owners, consume))
    shown = (bursts.shown == first) & (behind == (bursts.shown + mark)[:RING])
    shown &= ~mark | (some & (entry(bursts.ends, bursts.shown) == bursts.sent))
    shown = Mux(there, shown, behind == first)
    bench.lemma("shown", shown, "so is the word that is shown, which is of the oldest burst")

    def burst(number: Value) -> Value:
        """Where its last word is, and how long it is."""
        end, left, length = entry(bursts.ends, number), bursts.left(number), entry(bursts.lengths, number)
        before = entry(bursts.ends, (number - 1)[:RING])
        row = end[: NUMBER - 1]
        in_row = inside.row("ends.storage", row)[0] & (entry(bursts.owners, row) == number)
        last = Mux(there & (left == 0), mark & (bursts.shown == number), in_row)
        chain = (number == first) | ((end - before)[:NUMBER] == length + 1)
        return ~bursts.held(number) | ((length < BURST) & (left < words) & chain & last)

    text = "a burst's last word is marked and in the FIFO, its length behind the last of the one before"
    bench.lemma_of_any("burst_end", RING, burst, text, [first, (first + 1)[:RING], newest])


TARGETS = {
    "s2mm": Target("a stream to memory, one packet at a time", _plain, streams=True),
    "s2mm_strided": Target("a stream to memory, rows, one command behind the other", _strided, streams=True),
}
