"""Attention on QKV's memories as allocation problems: d1 has 128 rows, d2 64, and tiles have 64."""

from __future__ import annotations

from axiloom.selection.allocate import Memory, Problem, Step, Value

MEMORIES = (Memory("d1", 128), Memory("d2", 64))


def attentions(depth: int, *, again: bool = True) -> Problem:
    """`depth` attentions, each on the last one's result, K and V shared. `again`: loads may be repeated."""
    values: list[Value] = []
    steps: list[Step] = []

    def step(name: str, memory: str, out: str, *reads: str, place: str = "", load: bool = False) -> str:
        values.append(Value(out, memory, 64, align=1))
        in_place = {out: place} if place else {}
        steps.append(Step(name, reads, (out,), in_place=in_place, apart=False, again=load))
        return out

    here = step("load q", "d1", "q", load=again)
    k, v = step("load k", "d1", "k", load=again), step("load v", "d1", "v", load=again)
    for i in range(depth):
        scores = step(f"gemm s{i}", "d2", f"s{i}", here, k)
        weights = step(f"softmax {i}", "d2", f"p{i}", scores, place=scores)
        moved = step(f"mov p{i}", "d1", f"m{i}", weights)
        out = step(f"gemm o{i}", "d2", f"o{i}", moved, v)
        here = step(f"mov o{i}", "d1", f"h{i}", out)
    steps.append(Step("store", (here,), ()))
    return Problem(MEMORIES, tuple(values), tuple(steps))
