"""`Plan`: how the nests of a schedule wait for each other. Whatever no edge orders may happen at the same
time.

Without a plan, nests run one after the other: an `Order` from each to the next, from its end to its start.
"""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.isa.affine import Affine


@dataclass(frozen=True)
class Edge:
    """Iterations of a statement, by name: those of its nest at which the statement's instance with `when`
    (forms over its loops, at least 0; no unrolled ones) is executed."""

    statement: str
    when: tuple[Affine, ...] = ()


@dataclass(frozen=True)
class Stream:
    """The elements of `array` pass through a FIFO of `depth` entries, each of them once, in the order both
    sides have. An entry is what all lanes of one iteration write. A side that is None is a port of the
    circuit."""

    array: str
    depth: int
    producer: int | None
    consumer: int | None


@dataclass(frozen=True)
class Order:
    """Tokens: the n-th iteration at `after` has been executed before the n-th one at `before` is issued, but
    for the first `initial` ones. `depth` as in a circuit."""

    name: str
    after: Edge
    before: Edge
    depth: int
    initial: int = 0


@dataclass(frozen=True)
class Double:
    """A buffer of several copies (ping-pong): an access by a nest goes to copy `turn` mod `copies`; `turn` is
    a form over the loops of each nest that touches it, by nest number."""

    array: str
    copies: int
    turn: tuple[tuple[int, Affine], ...]


@dataclass(frozen=True)
class Plan:
    streams: tuple[Stream, ...] = ()
    orders: tuple[Order, ...] = ()
    doubles: tuple[Double, ...] = ()
