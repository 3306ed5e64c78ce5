"""Attention on QKV's memories as allocation problems: d1 has 128 rows, d2 64, and tiles have 64."""

from __future__ import annotations

from axiloom.selection.allocate import Memory, Problem, Step

MEMORIES = (Memory("d1", 128), Memory("d2", 64), Memory("host", 1))


def attentions(depth: int, *, again: bool = True) -> Problem:
    """`depth` attentions, each on the last one's result, K and V shared. `again`: loads may be repeated."""
    steps: list[Step] = []

    def step(name: str, memory: str, *reads: str, place: str = "", load: bool = False) -> str:
        steps.append(Step(name, reads, memory, 64, in_place=place, apart=False, again=load))
        return name

    here, k, v = (step(name, "d1", load=again) for name in "qkv")
    for i in range(depth):
        scores = step(f"s{i}", "d2", here, k)
        weights = step(f"p{i}", "d2", scores, place=scores)
        moved = step(f"m{i}", "d1", weights)
        out = step(f"o{i}", "d2", moved, v)
        here = step(f"h{i}", "d1", out)
    steps.append(Step("y", (here,), "host", 1, at=0))
    return Problem(MEMORIES, tuple(steps))
