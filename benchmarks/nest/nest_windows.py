"""Stencils and filters at one point a cycle that read one new element a cycle: windows and line buffers.

``python -m benchmarks nest_windows``. Each design runs in Verilator; its results are compared bit for bit
with those of the program as it was written. *reads*: of the array of the caller that a window stands before.
*points*: of the loops that have most of them, which no design with one lane can beat.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import islpy as isl
import numpy as np

import axiloom.nests.schedule.primitives  # noqa: F401  (registers them)
from axiloom.hw.nest.circuit import Circuit, Read
from axiloom.nest.resident import resident
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.dataflow import plan
from axiloom.nests.poly.sets import domain
from axiloom.nests.program import Program
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from benchmarks.polybench import sizes
from benchmarks.pom import image

CONVOLUTION = """
void conv3x3(int n, short image[n + 2][n + 2], short kernel[3][3], short out[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      out[i][j] = 0;
      for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
          out[i][j] += image[i + y][j + x] * kernel[y][x];
    }
}
"""


def _polybench(kernel: str) -> Callable[..., Program]:
    def program(**defines: int) -> Program:
        return c.read(
            sizes.source(kernel), defines={name: str(value) for name, value in defines.items()}
        ).program

    return program


def _convolution(n: int) -> Program:
    return c.parse(CONVOLUTION, "conv3x3.c", defines={"n": str(n)}).program


@dataclass(frozen=True)
class Kernel:
    """`sizes` of the table; `small` ones for tests."""

    program: Callable[..., Program]
    schedule: str
    sizes: Mapping[str, int]
    small: Mapping[str, int]


KERNELS: Mapping[str, Kernel] = {
    "jacobi-1d": Kernel(
        _polybench("jacobi-1d"),
        "reuse A S0 i\nreuse B S1 i1",
        sizes.MEDIUM["jacobi-1d"],
        {"TSTEPS": 3, "N": 30},
    ),
    "jacobi-2d": Kernel(
        _polybench("jacobi-2d"),
        "reuse A S0 i j\nreuse B S1 i1 j1",
        {"TSTEPS": 20, "N": 90},
        {"TSTEPS": 2, "N": 10},
    ),
    # The colours go outwards: an image of one colour after the other.
    "blur": Kernel(
        image.blur,
        "reorder S0 c i j\nreorder S1 c i j\nreuse source S0 j\nreuse across S1 i j",
        {"n": 128},
        {"n": 10},
    ),
    "edgeDetect": Kernel(
        image.edge_detect,
        "reorder S0 c i j\nreorder S1 c i j\nreuse source S0 i j\nreuse temp S1 i j",
        {"n": 128},
        {"n": 10},
    ),
    "gaussian": Kernel(
        image.gaussian,
        """reorder S0 c q w
           reorder S1 c q w
           reorder S2 c q w r
           reorder S3 c q w e
           fuse S0 S2 w where=before
           fuse S1 S3 w where=before
           unroll S2 r
           unroll S3 e
           reuse source S2 q w
           reuse temp S3 w""",
        {"n": 128, "taps": 7},
        {"n": 10, "taps": 3},
    ),
    "conv3x3": Kernel(
        _convolution,
        "unroll S1 x\nunroll S1 y\nreuse image S1 i j",
        {"n": 128},
        {"n": 8},
    ),
}


@dataclass(frozen=True)
class Row:
    kernel: str
    reads: int
    interval: int
    points: int
    predicted: int
    simulated: int
    equal: bool

    @property
    def ratio(self) -> float:
        return self.simulated / self.points


def scheduled(kernel: str, values: Mapping[str, int]) -> tuple[Program, Schedule]:
    """The program as it is written, and with its windows."""
    program = KERNELS[kernel].program(**values)
    return program, replay(program, KERNELS[kernel].schedule, kernel)


def reads(circuit: Circuit, arrays: set[str]) -> int:
    """The most reads of one of these arrays."""
    nodes = [node for pipe in circuit.pipes for node in pipe.nodes if isinstance(node, Read)]
    return max(Counter(node.memory for node in nodes if node.memory in arrays).values())


def points(schedule: Schedule, statements: set[str]) -> int:
    """Iterations in which one of `statements` is executed, of the nest that has most of them."""
    counts: Counter[int | str] = Counter()
    for statement in schedule.statements:
        if statement.statement.name in statements:
            inside = domain(statement.loops, statement.domain)
            lanes = sum(loop in schedule.unrolled for loop in statement.loops)  # unrolled loops are innermost
            outer = inside.project_out(isl.dim_type.set, len(statement.loops) - lanes, lanes)
            counts[statement.order[0]] += outer.count_val().to_python()
    return max(counts.values())


def measure(kernel: str, values: Mapping[str, int]) -> Row:
    program, schedule = scheduled(kernel, values)
    arrays = random_arrays(program, np.random.default_rng(0))
    wanted = interpret(program, arrays)
    ran = resident(schedule, arrays, plan(schedule))
    equal = all(
        np.array_equal(ran.results[name].view("u1"), array.view("u1")) for name, array in wanted.items()
    )
    circuit = ran.lowered.circuit
    words = [line.split() for line in KERNELS[kernel].schedule.splitlines()]
    windows = {(array, statement) for verb, array, statement, *_ in words if verb == "reuse"}
    outside = {memory.name for memory in circuit.memories if memory.external}
    return Row(
        kernel,
        reads(circuit, {array for array, _ in windows} & outside),
        max(pipe.interval for pipe in circuit.pipes),
        points(schedule, {statement for _, statement in windows}),
        ran.predicted,
        ran.simulated,
        equal,
    )


def main() -> None:
    print("kernel      reads  II    points predicted simulated  cycles a point  equal")
    rows = []
    for kernel, case in KERNELS.items():
        row = measure(kernel, case.sizes)
        rows.append(row)
        print(
            f"{kernel:<10} {row.reads:6} {row.interval:3} {row.points:9,} {row.predicted:9,} "
            f"{row.simulated:9,} {row.ratio:15.3f}  {'yes' if row.equal else 'NO'}",
            flush=True,
        )
    if not all(row.equal and row.predicted == row.simulated for row in rows):
        sys.exit("a result differs, or a prediction")


if __name__ == "__main__":
    main()
