# amaranth: UnusedElaboratable=no
"""The verdict on a tile's sizes, one cycle after they are set, against the specification's own rules."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.hw.matmul.geometry import Geometry
from axiloom.hw.matmul.tile_check import TileCheck
from axiloom.isa.contract.types import TileRule

GRANULES = [(4, 4, 4), (8, 4, 2), (12, 4, 4), (4, 8, 6)]


@pytest.mark.parametrize("granule", GRANULES)
def test_sound_are_multiples_whose_operands_fit(granule: tuple[int, int, int]) -> None:
    buffers = {"A": 96, "B": 128, "C": 160}
    spec = isa.builtin("v4_16").replace(tile=TileRule(granule, granule), buffers=buffers, macs=16)
    geometry = Geometry.of(spec)
    check = TileCheck(geometry)
    rng = random.Random(1)
    near = [
        (m, n, k)
        for m in range(0, geometry.largest[0] + granule[0] + 1, granule[0])
        for n in range(0, geometry.largest[1] + granule[1] + 1, granule[1])
        for k in range(0, geometry.largest[2] + granule[2] + 1, granule[2])
    ]
    bits = [len(check.dims[dim]) for dim in "mnk"]
    near = [sizes for sizes in near if all(s < 1 << b for s, b in zip(sizes, bits, strict=True))]
    anything = [tuple(rng.randrange(1 << b) for b in bits) for _ in range(300)]
    verdicts = {True: 0, False: 0}

    async def bench(ctx: Any) -> None:
        for sizes in rng.sample(near, min(len(near), 500)) + anything:
            for dim, size in zip("mnk", sizes, strict=True):
                ctx.set(check.dims[dim], size)
            ctx.set(check.set, 1)
            assert not ctx.get(check.settled)
            await ctx.tick()
            ctx.set(check.set, 0)
            m, n, k = sizes
            legal = all(s > 0 and s % g == 0 for s, g in zip(sizes, granule, strict=True))
            legal = legal and m * k <= 96 and k * n <= 128 and m * n <= 160
            assert ctx.get(check.settled)
            assert ctx.get(check.sound) == legal, sizes
            verdicts[legal] += 1
            await ctx.tick()

    simulate(check, bench)
    assert min(verdicts.values()) > 5
