"""`Plan`: how the nests of a schedule wait for each other. Whatever no edge orders may happen at the same
time.

Without a plan, nests run one after the other: an `Order` from each to the next, from its end to its start.
"""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.affine import Affine


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
    circuit.

    `push` are the iterations that push an entry: each element's last write (earlier ones stay in the
    producer, which may read them again). `pop` are those that pop one; until the next pop, all iterations
    read the entry that was popped last. None: each iteration that writes, or reads, the array.
    """

    array: str
    depth: int
    producer: int | None
    consumer: int | None
    push: Edge | None = None
    pop: Edge | None = None


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
class Readers:
    """Nests that may read `array` at the same time: each reads at a place, and those of one place never at
    the same time. Banks need so many times the read ports as there are places."""

    array: str
    places: tuple[tuple[int, int], ...]
    """The place of each nest that reads it, by nest number."""

    @property
    def count(self) -> int:
        return 1 + max((place for _, place in self.places), default=0)


@dataclass(frozen=True)
class Plan:
    """`readers`: of arrays that more than one nest may read at the same time."""

    streams: tuple[Stream, ...] = ()
    orders: tuple[Order, ...] = ()
    doubles: tuple[Double, ...] = ()
    readers: tuple[Readers, ...] = ()
