"""Runs for ever, found by simulation: a run that an engine has shown, and its last inputs ever after.

A state that comes again, with something owed in all cycles between and each fair output high in one of them,
is a run for ever, however many cycles lead there: in unrolled circuits, loops are found to a few dozen. Many
runs are simulated at once, a bit of each number a run, with a few other inputs each. That an input is not as
it must be shows by itself: nothing is owed where an assumption is broken.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from axiloom.prove.aiger import Aiger, Run

LANES = 256
"""Runs at once; the first is as it was shown, and in the second registers begin at 0."""
CYCLES = 4_000
"""That a run goes on, at most."""
CHANGES = 6
"""Inputs of a run that are other, at most."""
FIRST = "init:"
"""An input of what a register holds at first, by Yosys; in a simulator it is 0."""


def find(cone: Aiger, pairs: int, run: Run) -> tuple[Run, int] | None:
    """A run for ever, and the cycle in which its loop begins; its last cycle is that one once more."""
    inputs, every = _lanes(cone, run), (1 << LANES) - 1
    last = len(inputs) - 1
    states = cone.run((inputs[min(cycle, last)] for cycle in range(last + CYCLES)), every)
    begins, alive = last, every
    saved: list[int] = []
    seen: list[int] = []
    for cycle, (state, (owed, *others)) in enumerate(states):
        if cycle < last:
            continue
        if saved:
            same = alive & _fair(seen, pairs, every)
            for one, other in zip(state, saved, strict=True):
                if not (same := same & ~(one ^ other)):
                    break
            else:
                lane = (same & -same).bit_length() - 1
                shown = [_shown(cone, columns, lane) for columns in inputs]
                return [*shown, *shown[-1:] * (cycle - last)], begins
        if not (alive := alive & owed):
            return None
        if not saved or cycle - last == 2 * (begins - last) + 1:
            begins, saved, seen = cycle, state, []
        now = [*others, *(_both(others, pairs))]
        seen = [one | other for one, other in zip(seen or [0] * len(now), now, strict=True)]
    return None


def _both(others: Sequence[int], pairs: int) -> list[int]:
    couples = others[len(others) - 2 * pairs :]
    return [first & second for first, second in zip(couples[::2], couples[1::2], strict=True)]


def _fair(seen: Sequence[int], pairs: int, every: int) -> int:
    """Runs in which all that is fair was high: of a pair the second with the first, or the first never."""
    plain = seen[: len(seen) - 3 * pairs]
    firsts, both = seen[len(plain) : len(seen) - pairs : 2], seen[len(seen) - pairs :]
    fair = every
    for value in (*plain, *(either | ~first & every for first, either in zip(firsts, both, strict=True))):
        fair &= value
    return fair


def _lanes(cone: Aiger, run: Run) -> list[list[int]]:
    """The inputs in each cycle."""
    pick, every = random.Random(0), (1 << LANES) - 1
    words = list(cone.words.items())
    single = [places[0] for name, places in words if [*places] == [0] and not name.startswith(FIRST)]
    inputs = [[every if bit else 0 for bit in cone.bits(values)] for values in run]
    for lane in range(1, LANES):
        bit = 1 << lane
        for name, places in words if lane % 2 else ():
            if name.startswith(FIRST):
                for place in places.values():
                    inputs[0][place] &= ~bit
        for _ in range(pick.randrange(CHANGES) if lane > 1 else 0):
            if single and pick.random() < 0.5:  # while it goes on
                inputs[-1][pick.choice(single)] ^= bit
                continue
            columns, (_, places) = pick.choice(inputs), pick.choice(words)
            value = pick.choice((pick.randrange(4), pick.getrandbits(max(places) + 1)))
            for i, place in places.items():
                columns[place] = columns[place] & ~bit | (bit if value >> i & 1 else 0)
    return inputs


def _shown(cone: Aiger, columns: Sequence[int], lane: int) -> dict[str, int]:
    return {
        name: sum((columns[place] >> lane & 1) << i for i, place in places.items())
        for name, places in cone.words.items()
    }
