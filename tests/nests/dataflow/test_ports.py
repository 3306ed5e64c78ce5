"""Arrays that come in and go out as streams, in the order that the plan says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.nests.lower.programs import operation

from axiloom.base.errors import CompileError
from axiloom.nests import timing
from axiloom.nests.dataflow import plan
from axiloom.nests.dataflow.iterations import visits
from axiloom.nests.dataflow.ports import elements
from axiloom.nests.lower import lower
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import execute


def matrix_vector(*streams: str, turned: bool = False, y: str = "out") -> Schedule:
    """Y = M x + b, the sum over j; `turned`: in a nest of its own, j outside."""
    p = Builder("mv")
    M, X, B = (p.input(name, shape, "int32") for name, shape in (("M", (4, 5)), ("X", (5,)), ("B", (4,))))
    Y = p.array("Y", (4,), "int32", y)
    with p.loop("i", 0, 4) as i:
        Y[i] = B[i]
        if not turned:
            with p.loop("j", 0, 5) as j:
                Y[i] += M[i, j] * X[j]
    if turned:
        with p.loop("j", 0, 5) as j, p.loop("i", 0, 4) as i:
            Y[i] += M[i, j] * X[j]
    return replace(Schedule.of(p.program()), streams=frozenset(streams))


def test_a_matrix_comes_in_and_a_vector_goes_out() -> None:
    schedule = matrix_vector("M", "Y")
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
        plan(matrix_vector("X"))


def test_an_element_that_is_held_comes_once() -> None:
    schedule = matrix_vector("X", turned=True)
    (stream,) = plan(schedule).streams
    assert stream.pop is not None
    assert ([str(each) for each in stream.pop.when], stream.depth) == (["-i", "i"], 5)


def test_what_is_given_and_changed_cannot_be_a_stream() -> None:
    with pytest.raises(CompileError, match="array Y cannot be a stream: 1 nests use it as inout"):
        plan(matrix_vector("Y", y="inout"))
