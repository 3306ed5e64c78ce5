"""Arrays that come in and go out as streams, in the order that the plan says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.nests.dataflow.programs import add, array, box, load, mul
from tests.nests.lower.programs import operation

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.nests import timing
from axiloom.nests.dataflow import plan
from axiloom.nests.dataflow.iterations import visits
from axiloom.nests.dataflow.ports import elements
from axiloom.nests.lower import lower
from axiloom.nests.program import Program, Role, Statement
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import execute


def matrix_vector(order: str = "ij", *streams: str, y: Role = Role.OUT) -> Schedule:
    """Y = M x + b, the sum over j."""
    i, j = Affine.name("i"), Affine.name("j")
    total = load("Y", i)
    statements = (
        Statement("S0", ("i",), box(i=4), total, load("B", i), (0, 0)),
        Statement(
            *("S1", tuple(order), box(i=4, j=5), total),
            *(add(total, mul(load("M", i, j), load("X", j))), (0, 1, 0)),
        ),
    )
    arrays = (
        array("M", 4, 5, role=Role.IN),
        array("X", 5, role=Role.IN),
        array("B", 4, role=Role.IN),
        array("Y", 4, role=y),
    )
    return replace(Schedule.of(Program("mv", arrays, statements)), streams=frozenset(streams))


def test_a_matrix_comes_in_and_a_vector_goes_out() -> None:
    schedule = matrix_vector("ij", "M", "Y")
    found = plan(schedule)
    lowered = lower(schedule, found)
    circuit = timing.fit(lowered.circuit).circuit
    assert [(port.fifo, port.elements) for port in circuit.inputs] == [("M", 20)]
    assert [(port.fifo, port.elements) for port in circuit.outputs] == [("Y", 4)]
    rng = np.random.default_rng(1)
    m, x, b = rng.integers(0, 99, (4, 5)), rng.integers(0, 99, 5), rng.integers(0, 99, 4)
    (nest,) = schedule.nests
    side = visits(schedule, nest)
    by_name = {each.array: each for each in found.streams}
    assert by_name["M"].pop
    assert by_name["Y"].push
    words = [int(m[tuple(e)]) for entry in elements("M", by_name["M"].pop, side) for e in entry]
    banks = {
        name: lowered.layouts[name].to_banks(values.astype(np.uint32))
        for name, values in (("X", x), ("B", b))
    }
    done = execute(circuit, banks, operation, {"M": words})
    order = [int(e[0]) for entry in elements("Y", by_name["Y"].push, side) for e in entry]
    assert done.outputs["Y"] == [int((m @ x + b)[n]) for n in order]
    assert done.cycles == timing.cycles(circuit).cycles


def test_rows_that_are_read_again_cannot_come_in() -> None:
    with pytest.raises(CompileError, match="array X cannot be a stream: S1 needs what S1 first reads at"):
        plan(matrix_vector("ij", "X"))


def test_an_element_that_is_held_comes_once() -> None:
    schedule = matrix_vector("ji", "X")
    (stream,) = plan(schedule).streams
    assert stream.pop is not None
    assert ([str(each) for each in stream.pop.when], stream.depth) == (["-i", "i"], 5)


def test_what_is_given_and_changed_cannot_be_a_stream() -> None:
    with pytest.raises(CompileError, match="array Y cannot be a stream: 1 nests use it as inout"):
        plan(matrix_vector("ij", "Y", y=Role.INOUT))
