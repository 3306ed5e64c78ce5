"""Issue times of all pipes of a circuit: the least solution of the recurrence

    T(n) = max(T(n-1) + interval, pushed(element) + 1 for each pop, popped(element - depth) + 1 for each push)

where a push of iteration m is executed at T(m) + slot, and where a wait takes a multiple of the interval,
but for the first iteration's. Only iterations that pop or push can wait, so that we keep S(n) = T(n) - n *
interval, which never falls, at those alone.

If no pipe waits for a place and what pops wait for is not circular, S is a cumulative maximum for one pipe
after the other (:func:`without_places`). Else each pipe goes on, event by event, as far as what it waits for
is known (:func:`event_by_event`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from axiloom.hw.nest.circuit import Fifo
from axiloom.nests.timing.events import NONE, Track
from axiloom.nests.timing.iterations import Ints

EMPTY, FULL, PORT = "empty", "full", "port"
"""Why a pipe waits: for an element, for a place, for the other side of an external stream."""

Cause = tuple[str, str]
"""A FIFO, and which of the three."""


@dataclass(frozen=True)
class Issues:
    """When a pipe issues. `events` are the numbers of the iterations that pop or push, ascending; iteration n
    is issued in cycle ``base[k] + n * interval``, where k is the last event up to n; before the first event
    the base is `start`. `stalls` are cycles by cause."""

    track: Track
    events: Ints
    base: Ints
    stalls: Mapping[Cause, int]
    start: int = 1

    def at(self, iterations: Ints) -> Ints:
        """Cycles in which these iterations are issued."""
        bases = np.concatenate([np.array([self.start], np.int64), self.base])
        return bases[np.searchsorted(self.events, iterations, "right")] + iterations * self.track.interval

    @property
    def last(self) -> int:
        """The cycle in which the last iteration has executed its last slot."""
        return int(self.at(np.array([self.track.iterations - 1]))[0]) + self.track.last_slot

    def popped(self, fifo: str) -> Ints:
        return self.at(self.track.pops.get(fifo, NONE))

    def taken(self, fifo: str) -> Ints:
        """When the places of what is pushed are taken: at the issue."""
        return self.at(self.track.pushes.get(fifo, NONE))

    def pushed(self, fifo: str) -> Ints:
        return self.taken(fifo) + self.track.delays.get(fifo, NONE)


@dataclass(frozen=True)
class Blocked:
    """A pipe that will never issue `iteration`: FIFO `fifo` has no element (or no place) for it. `number`
    counts its events at that end so far."""

    track: str
    iteration: int
    fifo: str
    why: str
    number: int


class StuckError(Exception):
    """No pipe can go on. `blocked` are those that have not ended."""

    def __init__(self, blocked: Sequence[Blocked]) -> None:
        self.blocked = tuple(blocked)
        super().__init__(f"{len(blocked)} pipes are stuck")


def solve(tracks: Sequence[Track], fifos: Sequence[Fifo], *, places: bool = True) -> list[Issues]:
    """Issue times by track. Without `places`, each FIFO has as many as it needs. Raises StuckError."""
    quick = without_places(tracks, fifos)
    if quick and (not places or all(_fits(fifo, quick) for fifo in fifos)):
        return quick
    return event_by_event(tracks, fifos, places=places)


def without_places(tracks: Sequence[Track], fifos: Sequence[Fifo]) -> list[Issues] | None:
    """Issue times where no push waits for a place; None where pipes wait for each other in circles, or for an
    element that never comes."""
    initial = {fifo.name: fifo.initial for fifo in fifos}
    pushed: dict[str, Ints | None] = dict.fromkeys(initial, NONE)
    for track in tracks:
        pushed.update(dict.fromkeys(track.pushes))
    issues: dict[str, Issues] = {}
    left = list(tracks)
    while left:
        ready = [track for track in left if all(pushed[fifo] is not None for fifo in track.pops)]
        if not ready:
            return None
        for track in ready:
            waits = []
            for fifo, at in track.pops.items():
                there = pushed[fifo]
                assert there is not None
                if len(there) + initial[fifo] < len(at):
                    return None
                waits.append((at[initial[fifo] :], there[: max(len(at) - initial[fifo], 0)] + 1, fifo))
            issues[track.name] = _waiting_for(track, waits)
            pushed.update({fifo: issues[track.name].pushed(fifo) for fifo in track.pushes})
        left = [track for track in left if track.name not in issues]
    return [issues[track.name] for track in tracks]


def _waiting_for(track: Track, waits: Sequence[tuple[Ints, Ints, str]]) -> Issues:
    """`waits`: iterations, the first cycle in which the element of each is there, and the FIFO."""
    events = _events(track)
    level = np.ones(len(events), np.int64)
    asked: list[tuple[Cause, Ints, Ints]] = []
    if track.earliest is not None:
        asked.append((("", PORT), np.arange(len(events)), track.earliest[events] - events * track.interval))
    for at, there, fifo in waits:
        asked.append(((fifo, EMPTY), np.searchsorted(events, at), there - at * track.interval))
    for _, places, bases in asked:
        level[places] = np.maximum(level[places], bases)
    phase = int(level[0]) if len(events) and not events[0] else 1
    base = np.maximum.accumulate(phase - (phase - level) // track.interval * track.interval)
    rises = np.diff(base, prepend=1)
    stalls: dict[Cause, int] = {}
    for cause, places, bases in asked:
        mine = (bases == level[places]) & (rises[places] > 0)
        if mine.any():
            stalls[cause] = int(rises[places[mine]].sum())
            rises[places[mine]] = 0
    return Issues(track, events, base, stalls)


def _events(track: Track) -> Ints:
    ends = [*track.pops.values(), *track.pushes.values()]
    return np.unique(np.concatenate(ends)) if ends else NONE


def _fits(fifo: Fifo, issues: Sequence[Issues]) -> bool:
    popped = np.concatenate([issue.popped(fifo.name) for issue in issues])
    taken = np.concatenate([issue.taken(fifo.name) for issue in issues])
    ahead = fifo.depth - fifo.initial  # push j takes the place of pop j - ahead
    if len(taken) - ahead > len(popped):
        return False
    return not np.any(taken[ahead:] <= popped[: max(len(taken) - ahead, 0)])


@dataclass
class _End:
    """One end of a FIFO at a pipe, under way: its event j waits for event j - offset of `other`. `times` are
    the cycles of the pops or of the pushes so far."""

    fifo: str
    why: str
    offset: int
    delays: list[int]
    times: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def event_by_event(tracks: Sequence[Track], fifos: Sequence[Fifo], *, places: bool = True) -> list[Issues]:
    sizes = {fifo.name: fifo for fifo in fifos}
    runs = [_Run(track, sizes, places) for track in tracks]
    ends = {(end.fifo, end.why): end for run in runs for end in run.ends}
    for (fifo, why), end in ends.items():
        peer = ends.get((fifo, FULL if why == EMPTY else EMPTY))
        end.other = peer.times if peer else []
    waiting = runs
    while waiting:
        before = sum(run.done for run in waiting)
        for waiter in waiting:
            waiter.go_on()
        progress = sum(run.done for run in waiting) > before
        waiting = [run for run in waiting if run.done < len(run.events)]
        if waiting and not progress:
            raise StuckError([run.blocked() for run in waiting])
    return [run.issues() for run in runs]


class _Run:
    """A pipe under way, in Python's lists: an event takes about a microsecond."""

    def __init__(self, track: Track, fifos: Mapping[str, Fifo], places: bool) -> None:
        self.track = track
        self.events: list[int] = _events(track).tolist()
        self.base: list[int] = []
        self.stalls: dict[Cause, int] = {}
        self.ends: list[_End] = []
        self.at: list[list[_End]] = [[] for _ in self.events]
        for fifo, at in track.pops.items():
            self._add(_End(fifo, EMPTY, fifos[fifo].initial, [0] * len(at)), at)
        for fifo, at in track.pushes.items():
            offset = fifos[fifo].depth - fifos[fifo].initial if places else len(at)
            self._add(_End(fifo, FULL, offset, track.delays[fifo].tolist()), at)
        self.earliest = None if track.earliest is None else track.earliest[_events(track)].tolist()

    def _add(self, end: _End, at: Ints) -> None:
        self.ends.append(end)
        for place in np.searchsorted(np.asarray(self.events), at).tolist():
            self.at[place].append(end)

    @property
    def done(self) -> int:
        return len(self.base)

    def go_on(self) -> None:
        interval, base, earliest = self.track.interval, self.base, self.earliest
        level = base[-1] if base else 1
        for k in range(len(base), len(self.events)):
            shift = self.events[k] * interval
            issue, cause = level + shift, None
            if earliest is not None and earliest[k] > issue:
                issue, cause = earliest[k], ("", PORT)
            for end in self.at[k]:
                needed = len(end.times) - end.offset
                if needed >= 0:
                    if needed >= len(end.other):
                        return
                    if end.other[needed] >= issue:
                        issue, cause = end.other[needed] + 1, (end.fifo, end.why)
            if cause:
                if shift:
                    issue += (shift + level - issue) % interval
                self.stalls[cause] = self.stalls.get(cause, 0) + issue - shift - level
                level = issue - shift
            base.append(level)
            for end in self.at[k]:
                end.times.append(issue + end.delays[len(end.times)])

    def blocked(self) -> Blocked:
        for end in self.at[self.done]:
            if len(end.times) - end.offset >= len(end.other):
                return Blocked(self.track.name, self.events[self.done], end.fifo, end.why, len(end.times))
        raise AssertionError("a pipe that is not blocked has not gone on")

    def issues(self) -> Issues:
        return Issues(self.track, np.array(self.events, np.int64), np.array(self.base, np.int64), self.stalls)
