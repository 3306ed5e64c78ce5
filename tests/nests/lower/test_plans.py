"""Plans written by hand: buffers of two copies, inputs and outputs that are streams."""

from __future__ import annotations

import numpy as np
import pytest
from tests.nests.lower.programs import operation, run

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests import timing
from axiloom.nests.lower import lower
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Double, Edge, Order, Plan, Stream
from axiloom.nests.timing.execute import execute

ROWS, COLUMNS = 6, 8


def reversal() -> Program:
    """A row goes into a buffer, and comes out backwards."""
    p, number = Builder("reversal"), "int32"
    A, row = p.input("A", (ROWS, COLUMNS), number), p.local("row", (COLUMNS,), number)
    B = p.output("B", (ROWS, COLUMNS), number)
    with p.loop("i", 0, ROWS) as i, p.loop("j", 0, COLUMNS) as j:
        row[j] = A[i, j]
    with p.loop("i", 0, ROWS) as i, p.loop("j", 0, COLUMNS) as j:
        B[i, j] = row[COLUMNS - 1 - j]
    return p.program()


def ping_pong(copies: int) -> Plan:
    i, j = Affine.name("i"), Affine.name("j")
    first, last = (-j,), (j - (COLUMNS - 1),)
    return Plan(
        orders=(
            Order("full", Edge("S0", last), Edge("S1", first), copies),
            Order("empty", Edge("S1", last), Edge("S0", first), copies, copies),
        ),
        doubles=(Double("row", copies, ((0, i), (1, i))),),
    )


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_two_copies_let_both_sides_go_on(copies: int) -> None:
    program = reversal()
    lowered = lower(Schedule.of(program), ping_pong(copies))
    values = {"A": np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(ROWS, COLUMNS)}
    found, done = run(lowered, program, values)
    np.testing.assert_array_equal(found["B"], values["A"][:, ::-1])
    assert timing.cycles(lowered.circuit).cycles == done.cycles
    assert lowered.circuit.memory("row").depth == copies * COLUMNS
    if copies == 1:
        assert done.cycles > 2 * ROWS * COLUMNS
    else:
        assert done.cycles < (ROWS + 1) * COLUMNS + 10


def test_streams_with_one_end_are_ports() -> None:
    p = Builder("double")
    A, B = p.input("A", (5, 4), "int32"), p.output("B", (5, 4), "int32")
    with p.loop("i", 0, 5) as i, p.loop("j", 0, 4) as j:
        B[i, j] = A[i, j] + A[i, j]
    plan = Plan(streams=(Stream("A", 2, None, 0), Stream("B", 4, 0, None)))
    circuit = lower(Schedule.of(p.program()), plan).circuit
    assert [(each.fifo, each.elements) for each in circuit.inputs] == [("A", 20)]
    assert not circuit.memories
    done = execute(circuit, {}, operation, {"A": list(range(20))})
    assert done.outputs["B"] == [2 * x for x in range(20)]


@pytest.mark.parametrize(
    ("reads", "why"),
    [
        (2, "stream A: a lane does not always use the same bank"),
        (1, "stream A: 6 elements are pushed into FIFO A, 5 popped"),
    ],
)
def test_what_is_pushed_is_popped_from_one_bank_a_lane(reads: int, why: str) -> None:
    p = Builder("less")
    A, B = p.local("A", (6,), "int32"), p.output("B", (6,), "int32")
    with p.loop("i", 0, 6) as i:
        A[i] = 1
    with p.loop("i", 0, 5) as i:
        B[i] = A[i] + A[i + 1] if reads > 1 else A[i]
    with pytest.raises(CompileError, match=why):
        lower(Schedule.of(p.program()), Plan(streams=(Stream("A", 6, 0, 1),)))
