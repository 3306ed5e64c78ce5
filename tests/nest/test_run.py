"""Circuits in Verilator do what their docstring says, in as many cycles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.nest import circuits, model
from tests.nest.icarus import run_icarus

from axiloom.hw.nest.circuit import Circuit, Fifo, Pipe, Pop, Port, Push, Storage
from axiloom.hw.verilog.nest import emit_nest
from axiloom.nest import NestError, Pauses, run, runs


def data(circuit: Circuit, seed: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    memories = {
        each.name: rng.integers(0, 1 << each.bits, (each.banks, each.depth), np.uint64)
        for each in circuit.memories
        if each.external
    }
    inputs = {
        port.fifo: rng.integers(0, 1 << circuit.fifo(port.fifo).bits, port.elements, np.uint64)
        for port in circuit.inputs
    }
    return memories, inputs


ALL = [
    circuits.one_pipe(),
    circuits.triangular(),
    circuits.shared_unit(),
    circuits.stalled_shared_unit(),
    circuits.fifo(3, 2),
    circuits.fifo(1, 1),
    circuits.fifo(100, 3),
    circuits.accumulate(Storage.BLOCK),
    circuits.accumulate(Storage.DISTRIBUTED),
    circuits.accumulate(Storage.REGISTERS),
]
FEW = [circuits.tokens(), circuits.streams(), circuits.dynamic_banks()]


@pytest.mark.slow
@pytest.mark.parametrize("circuit", FEW, ids=lambda circuit: circuit.name)
def test_twice_in_a_row_and_after_a_reset_as_the_model(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    for reset_between in (False, True):
        for outcome in runs(
            circuit,
            memories,
            inputs,
            find=model.plain,
            times=4,
            reset_between=reset_between,
            pauses=Pauses(3),
        ):
            model.compare(circuit, outcome, expected)
            assert outcome.peaks == expected.peaks


@pytest.mark.slow
@pytest.mark.parametrize("circuit", ALL, ids=lambda circuit: circuit.name)
def test_as_the_model(circuit: Circuit) -> None:
    memories, inputs = data(circuit)
    model.compare(
        circuit, run(circuit, memories, inputs, find=model.plain), model.simulate(circuit, memories, inputs)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("source", "sink"), [(200, 0), (0, 200), (128, 128)])
def test_streams_that_pause(source: int, sink: int) -> None:
    """The same words, later; a full FIFO loses none."""
    circuit = circuits.streams()
    memories, inputs = data(circuit)
    expected = model.simulate(circuit, memories, inputs)
    for seed in range(3):
        outcome = run(circuit, memories, inputs, find=model.plain, pauses=Pauses(seed, source, sink))
        assert [int(x) for x in outcome.outputs["y"]] == expected.outputs["y"]
        assert outcome.cycles >= expected.cycles


@pytest.mark.slow
def test_wide_words_pass() -> None:
    """Streams and memories of more than 64 bits."""
    ends = Pop("x", ()), Push("y", 1, (), 1)
    nodes = (ends[0], circuits.read("a", circuits.i, 0), circuits.write("b", circuits.i, 0, 1), ends[1])
    pipe = Pipe("p", (circuits.counter("i", 0, 9),), 1, 10, nodes)
    memories = (replace(circuits.words("a", 10), bits=100), replace(circuits.words("b", 10), bits=72))
    fifos = (Fifo("x", 72, 2), Fifo("y", 100, 2))
    circuit = Circuit("wide", (pipe,), memories, fifos, (Port("x", 10),), (Port("y", 10),))
    rng = np.random.default_rng(2)
    mask = np.array([2**64 - 1, 2**36 - 1], np.uint64), np.array([2**64 - 1, 2**8 - 1], np.uint64)
    a = rng.integers(0, 2**64, (1, 10, 2), np.uint64) & mask[0]
    x = rng.integers(0, 2**64, (10, 2), np.uint64) & mask[1]
    given = {"a": a, "b": np.zeros_like(a)}
    for outcome in (run(circuit, given, {"x": x}), run_icarus(circuit, given, {"x": x})):
        assert np.array_equal(outcome.memories["b"][0], x)
        assert np.array_equal(outcome.outputs["y"], a[0])


def conflict() -> Circuit:
    """Two writes to a bank in slots that 2 iterations share."""
    circuit = circuits.one_pipe()
    nodes = circuit.pipes[0].nodes
    pipe = replace(circuit.pipes[0], nodes=(*nodes, replace(nodes[-1], slot=6)))
    return replace(circuit, name="conflict", pipes=(pipe,))


def beyond() -> Circuit:
    circuit = circuits.one_pipe()
    memories = tuple(replace(each, depth=18) for each in circuit.memories)
    return replace(circuit, name="beyond", memories=memories)


def starved() -> Circuit:
    circuit = circuits.fifo(3, 2)
    make, take = circuit.pipes
    return replace(circuit, name="starved", pipes=(replace(make, nodes=make.nodes[:2]), take))


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("circuit", "text"),
    [
        (conflict(), "conflict: y: two writes to bank 0 in a cycle"),
        (beyond(), "beyond: a: bank 0 has no address 18 (cycle 19)"),
        (
            starved(),
            "starved: not done after 1417 cycles: deadlock: pipe take waits at iteration 0 for element 0 of "
            "FIFO f: no depth of a FIFO resolves it",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_faults_are_told(circuit: Circuit, text: str) -> None:
    memories, inputs = data(circuit)
    with pytest.raises(NestError) as error:
        run(circuit, memories, inputs, find=model.plain)
    assert str(error.value) == text


@pytest.mark.slow
def test_arrays_must_have_the_memories_shapes() -> None:
    circuit = circuits.one_pipe()
    memories, _ = data(circuit)
    with pytest.raises(NestError) as error:
        run(circuit, {**memories, "x": memories["x"][:, :5].astype(np.uint32)}, find=model.plain)
    assert str(error.value) == "memory x takes unsigned integers of shape (1, 32), not uint32 of shape (1, 5)"
    with pytest.raises(NestError, match=r"memory a takes unsigned integers .* not nothing"):
        run(circuit, {}, find=model.plain)


def test_checks_are_left_out_of_what_is_built() -> None:
    circuit = circuits.tokens()
    text = emit_nest(circuit, model.plain).text
    assert "debug" not in text
    assert "peak" not in text
    assert "debug_error" in emit_nest(circuit, model.plain, checks=True).text


@pytest.mark.slow
def test_without_checks_the_same() -> None:
    circuit = circuits.tokens()
    memories, _ = data(circuit)
    outcome = run(circuit, memories, find=model.plain, checks=False)
    model.compare(circuit, outcome, model.simulate(circuit, memories))
    assert outcome.peaks == {}
