"""Addresses for hundreds of values at the live peak, and order with addresses for attention: time of each.

Below the live peak there is no allocation. Three kinds of random lifetimes: as in a chain of layers, as in a
graph with long residuals, and of many sizes at once.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from axiloom.selection.allocate import Memory, Plan, Problem, Step, Value, allocate, faults
from axiloom.selection.allocate.exact import warm
from axiloom.selection.allocate.lives import Life, live_peak
from axiloom.selection.allocate.place import place

TENSORS, SECONDS, SEEDS = 500, 5.0, 5


def chain(rng: random.Random, n: int) -> list[Life]:
    found = []
    for _ in range(n):
        start = rng.randrange(n)
        found.append(
            Life(
                start,
                min(n + 1, start + rng.choice([1, 2, 3, 5, 8, 20])),
                16 * rng.choice([1, 1, 2, 4, 8]),
                16,
            )
        )
    return found


def residuals(rng: random.Random, n: int) -> list[Life]:
    """Each tenth value lives for a hundred steps."""
    return [
        Life(
            i,
            i + (rng.randrange(50, 100) if i % 10 == 0 else rng.randrange(1, 4)),
            16 * rng.choice([1, 2, 4, 8]),
            16,
        )
        for i in range(n)
    ]


def sizes(rng: random.Random, n: int) -> list[Life]:
    return [Life(s := rng.randrange(n), s + rng.randrange(1, 40), rng.randrange(1, 200)) for _ in range(n)]


KINDS: dict[str, Callable[[random.Random, int], list[Life]]] = {
    "chain": chain, "residuals": residuals, "sizes": sizes,
}  # fmt: skip


def main() -> None:
    begun = time.perf_counter()
    warm()
    print(f"solver started in {time.perf_counter() - begun:.2f} s\n")
    print(f"{TENSORS} values      seed   live peak   rows   ratio   seconds")
    short = False
    for kind, make in KINDS.items():
        for seed in range(SEEDS):
            lives = make(random.Random(seed), TENSORS)
            peak = live_peak(lives)
            begun = time.perf_counter()
            rows = smallest(lives, peak)
            taken = time.perf_counter() - begun
            short |= rows != peak
            print(f"{kind:12} {seed:8} {peak:11} {rows:6} {rows / peak:7.2f} {taken:9.3f}")
    print()
    for depth in (1, 2, 8):
        problem = attention(depth)
        plan = allocate(problem)
        right = isinstance(plan, Plan) and not faults(problem, plan)
        if not right or not isinstance(plan, Plan):
            sys.exit(f"{depth} attentions: {plan}")
        print(
            f"{depth} attentions: {len(plan.steps)} instructions, at least {plan.bound}, {plan.seconds:.3f} s"
        )
    print(f"all at the live peak: {'no' if short else 'yes'}")


def smallest(lives: list[Life], peak: int) -> int:
    """Rows, in steps of 2 % above the live peak; CP-SAT is asked at the peak alone."""
    if place(lives, peak, SECONDS):
        return peak
    return next(rows for i in range(1, 100) if place(lives, rows := peak * (50 + i) // 50))


def attention(depth: int) -> Problem:
    """`depth` attentions on QKV's memories, K and V shared; loads may be repeated."""
    values, steps = [], []

    def step(name: str, memory: str, out: str, *reads: str, place: str = "") -> str:
        values.append(Value(out, memory, 64))
        load = not reads
        steps.append(
            Step(name, reads, (out,), in_place={out: place} if place else {}, apart=False, again=load)
        )
        return out

    here, k, v = (step(f"load {name}", "d1", name) for name in "qkv")
    for i in range(depth):
        scores = step(f"gemm s{i}", "d2", f"s{i}", here, k)
        moved = step(f"mov p{i}", "d1", f"m{i}", step(f"softmax {i}", "d2", f"p{i}", scores, place=scores))
        here = step(f"mov o{i}", "d1", f"h{i}", step(f"gemm o{i}", "d2", f"o{i}", moved, v))
    steps.append(Step("store", (here,), ()))
    return Problem((Memory("d1", 128), Memory("d2", 64)), tuple(values), tuple(steps))


if __name__ == "__main__":
    main()
