"""`vta.isa` against the plain NumPy model of the tests: random legal streams, half in each encoding.

``AXILOOM_STREAMS=1000`` for fewer than 10,000; ``AXILOOM_SEED``: another first seed than 0.
"""

from __future__ import annotations

import os
import time

from tests.accelerators.vta.vta_streams import DRAM, Compared, Pair
from tqdm import tqdm

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator

EDITIONS = ((2, 2), (3, 3))
TOGETHER = 25
"""Streams that a device runs one after another before it gets new random memories."""


def main() -> None:
    wanted, seed = int(os.environ.get("AXILOOM_STREAMS", "10000")), int(os.environ.get("AXILOOM_SEED", "0"))
    text = targets()["vta"].read_text()
    for m, a in EDITIONS:
        isa = parse(text, "vta.isa", "vta", {"M": m, "A": a, "DRAM": DRAM})
        compared, start = Compared(), time.monotonic()
        with tqdm(total=wanted // len(EDITIONS), desc=f"M={m} A={a}", unit="stream") as shown:
            while compared.streams < wanted // len(EDITIONS):
                pair = Pair(Simulator(isa), m, a, seed + compared.streams)
                for _ in range(min(TOGETHER, wanted // len(EDITIONS) - compared.streams)):
                    pair.run(compared)
                    shown.update()
        print(f"M={m} A={a}: {compared.streams} streams from seed {seed}, {time.monotonic() - start:.0f} s")
        print(f"  instructions: {sum(compared.instructions.values())}: " + _said(compared.instructions))
        print(f"  met: {_said(compared.met)}")
        print(f"  streams that differ: {len(compared.differences)}", *compared.differences[:5], sep="\n    ")


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda pair: -pair[1]))
