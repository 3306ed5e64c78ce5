"""A port's rules in a bench: those that the module must keep are checked, those of the other side assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Const, Mux, Signal, Value

from axiloom.hw.axi.rules import protocols
from axiloom.hw.axi.rules.language import Side, Watch
from axiloom.prove.bench import OUTSIDE, Bench

OUTSTANDING = 16
"""Bursts under way that are looked at, on each port."""


def watch(
    bench: Bench,
    name: str,
    signals: Mapping[str, Value],
    side: Side,
    *,
    outstanding: int = OUTSTANDING,
    without: Iterable[str] = (),
    neighbour: str = OUTSIDE,
    reset: Value | None = None,
    only_id: int | None = None,
) -> Watch:
    """Add the rules of the port `name` with these `signals`; the module is on its `side`.

    `neighbour` names who proves the rules of the other side: ``target.port`` of ours, or it is outside.
    `reset` is high while the port is in reset, if that is not only when the bench is.
    `only_id` is the ID of all that the module asks for, if it has a single one.
    `without` names rules that are left out: their reason stands beside the call. Raises ValueError for a name
    that is no rule of the port.
    """
    protocol = protocols.of(signals)
    assert protocol is not None, f"{name} is no AXI port"
    bits = max((len(signals[f"{c}id"]) for c in ("aw", "b", "ar", "r") if f"{c}id" in signals), default=0)
    # What answers is proved of any ID; what a manager relies on is said of all.
    followed: Value | None = None
    if bits and side is Side.SUBORDINATE:
        followed = bench.constant(bits, f"{name}_followed")
    elif only_id is not None:
        followed = Const(only_id, bits)
    resets = bench.reset if reset is None else reset
    seen = Watch(bench.m, signals, resets, name=name, outstanding=outstanding, followed=followed)
    protocol.watch(seen)
    left_out = set(without)
    if unknown := left_out - {claim.rule.name for claim in seen.rules}:
        raise ValueError(f"port {name}: {', '.join(sorted(unknown))} is no rule of {protocol.name}")
    for claim in seen.rules:
        rule = claim.rule
        if rule.name in left_out:
            continue
        if rule.by is side:
            bench.check(name, rule.name, claim.holds, rule.text, rule.source)
        else:
            bench.assume(claim.holds, name=rule.name, kept_by=neighbour)
    for cover in seen.covers:
        bench.cover(name, cover.name, cover.seen, cover.text, needed=cover.needed)
    bench.ports.append((name, seen, side))
    return seen


ANSWERS = ("r_answered", "w_follows", "aw_follows", "b_answered")
"""Rules of :func:`answered`."""
WITHIN = 32
"""Cycles in which an answer comes, where all others are ready and silent."""


def answered(bench: Bench, within: int = WITHIN) -> None:
    """What is accepted is answered, as rules of single cycles, on all ports that are watched.

    Calm is a cycle in which no other side owes anything, and none begins anything new on a port with
    addresses. A rule is broken if something is owed for so many calm cycles in a row, and nothing moves on
    any port with addresses meanwhile.
    """
    calm: Value = Const(1, 1)
    moves: Value = Const(0, 1)
    for _, seen, side in bench.ports:
        for owed in seen.owed:
            if owed.rule.by is not side:
                calm = calm & ~owed.waits
        for begins in seen.begins if side is Side.SUBORDINATE else ():
            calm = calm & ~begins
        for works in seen.works:
            moves = moves | works
    for name, seen, side in bench.ports:
        for owed in seen.owed:
            if owed.rule.by is not side or not owed.answer:
                continue
            waited = Signal(range(within + 1), name=f"{name}_{owed.rule.name}_waited")
            waits = owed.waits & calm & ~moves
            bench.m.d.sync += waited.eq(Mux(waits & (waited != within), waited + 1, 0))
            text = f"{owed.rule.text} within {within} cycles in which the others are ready and silent"
            bench.check(name, owed.rule.name, ~waits | (waited != within), text, owed.rule.source)


def live(bench: Bench) -> None:
    """What each side owes, it does at last: the module's is proved, the others' is fair."""
    for name, seen, side in bench.ports:
        for owed in seen.owed:
            if owed.rule.by is not side:
                bench.fair(owed.waits, f"{name}.{owed.rule.name}")
                if not owed.asked and seen.has("tlast"):
                    bench.fair_if(seen.moves("t"), seen.get("tlast"), f"{name}.t_ends")
    for name, seen, side in bench.ports:
        for owed in seen.owed:
            rule = owed.rule
            if rule.by is side and owed.asked:
                bench.live(name, f"{rule.name}_live", owed.waits, f"{rule.text} at last", rule.source)
    bench.fair_cover("all other sides are fair, for some rounds")
