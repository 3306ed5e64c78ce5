"""What the drivers by hand gain by prefetching (-DPREFETCH), and what ours are worth against those.

The comparison of ``python -m benchmarks.paper against-hand`` is with drivers as most engineers write them.
The simulated
CPU knows PLD and our drivers use it, so this one says how much of the factor that is. v1, v2 and v3 with S of
8 and 16, every flow, 64^3 and 128^3, int32; every result is checked against NumPy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from axiloom import isa
from benchmarks.paper.sides import Point, by_hand, generated, measure

SIDES = ("by hand", "by hand, PLD", "copying", "all")


def sides(size: int, name: str, flow: str) -> dict[str, Point]:
    cube, spec = (size, size, size), isa.builtin(name)
    queued = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True))
    points = (
        by_hand(cube, spec, flow=flow),
        by_hand(cube, spec, flow=flow, prefetch=True),
        generated(cube, spec, flow=flow, pipeline="copying"),
        generated(cube, queued, flow=flow, pipeline="all"),
    )
    return dict(zip(SIDES, points, strict=True))


def main() -> None:
    print(f"{'':16}" + "".join(f"{side:>14}" for side in SIDES) + "   ms", flush=True)
    times: list[list[float]] = []
    for name in (f"v{version}_{size}" for version in (1, 2, 3) for size in (8, 16)):
        cases = [(size, flow) for size in (64, 128) for flow in isa.builtin(name).flows]
        points = [sides(size, name, flow) for size, flow in cases]
        plain = [case[side] for case in points for side in SIDES[:3]]
        reports = measure(plain), measure([case["all"] for case in points])
        for number, (size, flow) in enumerate(cases):
            row = [*reports[0][3 * number : 3 * number + 3], reports[1][number]]
            times.append([report["counters"]["task-clock"] / 1e6 for report in row])
            print(f"{name:6} {flow} {size:4}  " + "".join(f"{ms:14.3f}" for ms in times[-1]), flush=True)
    logs = np.log(np.array(times))
    gain, copying, everything = np.exp(np.mean(logs[:, [0, 1, 1]] - logs[:, [1, 2, 3]], axis=0))
    print(
        f"by hand with PLD: {gain:.2f} times as fast as without (geometric mean of {len(times)}); "
        f"against it, copying is {copying:.2f} times as fast and all {everything:.2f} times"
    )
