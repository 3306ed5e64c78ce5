"""`Occupancy`: how full a FIFO is over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from axiloom.hw.nest.circuit import Fifo
from axiloom.nests.timing.iterations import Ints
from axiloom.nests.timing.solver import Issues


@dataclass(frozen=True)
class Occupancy:
    """Places of a FIFO that are taken, as steps: from cycle ``cycles[i]`` on ``taken[i]``. A place is taken
    in the cycle in which the iteration that pushes is issued, and free again one cycle after the pop."""

    cycles: Ints
    taken: Ints

    @property
    def largest(self) -> int:
        return int(self.taken.max())


def occupancy(fifo: Fifo, issues: Sequence[Issues]) -> Occupancy:
    """From cycle 0 on. `issues` are those of all pipes and ports."""
    taken = np.concatenate([issue.taken(fifo.name) for issue in issues])
    freed = np.concatenate([issue.popped(fifo.name) for issue in issues]) + 1
    changes = np.concatenate([np.ones(len(taken), np.int64), np.full(len(freed), -1)])
    at, where = np.unique(np.concatenate([taken, freed]), return_inverse=True)
    levels = fifo.initial + np.cumsum(np.bincount(where, changes, len(at))).astype(np.int64)
    at, levels = np.concatenate([[0], at]), np.concatenate([[fifo.initial], levels])
    changed = np.diff(levels, prepend=-1) != 0
    return Occupancy(at[changed], levels[changed])
