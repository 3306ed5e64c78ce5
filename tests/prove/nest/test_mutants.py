"""Faults that somebody could make, and the claim that finds each."""

from dataclasses import replace

import pytest
import z3
from tests.prove.nest.programs import PRODUCT, STENCIL, made

from axiloom.hw.nest.circuit import Circuit, Pop, Push, Term, Write
from axiloom.hw.nest.delays import Delays
from axiloom.nest.accelerator import accelerator
from axiloom.nests.timing.execute import ExecutionError
from axiloom.prove import abc
from axiloom.prove.nest import circuit, datapath, order, program
from axiloom.prove.nest.recurrence import bench
from axiloom.prove.nest.terms import Meaning
from axiloom.prove.nest.verdicts import equal
from axiloom.prove.verdict import Answer

TWO_BANKS = "fission S1 i\nunroll S1 j 2\n"


def _differ(wanted, beats, sent) -> bool:
    pairs = [
        (wanted[one], term)
        for lanes, beat in zip(beats, sent, strict=True)
        for one, term in zip(lanes, beat, strict=True)
        if one is not None
    ]
    solver = z3.Solver()
    solver.add(z3.Or(*(a != b for a, b in pairs)))
    return solver.check() == z3.sat


def _with_writes(whole: Circuit, memory: str, change) -> Circuit:
    """The circuit with every write to `memory` changed."""
    pipes = tuple(
        replace(
            pipe,
            nodes=tuple(
                change(node) if isinstance(node, Write) and node.memory == memory else node
                for node in pipe.nodes
            ),
        )
        for pipe in whole.pipes
    )
    return replace(whole, pipes=pipes)


def test_a_bank_off_by_one_is_found_in_the_circuit() -> None:
    _, schedule, device = made(PRODUCT, 2, TWO_BANKS)
    memory = next(each for each in device.circuit.memories if each.banks == 2)

    def other_bank(node: Write) -> Write:
        (*rest, last) = node.bank
        value = last.value + 1
        return replace(node, bank=(*rest, Term(value, last.factor, last.divisor, 2)))

    wrong = _with_writes(device.circuit, memory.name, other_bank)
    wanted, beats = program.of_schedule(schedule), circuit.beats(device.packets[1])
    _, right = circuit.run(device.circuit, device.packets[0], Meaning.EXACT)
    assert not _differ(wanted, beats, right)
    try:
        _, sent = circuit.run(wrong, device.packets[0], Meaning.EXACT)
    except ExecutionError:
        return
    assert _differ(wanted, beats, sent)


MIXED = """
void mixed(signed char a[2], int bias[2], int c[2], signed char low[2]) {
  for (int i = 0; i < 2; i++) {
    c[i] = bias[i] + a[i];
    low[i] = c[i];
  }
}
"""


@pytest.mark.parametrize("prefix", ["s", "m"])
def test_lanes_of_a_long_element_that_are_swapped(prefix: str) -> None:
    """In the circuit, and the Verilog of that circuit is not the right one's."""
    _, schedule, device = made(MIXED, 2, width=64)
    wanted = program.of_schedule(schedule)

    def sends(one: Circuit, meaning: Meaning) -> tuple[dict, list]:
        _, sent = circuit.run(one, device.packets[0], meaning)
        return circuit.elements(device.packets[1], sent), sent

    swapped = {f"{prefix}0": f"{prefix}1", f"{prefix}1": f"{prefix}0"}
    pipes = tuple(
        replace(
            pipe,
            nodes=tuple(
                replace(node, fifo=swapped.get(node.fifo, node.fifo))
                if isinstance(node, Pop | Push)
                else node
                for node in pipe.nodes
            ),
        )
        for pipe in device.circuit.pipes
    )
    wrong = replace(device.circuit, pipes=pipes)
    for one, answer in ((device.circuit, Answer.HOLDS), (wrong, Answer.VIOLATED)):
        got, _ = sends(one, Meaning.EXACT)
        assert equal([(place, term, got[place]) for place, term in wanted.items()], 10)[0] is answer
    words = circuit.words(device.packets[0])
    machine = datapath.machine(device.verilog())
    assert datapath.explore(machine, words, sends(device.circuit, Meaning.OPAQUE)[1], 1, 60).waits == 1
    with pytest.raises(datapath.WrongError, match="beat 0"):
        datapath.explore(machine, words, sends(wrong, Meaning.OPAQUE)[1], 0, 60)


def test_a_memory_that_is_free_too_early_is_found_by_the_order() -> None:
    """One token more than there are blocks of room: words come in over those that are still read."""
    _, _, device = made(PRODUCT, 4)
    run, _ = circuit.run(device.circuit, device.packets[0], Meaning.EXACT)
    assert not order.check(device.circuit, run).faults
    fifos = tuple(
        replace(each, initial=each.initial + 1, depth=each.depth + 1) if each.initial else each
        for each in device.circuit.fifos
    )
    assert fifos != device.circuit.fifos
    wrong = replace(device.circuit, fifos=fifos)
    run, _ = circuit.run(wrong, device.packets[0], Meaning.EXACT)
    assert any("A bank 0" in fault for fault in order.check(wrong, run).faults)


def test_loops_in_a_wrong_order_are_found_in_the_schedule_and_in_the_circuit() -> None:
    """t inside i: what a lowering would make that forgets the dependences."""
    source, right, device = made(STENCIL, 4)
    placed = tuple(
        replace(each, order=(each.order[2], each.order[3], 0, each.order[1], *each.order[4:]))
        for each in right.statements
    )
    wrong = replace(right, statements=placed)
    written, swapped = program.of_program(source), program.of_schedule(wrong)
    assert not all(written[one].eq(term) for one, term in swapped.items())
    assert all(written[one].eq(term) for one, term in program.of_schedule(right).items())
    _, sent = circuit.run(accelerator(wrong, 32).circuit, device.packets[0], Meaning.EXACT)
    assert _differ(program.of_schedule(right), circuit.beats(device.packets[1]), sent)


@pytest.mark.slow
def test_a_delay_line_that_is_too_short_is_found_in_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, device = made(PRODUCT, 2)
    words = circuit.words(device.packets[0])
    _, expected = circuit.run(device.circuit, device.packets[0], Meaning.OPAQUE)
    explored = datapath.explore(datapath.machine(device.verilog()), words, expected, 0, 600)
    assert explored.waits == 0
    after = Delays.after

    def short(self, key, name, value, cycles):
        return after(self, key, name, value, cycles - (cycles > 1 and key[0] == "place"))

    monkeypatch.setattr(Delays, "after", short)
    with pytest.raises(datapath.WrongError, match="beat"):
        datapath.explore(datapath.machine(device.verilog()), words, expected, 0, 600)


@pytest.mark.slow
def test_a_fifo_that_is_one_place_short_is_found_in_the_control() -> None:
    """TREADY comes later than the circuit's recurrence says."""
    _, _, device = made(PRODUCT, 2)
    fifos = tuple(
        replace(each, depth=each.depth - 1) if each.name == "s0" else each for each in device.circuit.fifos
    )
    short = replace(device.circuit, fifos=fifos)
    for built, good in ((device.circuit, True), (short, False)):
        design, sources = bench(device.circuit, device.find, built)
        asked = {"places_s0", "ready"}
        design.properties = [one for one in design.properties if one.name in asked]
        verdicts = [one for one, _ in abc.prove("product", design, sources=sources, limit_s=20)]
        assert len(verdicts) == 2
        assert all((one.answer is Answer.HOLDS) is good for one in verdicts)
        assert good or all(one.answer is Answer.VIOLATED for one in verdicts)
