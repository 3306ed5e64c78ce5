"""The second program of examples/loops: its window reads each pixel once, and it is one a cycle."""

from __future__ import annotations

from pathlib import Path

from axiloom.hw.nest.circuit import Read
from axiloom.nests.lower import lower
from axiloom.nests.read import c
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import cycles

LOOPS = Path(__file__).parents[2] / "examples" / "loops"


def test_smooth_reads_each_pixel_once() -> None:
    program = c.read(LOOPS / "smooth.c").program
    circuit = lower(replay(program, (LOOPS / "smooth.sched").read_text(), "smooth.sched")).circuit
    (pipe,) = circuit.pipes
    reads = [node for node in pipe.nodes if isinstance(node, Read) and node.memory == "image"]
    assert (pipe.interval, pipe.iterations, len(reads)) == (1, 26 * 42, 1)
    assert cycles(circuit).cycles == pipe.iterations + pipe.last_slot
