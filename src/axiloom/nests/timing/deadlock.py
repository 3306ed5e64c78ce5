"""Why pipes wait for each other forever, and what would resolve it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from axiloom.base.errors import HangError
from axiloom.hw.nest.circuit import Circuit, Fifo
from axiloom.nests.timing.events import Rate, Track, alike, only, tracks
from axiloom.nests.timing.solver import FULL, Blocked, Issues, StuckError, solve


class DeadlockError(HangError):
    """A circuit that never ends. `circle` are the pipes that wait for each other, each for the next and the
    last for the first; a single one waits for what never comes. `depths`: FIFOs that are pushed and popped
    together, and the smallest depth of theirs that alone resolves it."""

    def __init__(
        self, message: str, circle: Sequence[Blocked], depths: Mapping[tuple[str, ...], int]
    ) -> None:
        self.circle = tuple(circle)
        self.depths = depths
        super().__init__(message)


def solved(
    circuit: Circuit, rates: Mapping[str, Rate] | None, *, depths: bool, places: bool
) -> tuple[list[Track], list[Fifo], dict[str, str], list[Issues]]:
    """Tracks and FIFOs without those that are :func:`alike`, for each FIFO which of these stands for it, and
    when the tracks issue. Raises DeadlockError, and ValueError as :func:`axiloom.nests.timing.events.tracks`.
    """
    every = tracks(circuit, rates)
    same = alike(every, circuit.fifos, depths=depths)
    fifos = [fifo for fifo in circuit.fifos if same[fifo.name] == fifo.name]
    distinct = only(every, set(same.values()))
    try:
        return distinct, fifos, same, solve(distinct, fifos, places=places)
    except StuckError as stuck:
        raise _explained(distinct, fifos, same, stuck) from None


def _explained(
    tracks: Sequence[Track], fifos: Sequence[Fifo], alike: Mapping[str, str], stuck: StuckError
) -> DeadlockError:
    """The error to raise where `stuck` came from solving `tracks`. `fifos` stand for those that are
    `alike`."""
    circle = _circle(tracks, stuck.blocked)
    depths = {
        tuple(name for name, leader in alike.items() if leader == blocked.fifo): depth
        for blocked in circle
        if blocked.why == FULL and (depth := _smallest(tracks, fifos, blocked.fifo)) is not None
    }
    waits = "; ".join(_sentence(blocked, fifos) for blocked in circle)
    if depths:
        remedy = "a depth of " + " or ".join(f"{depth} of {_names(names)}" for names, depth in depths.items())
        return DeadlockError(f"deadlock: {waits}: {remedy} resolves it", circle, depths)
    return DeadlockError(f"deadlock: {waits}: no depth of a FIFO resolves it", circle, depths)


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} like it)"


def _sentence(blocked: Blocked, fifos: Sequence[Fifo]) -> str:
    fifo = next(fifo for fifo in fifos if fifo.name == blocked.fifo)
    what = f"{'pipe ' if not blocked.track.startswith('port') else ''}{blocked.track}"
    if blocked.why == FULL:
        return (
            f"{what} waits at iteration {blocked.iteration} for a place in FIFO {fifo.name} "
            f"(depth {fifo.depth}, {blocked.number} pushed)"
        )
    return f"{what} waits at iteration {blocked.iteration} for element {blocked.number} of FIFO {fifo.name}"


def _circle(tracks: Sequence[Track], blocked: Sequence[Blocked]) -> list[Blocked]:
    """Those that wait for each other; if the chain ends at a pipe that has ended, the last one of it."""
    by_track = {wait.track: wait for wait in blocked}
    here, path = blocked[0], [blocked[0]]
    while True:
        other = next(
            (
                track.name
                for track in tracks
                if here.fifo in (track.pops if here.why == FULL else track.pushes)
            ),
            None,
        )
        if other is None or other not in by_track:
            return [here]
        here = by_track[other]
        if here in path:
            return path[path.index(here) :]
        path.append(here)


def _smallest(tracks: Sequence[Track], fifos: Sequence[Fifo], name: str) -> int | None:
    """The least depth of a FIFO at which, with the others as they are, all pipes end; None if there is
    none."""

    def ends(depth: int) -> bool:
        try:
            solve(tracks, [replace(fifo, depth=depth) if fifo.name == name else fifo for fifo in fifos])
        except StuckError:
            return False
        return True

    low = next(fifo.depth for fifo in fifos if fifo.name == name)
    pushes = sum(len(track.pushes[name]) for track in tracks if name in track.pushes)
    high = max(low, pushes + next(fifo.initial for fifo in fifos if fifo.name == name))
    if not ends(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle) else (middle, high)
    return high
