"""Plans written by hand: buffers of two copies, inputs and outputs that are streams."""

from __future__ import annotations

import numpy as np
import pytest
from tests.nests.lower.programs import Maker, box, operation, run

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests import timing
from axiloom.nests.lower import lower
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Double, Edge, Order, Plan, Stream
from axiloom.nests.timing.execute import execute

ROWS, COLUMNS = 6, 8


def reversal() -> Program:
    """A row goes into a buffer, and comes out backwards."""
    maker = Maker(
        "reversal",
        A=((ROWS, COLUMNS), Role.IN), row=((COLUMNS,), Role.LOCAL), B=((ROWS, COLUMNS), Role.OUT),
    )  # fmt: skip
    at = maker.at
    where = box(i=(0, ROWS), j=(0, COLUMNS))
    maker.add((0, 0, 0), where, at("row", "j"), at("A", "i", "j"), "i", "j")
    maker.add((1, 0, 0), where, at("B", "i", "j"), at("row", f"{COLUMNS - 1} - j"), "i", "j")
    return maker.done()


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
    maker = Maker("double", A=((5, 4), Role.IN), B=((5, 4), Role.OUT))
    value = maker.op("add", maker.at("A", "i", "j"), maker.at("A", "i", "j"))
    maker.add((0, 0, 0), box(i=(0, 5), j=(0, 4)), maker.at("B", "i", "j"), value, "i", "j")
    plan = Plan(streams=(Stream("A", 2, None, 0), Stream("B", 4, 0, None)))
    circuit = lower(Schedule.of(maker.done()), plan).circuit
    assert [(each.fifo, each.elements) for each in circuit.inputs] == [("A", 20)]
    assert not circuit.memories
    done = execute(circuit, {}, operation, {"A": list(range(20))})
    assert done.outputs["B"] == [2 * x for x in range(20)]


def test_a_lane_that_would_use_several_banks_is_refused() -> None:
    maker = Maker("turned", A=((6,), Role.LOCAL), B=((6, 2), Role.OUT))
    maker.add((0, 0), box(i=(0, 6)), maker.at("A", "i"), maker.lit(1), "i")
    value = maker.op("add", maker.at("A", "i"), maker.at("A", "i + 1"))
    maker.add((1, 0, 0), box(i=(0, 5), j=(0, 2)), maker.at("B", "i", "j"), value, "i", "j")
    plan = Plan(streams=(Stream("A", 6, 0, 1),))
    with pytest.raises(CompileError, match="stream A: a lane does not always use the same bank"):
        lower(Schedule.of(maker.done()), plan)


def test_what_is_pushed_is_popped() -> None:
    maker = Maker("less", A=((6,), Role.LOCAL), B=((6,), Role.OUT))
    maker.add((0, 0), box(i=(0, 6)), maker.at("A", "i"), maker.lit(1), "i")
    maker.add((1, 0), box(i=(0, 5)), maker.at("B", "i"), maker.at("A", "i"), "i")
    plan = Plan(streams=(Stream("A", 6, 0, 1),))
    with pytest.raises(CompileError, match="stream A: 6 elements are pushed into FIFO A, 5 popped"):
        lower(Schedule.of(maker.done()), plan)
