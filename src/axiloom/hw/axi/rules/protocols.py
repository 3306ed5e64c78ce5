"""The protocols: which signals make a port one, and the rules of its channels.

A new protocol is an entry of :data:`PROTOCOLS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from axiloom.hw.axi.rules.bursts import addresses, reads, responses, writes
from axiloom.hw.axi.rules.handshake import handshake
from axiloom.hw.axi.rules.language import Rule, Side, Watch

ASKED = {"aw": Side.MANAGER, "w": Side.MANAGER, "b": Side.SUBORDINATE,
         "ar": Side.MANAGER, "r": Side.SUBORDINATE, "t": Side.MANAGER}  # fmt: skip
"""Channel to who drives its VALID."""
READS, WRITES = ("ar", "r"), ("aw", "w", "b")


@dataclass(frozen=True)
class Protocol:
    """`has`: do these signals make a port of it? `watch` adds its rules and covers."""

    name: str
    has: Callable[[frozenset[str]], bool]
    watch: Callable[[Watch], None]


def _stream(watch: Watch) -> None:
    handshake(watch, "t", Side.MANAGER)
    rule = Rule("t_comes", Side.MANAGER, "words come, and packets end", "stated")
    watch.owe(rule, ~watch.get("tvalid"), asked=False)
    if watch.has("tlast"):
        watch.cover("t_last", "TLAST moves", watch.moves("t") & watch.get("tlast"))


def _memory(watch: Watch, *, bursts: bool) -> None:
    if watch.has("arvalid"):
        _handshakes(watch, READS)
        if bursts:
            addresses(watch, "ar")
        reads(watch, bursts=bursts)
        responses(watch, "r")
    if watch.has("awvalid"):
        _handshakes(watch, WRITES)
        if bursts:
            addresses(watch, "aw")
        writes(watch, bursts=bursts)
        responses(watch, "b")


def _handshakes(watch: Watch, channels: Iterable[str]) -> None:
    for channel in channels:
        handshake(watch, channel, ASKED[channel])


_LENGTHS = {"awlen", "arlen"}
_ADDRESSES = {"awvalid", "arvalid"}
PROTOCOLS = {
    "axi4-stream": Protocol("AXI4-Stream", lambda has: "tvalid" in has, _stream),
    "axi4": Protocol(
        "AXI4",
        lambda has: bool(has & _ADDRESSES) and bool(has & _LENGTHS),
        lambda watch: _memory(watch, bursts=True),
    ),
    "axi4-lite": Protocol(
        "AXI4-Lite",
        lambda has: bool(has & _ADDRESSES) and not has & _LENGTHS,
        lambda watch: _memory(watch, bursts=False),
    ),
}


def of(signals: Iterable[str]) -> Protocol | None:
    """The protocol of a port with these signals (in lower case, without prefix); None: of no protocol."""
    names = frozenset(signals)
    return next((protocol for protocol in PROTOCOLS.values() if protocol.has(names)), None)
