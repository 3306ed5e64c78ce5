"""Cycles against a machine that goes cycle by cycle, and against formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, settings
from tests.nest.circuits import counter
from tests.nests.timing.circuits import ALWAYS, circuits, equals, form, loops, pipe

from axiloom.hw.nest.circuit import Circuit, Constant, Fifo, Pop, Port, Push
from axiloom.nests import timing
from axiloom.nests.timing import DeadlockError, Rate
from axiloom.nests.timing.events import tracks
from axiloom.nests.timing.execute import ExecutionError, execute
from axiloom.nests.timing.solver import event_by_event, without_places


def never(*_: object) -> int:
    raise AssertionError("no operations here")


def run(circuit: Circuit, rates: dict[str, Rate] | None = None):
    return execute(circuit, {}, never, {p.fifo: list(range(p.elements)) for p in circuit.inputs}, rates)


@given(circuits())
@settings(max_examples=150, deadline=None)
def test_equals_a_machine_that_goes_cycle_by_cycle(circuit: Circuit) -> None:
    rates = {port.fifo: Rate(2, 3) for port in circuit.inputs[:1]}
    try:
        found = timing.cycles(circuit, rates)
    except DeadlockError as error:
        event("deadlock")
        with pytest.raises(ExecutionError, match="has not ended"):
            run(circuit, rates)
        for fifos, depth in error.depths.items():
            timing.cycles(deeper(circuit, *fifos, depth=depth), rates)
            with pytest.raises(DeadlockError):
                timing.cycles(deeper(circuit, *fifos, depth=depth - 1), rates)
        return
    event("ends")
    seen = run(circuit, rates)
    assert found.cycles == seen.cycles
    assert found.largest == seen.largest
    for name, issued in seen.issues.items():
        assert found.issue_times(name).tolist() == issued


def deeper(circuit: Circuit, *fifos: str, depth: int) -> Circuit:
    return replace(
        circuit, fifos=tuple(replace(f, depth=depth) if f.name in fifos else f for f in circuit.fifos)
    )


@given(circuits())
@settings(max_examples=80, deadline=None)
def test_both_solvers_agree_where_no_place_is_waited_for(circuit: Circuit) -> None:
    found = tracks(circuit)
    quick = without_places(found, circuit.fifos)
    if quick is None:
        event("circular")
        return
    slow = event_by_event(found, circuit.fifos, places=False)
    for one, other in zip(quick, slow, strict=True):
        assert np.array_equal(one.base, other.base)
        assert one.stalls == other.stalls


def test_a_pipe_alone_takes_what_the_formula_says() -> None:
    alone = pipe("p", loops(5, 7), (Constant(0, 8, 9),), interval=3)
    assert timing.cycles(Circuit("c", (alone,), ())).cycles == 34 * 3 + 1 + 9


def test_triangles_count_what_they_have() -> None:
    shape = (counter("i", 0, 9), counter("j", 0, form("i"), (0, 9)))
    assert timing.cycles(Circuit("c", (pipe("p", shape, (Constant(0, 8),)),), ())).cycles == 55


def test_a_count_of_iterations_that_is_not_so_is_refused() -> None:
    wrong = replace(pipe("p", loops(5), (Constant(0, 8),)), iterations=6)
    with pytest.raises(ValueError, match="pipe p counts 5 iterations, and says 6"):
        timing.cycles(Circuit("c", (wrong,), ()))


def pair(depth: int, slot: int = 4, popped: int = 8) -> Circuit:
    """A pipe that pushes 8 elements, a cycle each, and one that pops each in its own iteration."""
    producer = pipe("a", loops(8), (Constant(1, 8, slot), Push("f", 0, ALWAYS, slot)))
    consumer = pipe("b", loops(popped), (Pop("f", ALWAYS), Constant(0, 8, 2)))
    return Circuit("pair", (producer, consumer), (), (Fifo("f", 8, depth),))


def test_stalls_have_a_cause_and_a_size() -> None:
    free = timing.cycles(pair(100))
    assert free.cycles == 1 + 5 + 7 + 2
    assert free.stalls == {"a": {}, "b": {("f", "empty"): 5}}
    assert free.largest == {"f": 6}  # 4 under way, 1 waits, and 1 is given back a cycle later
    assert timing.cycles(pair(6)).cycles == free.cycles
    tight = timing.cycles(pair(5))
    assert tight.stalls["a"] == {("f", "full"): 1}
    assert tight.cycles == free.cycles + 1


def test_occupancy_is_a_step_function() -> None:
    steps = timing.cycles(pair(100, slot=0)).occupancy("f")
    assert steps.cycles.tolist() == [0, 1, 2, 9, 10]
    assert steps.taken.tolist() == [0, 1, 2, 1, 0]


def test_an_element_that_never_comes_is_a_deadlock_that_no_depth_resolves() -> None:
    with pytest.raises(DeadlockError) as caught:
        timing.cycles(pair(8, popped=9))
    assert str(caught.value) == (
        "deadlock: pipe b waits at iteration 8 for element 8 of FIFO f: no depth of a FIFO resolves it"
    )


def fork(depth: int) -> Circuit:
    """Elements go to b at once, and to c, which first waits for all that b makes of them."""
    a = pipe("a", loops(6), (Constant(0, 8), Push("short", 0, ALWAYS, 0), Push("long", 0, ALWAYS, 0)))
    b = pipe("b", loops(6), (Pop("short", ALWAYS), Push("end", None, equals("i0", 5), 3)))
    c = pipe("c", loops(6), (Pop("end", equals("i0", 0)), Pop("long", ALWAYS), Constant(0, 8)))
    fifos = (Fifo("short", 8, 2), Fifo("long", 8, depth), Fifo("end", 0, 1))
    return Circuit("fork", (a, b, c), (), fifos)


def test_a_deadlock_names_who_waits_for_whom_and_the_smallest_depth() -> None:
    with pytest.raises(DeadlockError) as caught:
        timing.cycles(fork(4))
    assert str(caught.value) == (
        "deadlock: pipe a waits at iteration 4 for a place in FIFO long (depth 4, 4 pushed); pipe c waits at "
        "iteration 0 for element 0 of FIFO end; pipe b waits at iteration 4 for element 4 of FIFO short: "
        "a depth of 6 of long resolves it"
    )
    assert timing.cycles(fork(6)).largest["long"] == 6


def test_streams_pass_at_their_rate() -> None:
    consumer = pipe("p", loops(10), (Pop("in", ALWAYS), Push("out", 0, ALWAYS, 1)))
    fifos = (Fifo("in", 8, 2), Fifo("out", 8, 4))
    circuit = Circuit("c", (consumer,), (), fifos, (Port("in", 10),), (Port("out", 10),))
    assert timing.cycles(circuit).cycles == 1 + 1 + 9 + 1
    slow = timing.cycles(circuit, {"in": Rate(1, 4)})
    assert slow.cycles == 1 + 1 + 9 * 4 + 1
    assert slow.stalls["p"] == {("in", "empty"): 28}
    assert run(circuit, {"in": Rate(1, 4)}).outputs["out"] == list(range(10))


def test_pushes_whose_order_depends_on_stalls_are_refused() -> None:
    late = pipe(
        "p",
        loops(4),
        (Constant(0, 8), Push("f", 0, equals("i0", 0), 5), Push("f", 0, (form("i0", -1),), 1)),
    )
    with pytest.raises(ValueError, match="the push of iteration 0 of pipe p to FIFO f may come after"):
        timing.cycles(Circuit("c", (late,), (), (Fifo("f", 8, 4),)))
