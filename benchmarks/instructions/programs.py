"""Programs by equality saturation for QKV and its second variant: commands, time to return, random graphs.

Each program is validated: replayed on elements against its graph, and run by its text against NumPy. Times
are those of `compile_graph`, with engine and solvers warm, best of `TURNS`; the machine should be idle.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
from tests.graph.graphs import random_graph as any_graph
from tests.selection.compile.graphs import attention, random_graph

from axiloom.base.errors import AxiloomError
from axiloom.device.known import derive, known
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.device.values import random_values
from axiloom.graph import Graph
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.selection.compile.cover import Made
from axiloom.selection.compile.graphs import Compiled, compile_graph
from axiloom.selection.compile.target import Target
from axiloom.selection.drive.execute import execute as by_text
from axiloom.selection.validate import validate

TARGETS = ("qkv", "qkv_double")
GRAPHS, ON_RTL, TURNS = 200, 40, 3
BYTES = 1 << 22
LONG = (1, 16, 43)
"""Chained attentions of 8, 113 and 302 nodes."""


@dataclass(frozen=True)
class Machine:
    target: Target
    rtl: DeviceRtl


def machine(name: str) -> Machine:
    isa = read(targets()[name], {"D0": BYTES})
    meanings = known(isa)
    begun = time.perf_counter()
    derive(meanings, [64])
    derived = time.perf_counter() - begun
    rtl = device(isa)
    assert rtl.cycles is not None
    cycles, nothing = rtl.cycles, rtl.cycles([])
    print(f"{name}: meanings in {derived:.1f} s, RTL in {time.perf_counter() - begun - derived:.1f} s")
    return Machine(Target(isa, meanings, lambda i, f: cycles([(i, f)]) - nothing), rtl)


def compiled(graph: Graph, to: Machine) -> tuple[Compiled, float]:
    best = float("inf")
    for _ in range(TURNS):
        begun = time.perf_counter()
        result = compile_graph(graph, to.target)
        best = min(best, time.perf_counter() - begun)
    return result, best


def attentions(to: Machine) -> None:
    names = (("attentions", 10), ("K and V", 8), ("nodes", 6), ("chosen", 7), ("commands", 9), ("cycles", 9))
    print(*(f"{name:>{width}}" for name, width in (*names, ("bound", 9), ("ms", 6))))
    for depth in (1, 2, 8, *LONG[1:]):
        for shared in (False, True):
            graph = attention(depth, shared=shared)
            result, seconds = compiled(graph, to)
            assert validate(result.program, graph, to.target.isa).exact
            chosen = sum(isinstance(way, Made) for way in result.cover.ways.values())
            nodes, operands = sum(1 for _ in graph.nodes()), "shared" if shared else "each"
            print(
                f"{depth:>10} {operands:>8} {nodes:>6} {chosen:>7} {len(result.program.commands):>9} "
                f"{result.cycles:>9,} {result.placement.bound:>9,} {1000 * seconds:>6.0f}"
            )


def random_graphs(to: Machine) -> None:
    """What row machines do, of 7 to 90 nodes and what belongs to it; `ON_RTL` of them on the RTL as well."""
    said: Counter[str] = Counter()
    rows: list[tuple[int, float, float]] = []
    for seed in range(GRAPHS):
        graph = random_graph(seed)
        try:
            result, seconds = compiled(graph, to)
        except AxiloomError as error:
            said[f"refused: {error}"[:80]] += 1
            continue
        rows.append((sum(1 for _ in graph.nodes()), seconds, result.cycles / result.placement.bound))
        verdict = validate(result.program, graph, to.target.isa)
        said["compiled and validated"] += 1
        said["equal for all inputs" if verdict.exact else "equal in real numbers for all inputs"] += 1
        said["bit-identical on random ones and at edges"] += verdict.numbers.equal
        said["values put aside"] += result.placement.refusal is not None
        if seed < ON_RTL:
            values = random_values(result.program, seed)
            ran, expected = (
                execute(to.rtl, result.program, values),
                by_text(result.program, to.target.isa, values),
            )
            assert all(np.array_equal(ran.results[name], array) for name, array in expected.items())
            assert ran.cycles == ran.foretold
            said["equal on RTL, in as many cycles as foretold"] += 1
    for what, many in said.items():
        print(f"{many:>4} of {GRAPHS}: {what}")
    table = np.array(rows)
    for low, high in ((0, 10), (11, 20), (21, 60), (61, 200)):
        some = table[(table[:, 0] >= low) & (table[:, 0] <= high)]
        if len(some):
            print(
                f"{len(some):>4} graphs of {int(some[:, 0].min())} to {int(some[:, 0].max())} nodes: "
                f"{1000 * some[:, 1].mean():.0f} ms on average, {1000 * some[:, 1].max():.0f} at most; "
                f"cycles {some[:, 2].mean():.3f} of the bound on average, {some[:, 2].max():.3f} at most"
            )


def others(to: Machine) -> None:
    """Graphs of anything: few of them are for a row machine."""
    said: Counter[str] = Counter()
    for seed in range(GRAPHS):
        graph = any_graph(seed)
        try:
            result = compile_graph(graph, to.target)
            validate(result.program, graph, to.target.isa)
            said["compiled and validated"] += 1
        except AxiloomError as error:
            said[f"refused by {type(error).__name__}"] += 1
    print("graphs of anything: " + ", ".join(f"{many} {what}" for what, many in said.items()))


def main() -> None:
    for name in TARGETS:
        to = machine(name)
        compile_graph(attention(1), to.target)
        attentions(to)
        random_graphs(to)
    others(to)
