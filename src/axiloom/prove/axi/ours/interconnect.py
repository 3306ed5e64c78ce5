"""Several DMAs on one port to memory.

The arbiters keep whose burst each is, in queues; the rules of a port know the lengths that were asked for,
in queues of their own. The lemmas say that these agree: each burst of the arbiter's queue is one of its
master's, at a place that `Owners` keeps beside it. Answers to writes have no length:
`Written` counts.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.utils import exact_log2

from axiloom.hw.axi.interconnect import MAX_BURSTS, ReadArbiter, WriteArbiter
from axiloom.hw.axi.rules.language import Side, Watch
from axiloom.prove.axi.ours import turns
from axiloom.prove.axi.ours.target import Target, entry, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench
from axiloom.prove.inside import Inside

MASTERS = 2


class Owners:
    """Beside a queue of owners in an arbiter: of each burst its owner, and its place among that owner's.

    `counts` are how many bursts each master has. A shift register, so that the oldest is the first. A place
    moves on when the owner's oldest leaves.
    """

    def __init__(self, bench: Bench, inside: Inside, name: str, counts: list[Value], bits: int) -> None:
        self.bench, self.name = bench, name
        self.level = inside[f"{name}.level"]
        fifo = {
            signal: inside[f"{name}.{signal}"]
            for signal in ("w_en", "w_rdy", "w_data", "r_en", "r_rdy", "r_data")
        }
        pushes, pops = fifo["w_en"] & fifo["w_rdy"], fifo["r_en"] & fifo["r_rdy"]
        owner_bits = len(fifo["w_data"])
        self.owners = [Signal(owner_bits, name=f"{name}_owner{i}") for i in range(MAX_BURSTS)]
        self.places = [Signal(bits, name=f"{name}_place{i}") for i in range(MAX_BURSTS)]
        m, first = bench.m, self.owners[0]
        moved = [
            Mux(pops & (first == owner), place - 1, place)
            for owner, place in zip(self.owners, self.places, strict=True)
        ]
        joins = entry(counts, fifo["w_data"]) - (pops & (first == fifo["w_data"]))
        at = Mux(pops, self.level - 1, self.level)
        for i in range(MAX_BURSTS):
            behind = min(i + 1, MAX_BURSTS - 1)
            with m.If(pushes & (at == i)):
                m.d.sync += [self.owners[i].eq(fifo["w_data"]), self.places[i].eq(joins)]
            with m.Elif(pops):
                m.d.sync += [self.owners[i].eq(self.owners[behind]), self.places[i].eq(moved[behind])]
        self._inside = inside
        self._counts = counts

    def held(self, i: int) -> Value:
        """Is there a burst `i`?"""
        return self.level > i

    def lemmas(self) -> None:
        """What the queue is, and that places rise from burst to burst of an owner, below how many it has."""
        consume = self._inside[f"{self.name}.consume"]
        rows = [self._inside.row(f"{self.name}.storage", i) for i in range(MAX_BURSTS)]
        say = self.bench.lemma
        _level(self.bench, self._inside, self.name)
        same = [
            ~self.held(i) | (entry(rows, (consume + i)[: len(consume)]) == owner)
            for i, owner in enumerate(self.owners)
        ]
        say(f"{self.name}_owners", Cat(same).all(), "a queue's memory holds what was put in, in its order")
        for i, (owner, place) in enumerate(zip(self.owners, self.places, strict=True)):
            below = Mux(owner == 0, place < self._counts[0], place < self._counts[1])
            rises = [(owner != self.owners[j]) | (self.places[j] < place) for j in range(i)]
            say(
                f"{self.name}_place{i}",
                ~self.held(i) | (below & Cat(rises).all()),
                "a burst has a place among its master's, behind those before it",
            )
        first = [(self.level == 0) | (self.owners[0] != i) | (self.places[0] == 0) for i in range(MASTERS)]
        say(f"{self.name}_first", Cat(first).all(), "the oldest of all is its master's oldest")

    def entry(self, i: int, queues: list[list[Value]]) -> Value:
        """Burst `i` in its master's queue."""
        owned = [entry(queue, self.places[i]) for queue in queues]
        return entry(owned, self.owners[i])


def _level(bench: Bench, inside: Inside, name: str) -> None:
    level, consume, produce = (inside[f"{name}.{signal}"] for signal in ("level", "consume", "produce"))
    between = (level <= MAX_BURSTS) & ((consume + level)[: len(produce)] == produce)
    bench.lemma(f"{name}_level", between, "a queue's level is between its pointers")


class Written:
    """Bursts of the write arbiter whose data is sent, and whose answer has not come.

    What is to be sent and what is to be answered are pushed together, so both queues have the same rows;
    nothing moves. Kept beside them: how many bursts of each master were sent, and by row, how many were when
    that row's turn came. Numbers begin again at 0, at twice as many as there are rows.
    """

    def __init__(self, bench: Bench, inside: Inside, sending: Owners) -> None:
        self._bench, self._inside, self._sending = bench, inside, sending
        self.awaiting = inside["awaiting.level"]
        bits = MAX_BURSTS.bit_length()
        self.sent = [Signal(bits, name=f"sent{i}") for i in range(MASTERS)]
        self.before = [
            [Signal(bits, name=f"sent{i}_before{row}") for i in range(MASTERS)] for row in range(MAX_BURSTS)
        ]
        m = bench.m
        sends = inside["sending.r_en"] & inside["sending.r_rdy"]
        for i, sent in enumerate(self.sent):
            of_it = sends & (inside["sending.r_data"] == i)
            m.d.sync += sent.eq(Mux(bench.reset, 0, sent + of_it))
            for row, before in enumerate(self.before):
                with m.If(sends & (inside["sending.consume"] == row)):
                    m.d.sync += before[i].eq(sent)

    def lemmas(self, done: list[Signal]) -> None:
        """That the oldest of them is one of its master's. `done`: how many each master has."""
        bench, inside = self._bench, self._inside
        first, bits = inside["awaiting.consume"], len(self.sent[0])
        count = (self.awaiting - self._sending.level)[:bits]
        rows = [inside.row("awaiting.storage", row) for row in range(MAX_BURSTS)]
        same = [
            row == inside.row("sending.storage", i) for i, row in enumerate(rows)
        ]  # also those that are empty
        same.append(inside["awaiting.produce"] == inside["sending.produce"])
        bench.lemma("same", Cat(same).all(), "both queues hold the same bursts")
        chain, span = [], []
        for i, (owner, before) in enumerate(zip(rows, self.before, strict=True)):
            age, behind = (i - first)[: len(first)], self.before[(i + 1) % MAX_BURSTS]
            held, left = age < count, (count - age)[:bits]
            since = [(sent - then)[:bits] for sent, then in zip(self.sent, before, strict=True)]
            for k, sent in enumerate(self.sent):
                following = Mux(age + 1 == count, sent, behind[k])
                chain.append(~held | (following == (before[k] + (owner == k))[:bits]))
                span.append(~held | ((since[k] >= (owner == k)) & (since[k] <= left)))
        bench.lemma("sent_span", Cat(span).all(), "since a burst was sent, it was, and those behind it")
        bench.lemma(
            "sent_chain", Cat(chain).all(), "from one burst to the next, its master has sent one more"
        )
        oldest = [
            (count == 0) | (entry([before[k] for before in self.before], first) == (sent - done[k])[:bits])
            for k, sent in enumerate(self.sent)
        ]
        bench.lemma(
            "sent_first", Cat(oldest).all(), "what is done began with the oldest that awaits its answer"
        )


def _read_arbiter(bench: Bench, width: int, most: int) -> None:
    arbiter = ReadArbiter(MASTERS, width)
    inside = Inside(arbiter)
    bench.component("arbiter", arbiter)
    masters, bus = _watch(bench, arbiter, most, "mm2s.bus")
    if most < MAX_BURSTS:  # a master of fewer: the lemmas speak of queues of 16
        return
    counts: list[Value] = [master.seen["reads_level"] for master in masters]
    owners = Owners(bench, inside, "owners", counts, len(counts[0]))
    owners.lemmas()
    level, waits = bus.seen["reads_level"], arbiter.bus.arvalid
    bench.lemma("all", owners.level == counts[0] + counts[1], "each burst is of one master")
    bench.lemma("under_way", owners.level == level + waits, "a burst is under way, or its address waits")
    queues = [master.queues["reads"] for master in masters]
    lengths = [
        ~owners.held(i)
        | (owners.entry(i, queues) == Mux(level == i, arbiter.bus.arlen, bus.queues["reads"][i]))
        for i in range(MAX_BURSTS)
    ]
    for i, same in enumerate(lengths):
        bench.lemma(f"length{i}", same, "a burst has the length that its master asked for")
    beats = [
        master.seen["r_beat"] == Mux((owners.level != 0) & (owners.owners[0] == i), bus.seen["r_beat"], 0)
        for i, master in enumerate(masters)
    ]
    beats.append((owners.level != 0) | (bus.seen["r_beat"] == 0))
    bench.lemma("beats", Cat(beats).all(), "the beat of the oldest burst is that of its master")
    within = Mux(level != 0, bus.seen["r_beat"] <= bus.queues["reads"][0], bus.seen["r_beat"] == 0)
    bench.lemma("within", within, "a beat is in its burst")
    turns.reads(bench, arbiter.bus, inside["last"], masters, bus, owners.owners, owners.level)


def _watch(bench: Bench, arbiter: Any, most: int, mover: str) -> tuple[list[Watch], Watch]:
    masters = []
    for name in (f"master{i}" for i in range(MASTERS)):
        port = signals(getattr(arbiter, name))
        masters.append(watch(bench, name, port, Side.SUBORDINATE, outstanding=most, neighbour=mover))
    return masters, watch(bench, "bus", signals(arbiter.bus), Side.MANAGER, outstanding=most)


def _write_arbiter(bench: Bench, width: int, most: int) -> None:
    arbiter = WriteArbiter(MASTERS, width)
    inside = Inside(arbiter)
    bench.component("arbiter", arbiter)
    masters, bus = _watch(bench, arbiter, most, "s2mm.bus")
    if most < MAX_BURSTS:  # as above
        return
    waiting: list[Value] = [master.seen["aw_level"] for master in masters]
    sending = Owners(bench, inside, "sending", waiting, len(masters[0].seen["done"]))
    written = Written(bench, inside, sending)
    followed = [
        (watched.seen["aw_level"] <= i) | place[8]  # behind the length
        for watched in (*masters, bus)
        for i, place in enumerate(watched.queues["aw"])
    ]
    bench.lemma("followed", Cat(followed).all(), "without IDs, each burst is of the one that is followed")
    sending.lemmas()
    _level(bench, inside, "awaiting")
    _counts(bench, arbiter, masters, bus, sending, written)
    written.lemmas([master.seen["done"] for master in masters])

    # What waits for data in the arbiter is what its master waits with, and on the bus, but for the address
    # that is in the arbiter's register.
    port = arbiter.bus
    level, shift = bus.seen["aw_level"], exact_log2(width // 8)
    place = Cat(port.awaddr[: shift + 8], port.awlen, port.awsize, port.awburst)
    register = Cat(port.awlen, Const(1, 1), place)
    queues = [master.queues["aw"] for master in masters]
    for i in range(MAX_BURSTS):
        on_bus = Mux(level == i, register, bus.queues["aw"][i])
        same = ~sending.held(i) | (sending.entry(i, queues) == on_bus)
        bench.lemma(f"burst{i}", same, "a burst is on the bus as its master asked for it")
    beat, here = bus.seen["w_beat"], sending.level != 0
    oldest = Mux(level == 0, port.awlen, bus.queues["aw"][0][:8])
    beats = [
        master.seen["w_beat"] == Mux(here & (sending.owners[0] == i), beat, 0)
        for i, master in enumerate(masters)
    ]
    beats.append(Mux(here, beat <= oldest, beat == 0))
    beats.append((bus.seen["w_level"] == 0) | (bus.queues["w"][0] == port.awlen))
    bench.lemma(
        "beats", Cat(beats).all(), "the beat of the oldest burst is that of its master, within its length"
    )
    rows = [inside.row("awaiting.storage", i) for i in range(MAX_BURSTS)]
    first = inside["awaiting.consume"]
    answered = [entry(rows, (first + i)[: len(first)]) for i in range(MAX_BURSTS)]
    queues_of = (sending.owners, sending.level), (answered, written.awaiting)
    turns.writes(bench, port, inside["last"], masters, bus, *queues_of)


def _counts(
    bench: Bench, arbiter: Any, masters: list[Watch], bus: Watch, sending: Owners, written: Written
) -> None:
    """How many bursts are where."""
    waiting, done = ([master.seen[name] for master in masters] for name in ("aw_level", "done"))
    early, valid = bus.seen["w_level"], arbiter.bus.awvalid
    bench.lemma("sending", sending.level == waiting[0] + waiting[1], "data is awaited for masters' bursts")
    bench.lemma(
        "none_early", Cat(master.seen["w_level"] for master in masters) == 0, "no data is taken early"
    )
    ahead = valid & (sending.level == 0)
    bench.lemma(
        "under_way",
        (early == ahead) & (sending.level + early == bus.seen["aw_level"] + valid),
        "a burst whose data waits is on the bus, or its address is in the register",
    )
    total = written.awaiting == bus.seen["done"] + sending.level + early
    bench.lemma("awaiting", total, "an answer is awaited for each burst")
    ours = written.awaiting == sending.level + done[0] + done[1]
    bench.lemma("masters", ours, "and each is of one master")


TARGETS = {
    "read_arbiter": Target("several DMAs' reads on one port to memory", _read_arbiter, streams=True),
    "write_arbiter": Target("several DMAs' writes on one port to memory", _write_arbiter, streams=True),
}
