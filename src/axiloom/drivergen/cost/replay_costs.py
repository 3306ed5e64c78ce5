"""What the code of drivers costs in the replay: the file that ``python -m benchmarks replay_fit`` writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from axiloom.isa import AcceleratorSpec

COSTS_FILE = Path(__file__).with_name("replay_costs.json")
"""Of each kind of driver: ``costs`` in CPU cycles apiece, and ``error`` of the fit. ``coherent``: what takes
their place behind a coherent port, where the code that maintains caches is left out, and a queue links its
ring as it goes, and has calls for words and rows."""
COHERENT = "coherent"


def kind_of(spec: AcceleratorSpec, queued: bool) -> str:
    """The kind of driver whose costs to take: a queue, or packets by one mode of the DMA or the other."""
    return "queue" if queued else "packets_sg" if spec.link.dma.scatter_gather else "packets"


@cache
def costs_of(kind: str, coherent: bool = False) -> dict[str, float]:
    """Costs by the names of `axiloom.cosim.replay.COSTS`; what is missing is free.

    `coherent`: the DMA's port looks into the caches.
    """
    loaded: dict[str, Any] = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    costs: dict[str, float] = loaded[kind]["costs"]
    own: dict[str, float] = loaded[kind].get(COHERENT, {})
    return costs | own if coherent else costs
