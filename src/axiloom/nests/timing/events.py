"""What a pipe does to FIFOs, in the order of its iterations: the input of the recurrence of issue times."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from axiloom.hw.nest.circuit import Circuit, Fifo, Pipe, Pop, Push
from axiloom.nests.timing.iterations import CHUNK, Ints, rows

NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Rate:
    """An external stream: its word k is offered (or asked for) from cycle ``first + k * cycles div words``
    on, and passes one cycle at a time."""

    words: int = 1
    cycles: int = 1
    first: int = 1

    def arrivals(self, count: int) -> Ints:
        return self.first + np.arange(count, dtype=np.int64) * self.cycles // self.words

    @property
    def share(self) -> Fraction:
        """Words a cycle, at most 1."""
        return min(Fraction(1), Fraction(self.words, self.cycles))


@dataclass(frozen=True)
class Track:
    """A pipe, or an external stream, as the recurrence sees it.

    ``pops[fifo]`` and ``pushes[fifo]`` are the numbers of the iterations that do so, ascending;
    ``delays[fifo]`` is the slot of the push, as an array beside ``pushes[fifo]``. No iteration is issued
    before its place in `earliest`, where that is given.
    """

    name: str
    interval: int
    iterations: int
    last_slot: int
    pops: Mapping[str, Ints]
    pushes: Mapping[str, Ints]
    delays: Mapping[str, Ints]
    earliest: Ints | None = field(default=None, repr=False)
    external: bool = False


def tracks(
    circuit: Circuit, rates: Mapping[str, Rate] | None = None, chunk: int = CHUNK
) -> tuple[Track, ...]:
    """All pipes of `circuit`, then its ports; `rates` by FIFO, a word a cycle where none is given.

    Raises ValueError if a FIFO has two ends of a kind, or if the order in which elements enter it depends on
    stalls.
    """
    rates = rates or {}
    users = [_pipe(pipe, chunk) for pipe in circuit.pipes]
    for ports, is_input in ((circuit.inputs, True), (circuit.outputs, False)):
        for port in ports:
            at = np.arange(port.elements, dtype=np.int64)
            rate = rates.get(port.fifo, Rate())
            users.append(
                Track(
                    name=f"port {port.fifo}",
                    interval=1,
                    iterations=port.elements,
                    last_slot=0,
                    pops={} if is_input else {port.fifo: at},
                    pushes={port.fifo: at} if is_input else {},
                    delays={port.fifo: np.zeros(port.elements, np.int64)} if is_input else {},
                    earliest=rate.arrivals(port.elements),
                    external=True,
                )
            )
    for fifo in circuit.fifos:
        for ends, what in (([e.pops for e in users], "popped"), ([e.pushes for e in users], "pushed")):
            names = [track.name for track, end in zip(users, ends, strict=True) if fifo.name in end]
            if len(names) > 1:
                raise ValueError(f"FIFO {fifo.name} is {what} by {' and '.join(names)}; one may")
    return tuple(users)


def alike(tracks: Sequence[Track], fifos: Sequence[Fifo], *, depths: bool) -> dict[str, str]:
    """For each FIFO the first one that is pushed and popped in the same iterations (lanes of a stream are).
    What holds for one holds for the other, if with `depths` they have as many places."""
    first: dict[Hashable, str] = {}
    result = {}
    for fifo in fifos:
        key: list[Hashable] = [fifo.initial, fifo.depth if depths else 0]
        for n, track in enumerate(tracks):
            for kind, events in (("pop", track.pops), ("push", track.pushes), ("slot", track.delays)):
                if fifo.name in events:
                    key.append((n, kind, events[fifo.name].tobytes()))
        result[fifo.name] = first.setdefault(tuple(key), fifo.name)
    return result


def only(tracks: Sequence[Track], names: Collection[str]) -> list[Track]:
    """As if no other FIFOs were there."""

    def kept(events: Mapping[str, Ints]) -> dict[str, Ints]:
        return {name: event for name, event in events.items() if name in names}

    return [
        replace(track, pops=kept(track.pops), pushes=kept(track.pushes), delays=kept(track.delays))
        for track in tracks
    ]


def _pipe(pipe: Pipe, chunk: int) -> Track:
    pops = [node for node in pipe.nodes if isinstance(node, Pop)]
    pushes = [node for node in pipe.nodes if isinstance(node, Push)]
    popped: dict[str, list[list[Ints]]] = {pop.fifo: [] for pop in pops}
    pushed: dict[str, list[list[Ints]]] = {push.fifo: [] for push in pushes}
    count = 0
    for part in rows(pipe, chunk):
        count += part.iterations
        for fifo, parts in popped.items():
            parts.append([part.where(pop.when) for pop in pops if pop.fifo == fifo])
        for fifo, parts in pushed.items():
            parts.append([part.where(push.when) for push in pushes if push.fifo == fifo])
    slots = {fifo: [push.slot for push in pushes if push.fifo == fifo] for fifo in pushed}
    ends = {fifo: _merge(parts, slots[fifo], pipe, fifo) for fifo, parts in pushed.items()}
    return Track(
        name=pipe.name,
        interval=pipe.interval,
        iterations=count,
        last_slot=pipe.last_slot,
        pops={fifo: _merge(parts, [0] * len(parts[0]), pipe, fifo)[0] for fifo, parts in popped.items()},
        pushes={fifo: at for fifo, (at, _) in ends.items()},
        delays={fifo: delays for fifo, (_, delays) in ends.items()},
    )


def _merge(parts: list[list[Ints]], slots: list[int], pipe: Pipe, fifo: str) -> tuple[Ints, Ints]:
    """The iterations of several nodes at one end of a FIFO in order, with the node's slot."""
    at = np.concatenate([times for part in parts for times in part])
    delays = np.concatenate(
        [np.full(len(times), slot) for part in parts for times, slot in zip(part, slots, strict=True)]
    )
    if len(slots) > 1:
        order = np.argsort(at, kind="stable")
        at, delays = at[order], delays[order]
        steps = np.diff(at)
        if np.any(steps == 0):
            number = int(at[np.argmax(steps == 0)])
            raise ValueError(f"iteration {number} of pipe {pipe.name} takes two elements of FIFO {fifo}")
        late = steps * pipe.interval + np.diff(delays) < 1
        if np.any(late):
            number = int(at[np.argmax(late)])
            raise ValueError(
                f"the push of iteration {number} of pipe {pipe.name} to FIFO {fifo} may come after the next "
                "one: give all pushes of a FIFO the same slot"
            )
    return at, delays
