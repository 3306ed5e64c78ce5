"""What is proved of one of our modules, and what it may take for granted of its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Mux, Value

from axiloom.prove.axi import watched
from axiloom.prove.bench import Bench


@dataclass(frozen=True)
class Target:
    """`build` adds a module and what is to be proved of it to a bench: bits of a stream, bursts under way."""

    text: str
    build: Callable[[Bench, int, int], None]
    streams: bool = False
    """Its data has the width of a stream."""
    bursts: bool = True
    """It has addresses, of which several may be under way."""

    def bench(
        self, width: int = 32, outstanding: int = 16, *, with_lemmas: bool = True, live: bool = False
    ) -> Bench:
        bench = Bench(with_lemmas=with_lemmas)
        self.build(bench, width, outstanding)
        if live:
            watched.live(bench)
        return bench


@dataclass(frozen=True)
class Agreement:
    """What one of our modules keeps and its neighbour relies on, beyond the rules of AXI.

    `holds` makes it, in a bench, of the signals that both see. Who relies on it names the target and the
    port that proves it: a check of the same name stands there.
    """

    name: str
    text: str
    holds: Callable[..., Value]

    def check(self, bench: Bench, port: str, *seen: Any) -> None:
        bench.check(port, self.name, self.holds(bench, *seen) | bench.reset, self.text)

    def assume(self, bench: Bench, kept_by: str, *seen: Any) -> None:
        """`kept_by`: ``target.port``."""
        bench.assume(self.holds(bench, *seen) | bench.reset, name=self.name, kept_by=kept_by)


def signals(port: Any) -> dict[str, Value]:
    """The signals of an interface by their names."""
    return {name: Value.cast(getattr(port, name)) for name in port.signature.members}


def entry(values: Sequence[Value], index: Value) -> Value:
    """The value of this number. Muxes in a tree: Yosys makes much more of an `Array`."""
    nodes = list(values)
    for bit in index:
        if len(nodes) == 1:
            break
        pairs = [nodes[i : i + 2] for i in range(0, len(nodes), 2)]
        nodes = [Mux(bit, pair[1], pair[0]) if len(pair) == 2 else pair[0] for pair in pairs]
    return nodes[0]
