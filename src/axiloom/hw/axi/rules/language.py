"""A rule of AXI, and what watches a port.

A rule is kept by one side of a port. Seen from a module, the rules of its own side are to be proved, those
of the other side may be assumed: one list serves both, so that what a module relies on is what its neighbour
proves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value


class Side(StrEnum):
    """Of a port: who asks, or who answers. A transmitter of a stream asks, its receiver answers."""

    MANAGER = "manager"
    SUBORDINATE = "subordinate"

    @property
    def other(self) -> Side:
        return Side.SUBORDINATE if self is Side.MANAGER else Side.MANAGER


@dataclass(frozen=True)
class Rule:
    """One sentence of the standard, on one channel."""

    name: str
    """Such as ``ar_held``: the channel, and what of it."""
    by: Side
    """Who must keep it."""
    text: str
    source: str
    """Document and section."""


@dataclass(frozen=True)
class Watched:
    """A rule on a port: `holds` in this cycle."""

    rule: Rule
    holds: Value


@dataclass(frozen=True)
class Owed:
    """What a side must do at some time, if the other does what it owes: `waits` while it has not.

    It is a rule as `rule` says where the side is the one that is proved; where it is the other side, that is
    fair: what it owes waits for a while, and not for ever.
    """

    rule: Rule
    waits: Value
    answer: bool = False
    """It answers what was accepted: bounded too where all others are ready and silent."""
    asked: bool = True
    """Else nothing obliges the side: that it does is only a fair side of others' proofs."""


@dataclass(frozen=True)
class Cover:
    """What must be able to happen, or the rules were proved of a port on which nothing moves."""

    name: str
    text: str
    seen: Value
    needed: bool = False
    """A port on which it cannot happen is not one. Others depend on the module: READY may be always high."""


class Watch:
    """Registers beside a port: they see what the port sees, in the same cycle, and drive nothing of it.

    Parameters
    ----------
    m : the module that they are added to
    port : signal by its name without prefix, in lower case (``arvalid``); what a port lacks is not there
    reset : high in a cycle in which the port's two sides are in reset
    name : prefix of the registers' names
    outstanding : how many bursts a queue of the watch holds; more is a violation of its own rule
    followed : the ID whose order is watched, any one and always the same, or a number where there is no
        other; None: that of all IDs

    Members
    -------
    rules, covers : what was added
    owed : what each side owes the other
    begins : VALIDs of a manager that begin something new
    works : a transfer on any of its channels, if the port has addresses
    seen : its registers by name, for helper invariants; of a queue its level
    queues : the places of its queues by name, the oldest first
    """

    def __init__(
        self,
        m: Module,
        port: Mapping[str, Value],
        reset: Value,
        *,
        name: str,
        outstanding: int = 16,
        followed: Value | None = None,
    ) -> None:
        self.m, self.reset, self.name, self.outstanding = m, reset, name, outstanding
        self.followed = followed
        self._port = dict(port)
        self.rules: list[Watched] = []
        self.covers: list[Cover] = []
        self.owed: list[Owed] = []
        self.begins: list[Value] = []
        self.works: list[Value] = []
        self.seen: dict[str, Signal] = {}
        self.queues: dict[str, list[Signal]] = {}

    def has(self, signal: str) -> bool:
        return signal in self._port

    def get(self, signal: str, default: int | Value = 0) -> Value:
        """The port's signal, or what the standard takes in its place where the port has none."""
        value = self._port.get(signal)
        return Value.cast(default) if value is None else value

    def bits(self, signal: str) -> int:
        return len(self._port[signal])

    def moves(self, channel: str) -> Value:
        """A transfer in this cycle."""
        return self.get(f"{channel}valid") & self.get(f"{channel}ready", 1)

    def follows(self, channel: str) -> Value:
        """Is what is on `channel` of the ID that is followed?"""
        if self.followed is None or not self.has(f"{channel}id"):
            return Const(1, 1)
        return self.get(f"{channel}id") == self.followed

    def answers(self, channel: str) -> Value:
        """VALID of an answer that is watched: of the ID that is followed, of any if it is the only one."""
        valid = self.get(f"{channel}valid")
        return valid if isinstance(self.followed, Const) else valid & self.follows(channel)

    def all_ids(self, asks: str, answers: str) -> bool:
        """Is the order of all IDs of these channels watched?"""
        return self.followed is None and self.has(f"{asks}id") and self.has(f"{answers}id")

    def rule(self, rule: Rule, holds: Value) -> None:
        self.rules.append(Watched(rule, holds | self.reset))

    def owe(self, rule: Rule, waits: Value, *, answer: bool = False, asked: bool = True) -> None:
        self.owed.append(Owed(rule, waits & ~self.reset, answer, asked))

    def waits(self, name: str) -> Value:
        """Is what this rule says owed and not done?"""
        return next(owed.waits for owed in self.owed if owed.rule.name == name)

    def cover(self, name: str, text: str, seen: Value, *, needed: bool = False) -> None:
        self.covers.append(Cover(name, text, seen & ~self.reset, needed))

    def register(self, name: str, following: Value, init: int = 0) -> Signal:
        """`following`, a cycle later; `init` from a reset on."""
        held = self.seen[name] = Signal(len(following), name=f"{self.name}_{name}", init=init)
        self.m.d.sync += held.eq(Mux(self.reset, Const(init, len(following)), following))
        return held

    def before(self, name: str, value: Value) -> Signal:
        """`value` of the cycle before, whether that was in reset or not."""
        held = self.seen[name] = Signal(len(value), name=f"{self.name}_{name}")
        self.m.d.sync += held.eq(value)
        return held

    def counter(self, name: str, up: Value, down: Value, most: int) -> Signal:
        """How many more `up` than `down` since the reset: up to `most`, and one more, at which it stays."""
        count = self.seen[name] = Signal(range(most + 2), name=f"{self.name}_{name}")
        following = Mux(
            up & ~down & (count <= most), count + 1, Mux(down & ~up & (count != 0), count - 1, count)
        )
        self.m.d.sync += count.eq(Mux(self.reset, 0, following))
        return count

    def beat(self, channel: str, moves: Value, last: Value) -> Signal:
        """The number of the beat in its burst."""
        beat = self.seen[f"{channel}_beat"] = Signal(8, name=f"{self.name}_{channel}_beat")
        following = Mux(moves, Mux(last, 0, beat + 1), beat)
        self.m.d.sync += beat.eq(Mux(self.reset, 0, following))
        return beat

    def queue(self, name: str, push: Value, data: Value, pop: Value, depth: int) -> tuple[Signal, Signal]:
        """What was pushed and not popped: how much (up to `depth`), and the oldest. A shift register."""
        level = self.seen[f"{name}_level"] = Signal(range(depth + 1), name=f"{self.name}_{name}_level")
        places = [Signal(len(data), name=f"{self.name}_{name}_{i}") for i in range(depth)]
        self.queues[name] = places
        pops = pop & (level != 0)
        at = Mux(pops, level - 1, level)
        for i, place in enumerate(places):
            with self.m.If(push & (at == i)):
                self.m.d.sync += place.eq(data)
            with self.m.Elif(pops & (i + 1 < depth)):
                self.m.d.sync += place.eq(places[min(i + 1, depth - 1)])
        pushes = push & (at != depth)
        self.m.d.sync += level.eq(Mux(self.reset, 0, level + pushes - pops))
        return level, places[0]

    def by_id(
        self,
        name: str,
        push: Value,
        data: Value,
        ids: tuple[Value, Value],
        moves: Value,
        last: Value,
        depth: int,
    ) -> tuple[Signal, Value, Value]:
        """What was pushed and not popped, of IDs that overtake each other: how much, whether there is any of
        the second of `ids`, and the oldest of it: beats behind this one (up to `data`).

        A beat that `moves` is of that ID, and its `last` pops. The first of `ids` is pushed.
        """
        pushed, asked = ids
        level = self.seen[f"{name}_level"] = Signal(range(depth + 1), name=f"{self.name}_{name}_level")
        places = [Signal(len(data) + len(pushed), name=f"{self.name}_{name}_{i}") for i in range(depth)]
        own = Cat((level > i) & (place[len(data) :] == asked) for i, place in enumerate(places))
        mine, upto = (Signal(depth, name=f"{self.name}_{name}_{what}") for what in ("mine", "upto"))
        self.m.d.comb += mine.eq(own)
        self.m.d.comb += upto.eq(Cat(mine[: i + 1].any() for i in range(depth)))  # itself, or an older one
        oldest: Value = Const(0, len(data))
        for i, place in enumerate(places):
            here = mine[i] & ~upto[i - 1] if i else mine[i]
            oldest = Mux(here, place[: len(data)], oldest)
            with self.m.If(moves & ~last & here):
                self.m.d.sync += place[: len(data)].eq(place[: len(data)] - 1)
        there = upto[-1]
        pops = moves & last & there
        at = Mux(pops, level - 1, level)
        for i, place in enumerate(places):
            with self.m.If(push & (at == i)):
                self.m.d.sync += place.eq(Cat(data, pushed))
            with self.m.Elif(pops & upto[i]):
                self.m.d.sync += place.eq(places[min(i + 1, depth - 1)])
        pushes = push & (at != depth)
        self.m.d.sync += level.eq(Mux(self.reset, 0, level + pushes - pops))
        return level, there, oldest
