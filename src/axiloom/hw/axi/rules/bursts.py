"""Bursts of AXI4 and single transfers of AXI4-Lite: addresses, data and answers that belong together.

Identifiers: answers of one ID come in the order of its requests. To prove a subordinate, the watch follows
one ID that is any one, a constant that the prover chooses, so that what is proved holds for each. What a
manager may rely on is said of all IDs at once. A port without IDs has one.
"""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.utils import exact_log2

from axiloom.hw.axi.rules.handshake import taken
from axiloom.hw.axi.rules.language import Rule, Side, Watch

AXI4 = "IHI 0022"
PAGE_BITS = 12
"""No burst crosses a boundary of 4 KiB."""
FIXED, INCR, WRAP = 0, 1, 2
MOST_NOT_INCR = 16
"""Beats of a burst that is not INCR."""
EXOKAY = 0b01


def addresses(watch: Watch, channel: str) -> None:
    """What an address may ask for, on AW or AR of AXI4."""
    name, by = channel.upper(), Side.MANAGER
    widest = exact_log2(watch.bits("wdata" if channel == "aw" else "rdata") // 8)
    valid, addr = watch.get(f"{channel}valid"), watch.get(f"{channel}addr")
    length, size, kind = _asked(watch, channel, widest)
    ones = Signal(PAGE_BITS, name=f"{watch.name}_{channel}_ones")
    end = Signal(PAGE_BITS + 9, name=f"{watch.name}_{channel}_end")
    watch.m.d.comb += [
        ones.eq((1 << size) - 1),
        end.eq((addr[:PAGE_BITS] & ~ones) + ((length + 1) << size)),
    ]
    watch.rule(
        Rule(f"{channel}_4k", by, f"a burst of {name} stays within 4 KiB", f"{AXI4} A3.4.1"),
        ~valid | (kind != INCR) | (end <= 1 << PAGE_BITS),
    )
    watch.rule(
        Rule(
            f"{channel}_size",
            by,
            f"{name}SIZE is at most the {1 << widest} bytes of the bus",
            f"{AXI4} A3.4.1",
        ),
        ~valid | (size <= widest),
    )
    power = (length == 1) | (length == 3) | (length == 7) | (length == 15)
    watch.rule(
        Rule(
            f"{channel}_length",
            by,
            f"{name}BURST is not reserved; FIXED has at most 16 beats, WRAP 2, 4, 8 or 16",
            f"{AXI4} A3.4.1",
        ),
        ~valid | (kind == INCR) | ((kind == FIXED) & (length < MOST_NOT_INCR)) | ((kind == WRAP) & power),
    )
    watch.rule(
        Rule(
            f"{channel}_wrap",
            by,
            f"a WRAP burst of {name} begins at a multiple of its beats",
            f"{AXI4} A3.4.1",
        ),
        ~valid | (kind != WRAP) | ((addr[:PAGE_BITS] & ones) == 0),
    )
    if watch.has(f"{channel}len"):
        watch.cover(f"{channel}_beats", f"a burst of {name} of 4 beats or more", valid & (length >= 3))
        whole = valid & (kind == INCR) & (end == 1 << PAGE_BITS) & (length != 0)
        watch.cover(f"{channel}_page", f"a burst of {name} of 2 beats or more that ends at 4 KiB", whole)


def _asked(watch: Watch, channel: str, widest: int) -> tuple[Value, Value, Value]:
    """Length, size and kind; what a port lacks has the value that the standard gives it (IHI 0022 A10.3)."""
    return (
        watch.get(f"{channel}len", Const(0, 8)),
        watch.get(f"{channel}size", Const(widest, 3)),
        watch.get(f"{channel}burst", Const(INCR, 2)),
    )


def reads(watch: Watch, *, bursts: bool) -> None:
    """R after AR: as many beats as it asked for, the last one marked."""
    asks, answers, depth = watch.moves("ar"), watch.moves("r"), watch.outstanding
    last = watch.get("rlast", 1) if bursts else Const(1, 1)
    length = watch.get("arlen", Const(0, 8)) if bursts else Const(0, 1)
    ours = watch.follows("r")
    valid = watch.answers("r")
    if watch.all_ids("ar", "r"):
        ids = watch.get("arid"), watch.get("rid")
        level, there, left = watch.by_id("reads", asks, length, ids, answers, last, depth)
        ends = left == 0
    else:
        level, asked = watch.queue("reads", asks & watch.follows("ar"), length, answers & last & ours, depth)
        there = (level != 0) & ours
    watch.rule(
        Rule("r_asked", Side.SUBORDINATE, "R comes only after the AR that asked for it", f"{AXI4} A3.3.1"),
        ~valid | there,
    )
    answer = Rule("r_answered", Side.SUBORDINATE, "a read that was accepted is answered", f"{AXI4} A3.3.1")
    watch.owe(answer, (level != 0) & ~valid, answer=True)
    waited = watch.before("ar_offered", watch.get("arvalid") & ~watch.get("arready"))
    watch.begins.append(watch.get("arvalid") & ~waited)
    watch.works += [asks, answers]
    # Answers to what was asked before come to an end, by their rules: it is owed when they have.
    taken(watch, "ar", Side.SUBORDINATE, watch.get("arvalid") & ~watch.get("arready") & ~answers)
    if bursts:
        beat = watch.beat("r", answers & ours, last)
        if not watch.all_ids("ar", "r"):
            ends = beat == asked
        watch.rule(
            Rule("r_last", Side.SUBORDINATE, "RLAST is at beat ARLEN, and at no other", f"{AXI4} A3.4.1"),
            ~valid | ~there | (last == ends),
        )
        watch.cover("r_last", "the last of 2 beats or more on R", answers & ours & last & (beat != 0))
    # Without IDs the queue has them all.
    out = level if watch.followed is None else watch.counter("reads_out", asks, answers & last, depth)
    watch.rule(_most("ar", depth), ~watch.get("arvalid") | (out < depth))
    if bursts:
        watch.cover("ar_two", "two reads under way", out == min(2, depth))


def writes(watch: Watch, *, bursts: bool) -> None:
    """W with its AW, in their order, the last beat marked; B after both. Data may come before its address."""
    asks, moves, depth = watch.moves("aw"), watch.moves("w"), watch.outstanding
    last = watch.get("wlast", 1) if bursts else Const(1, 1)
    length = watch.get("awlen", Const(0, 8)) if bursts else Const(0, 1)
    beat = watch.beat("w", moves, last)
    ends = moves & last

    # Either addresses wait for their data, or whole bursts of data for their addresses: never both.
    waiting = Signal(range(depth + 1), name=f"{watch.name}_waiting")
    early = Signal(range(depth + 1), name=f"{watch.name}_early")
    both = asks & ends & (waiting == 0) & (early == 0)
    begins, lanes_of = _place(watch)
    all_ids = watch.all_ids("aw", "b")
    of = watch.get("awid") if all_ids else watch.follows("aw")
    level, oldest = watch.queue(
        "aw",
        asks & (early == 0) & ~both,
        Cat(length, of, begins),
        ends & (waiting != 0),
        depth,
    )
    ahead, beats = watch.queue("w", ends & (waiting == 0) & ~both, beat, asks & (early != 0), depth)
    watch.m.d.comb += [waiting.eq(level), early.eq(ahead)]
    asked = Mux(waiting != 0, oldest[: len(length)], length)
    known = (waiting != 0) | (watch.get("awvalid") & (early == 0))
    valid = watch.get("wvalid")
    if bursts:
        late = watch.get("awvalid") & (waiting == 0)
        watch.rule(
            Rule("w_last", Side.MANAGER, "WLAST is at beat AWLEN, and at no other", f"{AXI4} A3.4.1"),
            (~valid | ~known | (last == (beat == asked)))
            & (~late | Mux(early != 0, length == beats, length >= beat)),
        )
        watch.cover("w_last", "the last of 2 beats or more on W", ends & (beat != 0))
        if watch.has("wstrb"):
            at = Mux(waiting != 0, oldest[len(length) + len(of) :], begins)
            watch.rule(
                Rule("w_strobes", Side.MANAGER, "WSTRB is low for bytes outside the beat", f"{AXI4} A3.4.3"),
                ~valid | ~known | ((watch.get("wstrb") & ~lanes_of(at, beat)) == 0),
            )
    watch.rule(
        Rule(
            "w_early", Side.MANAGER, f"at most {depth} bursts of data come before their addresses", "stated"
        ),
        ~valid | (early < depth),
    )

    of_oldest = oldest[len(length) : len(length) + len(of)]
    ends_oldest, ends_late = ends & (waiting != 0), asks & ((early != 0) | both)
    ours = watch.follows("b")
    if all_ids:
        ids = Mux(ends_oldest, of_oldest, of), watch.get("bid")
        done, there, _ = watch.by_id(
            "done", ends_oldest | ends_late, Const(0, 0), ids, watch.moves("b"), Const(1, 1), depth
        )
    else:
        ends_ours = (ends_oldest & of_oldest) | (ends_late & of)
        done = watch.counter("done", ends_ours, watch.moves("b") & ours, depth)
        there = (done != 0) & ours
    watch.rule(
        Rule("b_asked", Side.SUBORDINATE, "B comes only after its AW and its last W", f"{AXI4} A3.3.1"),
        ~watch.answers("b") | there,
    )
    _owed_writes(watch, waiting, early, beat, done)
    under_way = waiting + done  # without IDs
    out = under_way if watch.followed is None else watch.counter("writes_out", asks, watch.moves("b"), depth)
    watch.rule(_most("aw", depth), ~watch.get("awvalid") | (out < depth))
    if bursts:
        watch.cover("aw_two", "two writes under way", out == min(2, depth))


def _owed_writes(watch: Watch, waiting: Value, early: Value, beat: Value, done: Value) -> None:
    """`waiting` addresses have no data yet, `early` bursts of data no address; `done` writes no answer."""
    aw, w = watch.get("awvalid"), watch.get("wvalid")
    no_data = ((waiting != 0) | (aw & (early == 0))) & ~w
    no_address = ((early != 0) | ((waiting == 0) & ((beat != 0) | w))) & ~aw
    source = f"{AXI4} A3.3.1"
    data = Rule("w_follows", Side.MANAGER, "an address is followed by its data", source)
    address = Rule("aw_follows", Side.MANAGER, "data are followed by their address", source)
    watch.owe(data, no_data, answer=True)
    watch.owe(address, no_address, answer=True)
    # The other side may look at one before it takes the other.
    busy = watch.moves("aw") | watch.moves("w") | watch.moves("b")
    taken(watch, "aw", Side.SUBORDINATE, aw & ~watch.get("awready") & ~no_data & ~busy)
    taken(watch, "w", Side.SUBORDINATE, w & ~watch.get("wready") & ~no_address & ~busy)
    text = "a write that was accepted is answered"
    no_answer = (done != 0) & ~(watch.get("bvalid") & watch.follows("b"))
    watch.owe(Rule("b_answered", Side.SUBORDINATE, text, source), no_answer, answer=True)
    waited = watch.before("aw_offered", aw & ~watch.get("awready"))
    watch.begins.append(aw & ~waited & ~((early != 0) | (beat != 0)))
    watch.works += [watch.moves("aw"), watch.moves("w"), watch.moves("b")]


def _place(watch: Watch) -> tuple[Value, Callable[[Value, Value], Value]]:
    """Of a burst of writes: what says where its bytes are, and from that the bytes of a beat."""
    bus = watch.bits("wdata") // 8
    widest = exact_log2(bus)
    _, size, kind = _asked(watch, "aw", widest)
    length = watch.get("awlen", Const(0, 8))
    begins = Cat(watch.get("awaddr")[: widest + 8], length, size, kind)

    def lanes_of(at: Value, beat: Value) -> Value:
        addr, beats = at[: widest + 8], at[widest + 8 : widest + 16]
        bits, how = at[widest + 16 : widest + 19], at[widest + 19 : widest + 21]
        wide = (1 << bits)[: widest + 1]
        aligned = addr & ~(wide - 1)
        span = ((beats + 1) << bits) - 1  # WRAP: a power of two
        going = aligned + (beat << bits)
        wrapped = (aligned & ~span) | (going & span)
        here = (
            Mux(how == FIXED, aligned, Mux(how == WRAP, wrapped, going))[:widest] if widest else Const(0, 1)
        )
        begin = Mux((beat == 0) | (how == FIXED), addr[:widest], here) if widest else Const(0, 1)
        lanes = [(begin <= i) & (i < here + wide) for i in range(bus)]
        return Cat(lanes)

    return begins, lanes_of


def _most(channel: str, depth: int) -> Rule:
    what = "reads" if channel == "ar" else "writes"
    text = f"at most {depth} {what} are under way"
    return Rule(f"{channel}_outstanding", Side.MANAGER, text, "stated")


def responses(watch: Watch, channel: str) -> None:
    """EXOKAY answers an exclusive access only: never without LOCK."""
    asks = "ar" if channel == "r" else "aw"
    if watch.has(f"{asks}lock") or not watch.has(f"{channel}resp"):
        return
    name = channel.upper()
    watch.rule(
        Rule(f"{channel}_resp", Side.SUBORDINATE, f"{name}RESP is not EXOKAY", f"{AXI4} A3.4.4"),
        ~watch.get(f"{channel}valid") | (watch.get(f"{channel}resp") != EXOKAY),
    )
