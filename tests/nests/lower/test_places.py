"""Each access has a port, and those of one port never ask a bank for two addresses at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nest.icarus import run_icarus

from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import Circuit, Read
from axiloom.nest.run import NestError
from axiloom.nests.lower import lower
from axiloom.nests.lower.slots.modulo import Resource
from axiloom.nests.lower.slots.places import found_ports
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay

pairs = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))


@settings(max_examples=60)
@given(pairs, st.lists(st.integers(0, 3), min_size=5, max_size=5), st.integers(1, 2), st.integers(1, 3))
def test_ports_are_found_wherever_there_are_some(
    once: set[tuple[int, int]], slots: list[int], interval: int, count: int
) -> None:
    def together(a: int, b: int) -> bool:
        return (a, b) in once or (b, a) in once

    def good(ports: tuple[int, ...]) -> bool:
        return all(
            slots[a] % interval != slots[b] % interval
            or ports[a] != ports[b]
            or (slots[a] == slots[b] and together(a, b))
            for a in range(5)
            for b in range(a)
        )

    reads = Resource("reads of A, bank 0", (0, 1, 2, 3, 4), count, together)
    if any(good(ports) for ports in product(range(count), repeat=5)):
        found = found_ports([reads], slots, interval)
        assert good(tuple(found[each] for each in range(5)))
        assert set(found.values()) <= set(range(count))
    else:
        with pytest.raises(
            CompileError, match=r"^reads of A, bank 0: no port for each of \d accesses in a turn"
        ):
            found_ports([reads], slots, interval)


def test_hardware_takes_the_ports_of_the_circuit() -> None:
    """Columns j and j - 1 never lie in one bank; the hardware alone cannot tell."""
    text = """void f(int A[5][4], int B[2][3]) {
      for (int i = 0; i < 2; i++) for (int j = 1; j < 3; j++)
        B[i][j] = A[i][j] + A[i + 1][j - 1] * A[j + 2][i];
      for (int i = 0; i < 2; i++) B[i][0] = 0;
    }"""
    program = c.parse(text, "f.c", "f").program
    lowered = lower(replay(Schedule.of(program), "partition A cyclic 1 2\nstorage A block 2"))
    assert lowered.circuit.pipes[0].interval == 1
    A = np.arange(3, 23, dtype=np.uint32).reshape(5, 4)
    given = {
        "A": lowered.layouts["A"].to_banks(A),
        "B": lowered.layouts["B"].to_banks(np.zeros((2, 3), np.uint32)),
    }
    held = lowered.layouts["B"].from_banks(run_icarus(lowered.circuit, given).memories["B"])
    expected = [[0, *(A[i, j] + A[i + 1, j - 1] * A[j + 2, i] for j in (1, 2))] for i in (0, 1)]
    assert held.tolist() == expected
    with pytest.raises(NestError, match="A: two addresses on read port 1 of bank"):
        run_icarus(without_ports(lowered.circuit), given)


def without_ports(circuit: Circuit) -> Circuit:
    return replace(
        circuit,
        pipes=tuple(
            replace(
                pipe, nodes=tuple(replace(x, port=None) if isinstance(x, Read) else x for x in pipe.nodes)
            )
            for pipe in circuit.pipes
        ),
    )
