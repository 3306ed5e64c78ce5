"""Why everybody's turn comes at an arbiter: what lies before a burst becomes less (:class:`Rank`).

Before an address lies at most one of the other master's, and where there is no place for it, bursts under
way: their beats and answers. Behind it, others may add what they like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal, Value

from axiloom.hw.axi.interconnect import MAX_BURSTS
from axiloom.hw.axi.rules.language import Watch
from axiloom.prove.bench import AT_ONCE, NEVER, Bench, Rank

Falls = list[tuple[str, Value]]


def before(owners: Sequence[Value], level: Value, master: int) -> Value:
    """How many bursts lie before the first of `master`; `owners` are those of the queue, the oldest first."""
    count: Value = Const(MAX_BURSTS, MAX_BURSTS.bit_length())
    for i, owner in reversed(list(enumerate(owners))):
        count = Mux((level > i) & (owner == master), i, count)
    return count


def _by(owner: Value, rule: str, masters: Sequence[Watch], condition: Value) -> Falls:
    """The owner does it."""
    return [(f"master{i}.{rule}", condition & (owner == i)) for i in range(len(masters))]


def reads(
    bench: Bench,
    port: Any,
    last: Signal,
    masters: Sequence[Watch],
    bus: Watch,
    owners: Sequence[Value],
    level: Value,
) -> None:
    """`owners` of `level` bursts, accepted or in the register of `port`; `last` had the last turn."""
    on_bus, left = bus.seen["reads_level"], ~bus.seen["r_beat"]
    goes_on: Falls = [
        ("bus.r_answered", ~port.rvalid),
        *_by(owners[0], "r_taken", masters, Const(1, 1)),
    ]
    bench.rank("bus", "r_taken_live", Rank(Const(0, 1), goes_on[1:]))
    for i in range(len(masters)):
        waits = on_bus == 0
        value = Cat(~port.rvalid, waits, left, before(owners, level, i))
        bench.rank(f"master{i}", "r_answered_live", Rank(value, [("bus.ar_taken", waits), *goes_on]))
        value = Cat(~port.rvalid, left, on_bus, port.arvalid, last == i)
        falls = [("bus.ar_taken", port.arvalid), (AT_ONCE, level != MAX_BURSTS), *goes_on]
        bench.rank(f"master{i}", "ar_taken_live", Rank(value, falls))


def writes(
    bench: Bench,
    port: Any,
    last: Signal,
    masters: Sequence[Watch],
    bus: Watch,
    sending: tuple[Sequence[Value], Value],
    awaiting: tuple[Sequence[Value], Value],
) -> None:
    """Of bursts whose data and whose answers are awaited, the owners, the oldest first, and how many."""
    (senders, to_send), (answered, level) = sending, awaiting
    done, left, data = bus.seen["done"], ~bus.seen["w_beat"], to_send != 0
    follows = _by(senders[0], "w_follows", masters, data & ~port.wvalid)
    takes = _by(answered[0], "b_taken", masters, Const(1, 1))
    answers: Falls = [("bus.b_answered", ~port.bvalid), *takes]
    bench.rank("bus", "b_taken_live", Rank(Const(0, 1), takes))
    bench.rank("bus", "w_follows_live", Rank(Const(0, 1), follows))
    bench.rank("bus", "aw_follows_live", NEVER)
    for i, master in enumerate(masters):
        name, unknown = f"master{i}", done == 0
        value = Cat(~port.bvalid, unknown, before(answered, level, i))
        bench.rank(name, "b_answered_live", Rank(value, [("bus.aw_taken", unknown), *answers]))
        turn = Cat(~port.bvalid, ~port.wvalid, left, port.awvalid, to_send, level, last == i)
        falls: Falls = [
            *follows,
            ("bus.aw_taken", port.awvalid),
            (AT_ONCE, level != MAX_BURSTS),
            ("bus.w_taken", data),
            *answers,
        ]
        bench.rank(name, "aw_taken_live", Rank(turn, falls))
        # Behind its data others' addresses may come, as many as there are places.
        places = (2 * (MAX_BURSTS - to_send) + port.awvalid)[:6]
        value = Cat(~port.wvalid, done, places, left, before(senders, to_send, i))
        granted = master.seen["aw_level"] != 0
        of_data = [(fair, granted & condition) for fair, condition in follows]
        of_data += [("bus.w_taken", granted)]
        bench.rank(name, "w_taken_live", Rank(Mux(granted, value, turn), [*of_data, *falls]))
