"""Time to return, warm: graphs to programs for QKV by their size.

The application is a graph, the program is what `compile_graph` returns. Engine and solvers are running and
have seen the graph once; of `TURNS` more the fastest counts. Beside the clock stands the CPU's time of this
process and of its workers, which a busy machine changes less. ACT's times to the best found: 45 ms on average
up to 10 nodes, 233 ms at 90, 311 ms at 390.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from tests.selection.compile.graphs import attention, random_graph

from axiloom.graph import Graph
from axiloom.selection.compile.graphs import compile_graph
from axiloom.selection.egraph import saturation as engine
from benchmarks.instructions.programs import Machine, machine

TURNS = 5
SMALL = (31, 139, 165, 174)
"""Of the first 200 random graphs all of up to 10 nodes."""
LARGE = (5, 29, 33, 38, 56, 81, 101, 116, 194, 195)
"""Of these ten of 86 to 94 nodes."""
GROUPS: dict[str, list[Graph]] = {
    "attention": [attention(1)],
    "random, up to 10 nodes": [random_graph(seed) for seed in SMALL],
    "attentions in a chain": [attention(11)],
    "the same K and V": [attention(14, shared=True)],
    "random, about 90 nodes": [random_graph(seed) for seed in LARGE],
    "49 attentions in a chain": [attention(49)],
    "65, the same K and V": [attention(65, shared=True)],
}
TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Seconds of CPU of this process and of its workers."""
    total = time.process_time()
    if (worker := engine.WORKER.process) is not None:
        after = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(after[11]) + int(after[12])) / TICKS
    return total


def fastest(graph: Graph, to: Machine) -> tuple[float, float]:
    """Seconds by the clock of the fastest turn, and seconds of CPU a turn."""
    compile_graph(graph, to.target)
    walls, begun = [], spent()
    for _ in range(TURNS):
        start = time.perf_counter()
        compile_graph(graph, to.target)
        walls.append(time.perf_counter() - start)
    return min(walls), (spent() - begun) / TURNS


def main() -> None:
    to = machine("qkv")
    compile_graph(attention(1), to.target)
    head = ("graphs", "many", "nodes", "ms", "most", "ms of CPU", "most")
    print("{:<26} {:>5} {:>9} {:>6} {:>6} {:>10} {:>6}".format(*head))
    for name, graphs in GROUPS.items():
        nodes = [sum(1 for _ in graph.nodes()) for graph in graphs]
        rows = [fastest(graph, to) for graph in graphs]
        walls, cpus = ([1000 * value for value in column] for column in zip(*rows, strict=True))
        span = f"{min(nodes)}-{max(nodes)}" if min(nodes) < max(nodes) else f"{nodes[0]}"
        print(
            f"{name:<26} {len(graphs):>5} {span:>9} {statistics.mean(walls):>6.0f} {max(walls):>6.0f} "
            f"{statistics.mean(cpus):>10.0f} {max(cpus):>6.0f}"
        )
