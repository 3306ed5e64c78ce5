"""The points of a domain that is no box, by groups of loops that no bound connects."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from axiloom.nests.poly.sets import domain
from axiloom.nests.schedule import Placed

Group = tuple[tuple[str, ...], npt.NDArray[np.int64]]
VISITED = 1 << 22
"""The largest box that is visited; of a larger one, only its first point counts."""


def groups(placed: Placed, extents: Mapping[str, int]) -> list[Group]:
    """Each with its points, a row each, counted from the least value of each loop."""
    ends = domain(placed.loops, placed.domain)
    low = {name: ends.dim_min_val(k).to_python() for k, name in enumerate(placed.loops)}
    joined = {name: frozenset([name]) for name in placed.loops}
    for form in placed.domain:
        together = frozenset().union(*(joined[name] for name in form.names)) if form.names else frozenset()
        joined.update((name, together) for name in together)
    parts: list[Group] = []
    for group in dict.fromkeys(joined.values()):
        names = tuple(name for name in placed.loops if name in group)
        axes = [np.arange(extents[name], dtype=np.int64) for name in names]
        if np.prod([float(len(axis)) for axis in axes]) > VISITED:
            parts.append((names, np.zeros((1, len(names)), np.int64)))
            continue
        grid = np.meshgrid(*axes, indexing="ij")
        values = {name: axis.ravel() + low[name] for name, axis in zip(names, grid, strict=True)}
        inside = np.ones(len(next(iter(values.values()))), bool)
        for form in placed.domain:
            if form.names and set(form.names) <= group:
                inside &= np.broadcast_to(form.values(values), inside.shape) >= 0
        parts.append((names, np.stack([axis.ravel()[inside] for axis in grid], axis=1)))
    return parts
