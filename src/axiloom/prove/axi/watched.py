"""A port's rules in a bench: those that the module must keep are checked, those of the other side assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Value

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
) -> Watch:
    """Add the rules of the port `name` with these `signals`; the module is on its `side`.

    `neighbour` names who proves the rules of the other side: ``target.port`` of ours, or it is outside.
    `reset` is high while the port is in reset, if that is not only when the bench is.
    `without` names rules that are left out: their reason stands beside the call. Raises ValueError for a name
    that is no rule of the port.
    """
    protocol = protocols.of(signals)
    assert protocol is not None, f"{name} is no AXI port"
    bits = max((len(signals[f"{c}id"]) for c in ("aw", "b", "ar", "r") if f"{c}id" in signals), default=0)
    followed = bench.constant(bits, f"{name}_followed") if bits else None
    resets = bench.reset if reset is None else reset
    seen = Watch(bench.m, signals, resets, name=name, outstanding=outstanding, followed=followed)
    protocol.watch(seen)
    left_out = set(without)
    if unknown := left_out - {one.rule.name for one in seen.rules}:
        raise ValueError(f"port {name}: {', '.join(sorted(unknown))} is no rule of {protocol.name}")
    for one in seen.rules:
        rule = one.rule
        if rule.name in left_out:
            continue
        if rule.by is side:
            bench.check(name, rule.name, one.holds, rule.text, rule.source)
        else:
            bench.assume(one.holds, name=rule.name, kept_by=neighbour)
    for cover in seen.covers:
        bench.cover(name, cover.name, cover.seen, cover.text, needed=cover.needed)
    return seen
