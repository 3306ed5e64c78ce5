"""All claims about a nest, from the program as it was written to its Verilog, as verdicts.

``schedule``: the scheduled program computes what the program does. ``circuit``: what the circuit sends is
what the scheduled program computes. ``order``: however long the streams wait, accesses keep their order.
``issue``, ``iteration``, ``check`` and others (:mod:`axiloom.prove.nest.recurrence`): the RTL issues as the
circuit does, and none of its checks fails. ``data``: the Verilog sends what the circuit sends. Covers:
``depends`` (results depend on data), ``passes`` (the RTL takes some).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import z3

from axiloom.base.errors import BuildError
from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.sound import Claim
from axiloom.nest.accelerator import Accelerator
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import ExecutionError, Run
from axiloom.prove import abc, solvers
from axiloom.prove.nest import circuit, datapath, order, program
from axiloom.prove.nest.program import Element
from axiloom.prove.nest.recurrence import bench
from axiloom.prove.nest.terms import Meaning, Term
from axiloom.prove.spec import decided
from axiloom.prove.verdict import Answer, Verdict

MOST_TABLE = 1200
"""Iterations of a pipe whose control is proved by tables of them."""
Say = Callable[[Verdict], None]
Same = tuple[Answer, str, str, str]
"""An answer, who says so, a text in its place, and who certifies it."""


def prove(
    source: Program, schedule: Schedule, accelerator: Accelerator, *, limit_s: int, waits: int, say: Say
) -> list[Verdict]:
    """`accelerator` is the accelerator of `schedule`, which is one of `source`."""
    verdicts = []
    for verdict in _claims(source, schedule, accelerator, limit_s, waits):
        say(verdict)
        verdicts.append(verdict)
    return verdicts


def _claims(
    source: Program, schedule: Schedule, accelerator: Accelerator, limit_s: int, waits: int
) -> Iterator[Verdict]:
    name = source.name
    wanted = program.of_schedule(schedule)
    yield from _schedule(name, source, schedule, wanted, limit_s)
    yield from _covers(name, wanted, limit_s)
    begun = time.perf_counter()
    try:
        run, sent = circuit.run(accelerator.circuit, accelerator.packets[0], Meaning.EXACT)
    except ExecutionError as error:
        yield _verdict(name, "", "circuit", str(error), Answer.VIOLATED, "execution", begun)
        return
    got = circuit.elements(accelerator.packets[1], sent)
    text = "is what the circuit sends"
    yield from _arrays(name, "circuit", text, wanted, got, limit_s, begun)
    yield _order(name, accelerator, run)
    yield from _control(name, accelerator, limit_s)
    yield _data(name, accelerator, waits, limit_s)


def _schedule(
    name: str, source: Program, schedule: Schedule, wanted: Mapping[Element, Term], limit_s: int
) -> Iterator[Verdict]:
    begun = time.perf_counter()
    text = "is what the program as it was written computes"
    written = program.of_program(source)
    if any("rounding" in line and "changes" in line for line in schedule.log):
        real = (program.of_program(source, Meaning.REAL), program.of_schedule(schedule, Meaning.REAL))
        text += ", as real numbers: the schedule says rounding=changes"
        yield from _arrays(name, "schedule", text, *real, limit_s, begun)
    else:
        yield from _arrays(name, "schedule", text, written, wanted, limit_s, begun)


def _arrays(
    name: str,
    claim: str,
    text: str,
    wanted: Mapping[Element, Term],
    got: Mapping[Element, Term],
    limit_s: int,
    begun: float,
) -> Iterator[Verdict]:
    """A verdict for each array."""
    for array in dict.fromkeys(array for array, _ in wanted):
        pairs = [(element, term, got[element]) for element, term in wanted.items() if element[0] == array]
        answer, solver, fault, certified = equal(pairs, limit_s)
        yield _verdict(
            name, array, claim, f"{array} {text}{fault}", answer, solver, begun, certified=certified
        )
        begun = time.perf_counter()


def equal(pairs: list[tuple[Element, Term, Term]], limit_s: int) -> Same:
    left: list[tuple[Element, Any]] = []
    same: list[tuple[Term, Term]] = []
    for element, a, b in pairs:
        if a.eq(b) or z3.is_true(z3.simplify(a == b)) or z3.is_true(z3.simplify(a - b == 0, som=True)):
            same.append((a, b))
        else:
            left.append((element, a == b))
    if left and z3.is_real(left[0][1].arg(0)):
        return Answer.OPEN, "z3, other terms", f": open at {left[0][0]}", ""
    proofs = [solvers.rewritten(same)]
    formulas = [formula for _, formula in left]
    for (element, _), said in zip(left, solvers.decide(formulas, limit_s), strict=True):
        if not said.holds:
            answer = Answer.OPEN if said.holds is None else Answer.VIOLATED
            return answer, said.solver, f": not so for {element[0]}{list(element[1])}", ""
        proofs.append(said)
    if not proofs[0].holds:
        return Answer.OPEN, proofs[0].solver, ": solvers say the contrary", ""
    solver = proofs[-1].solver if left else "z3, same terms"
    return Answer.HOLDS, solver, "", solvers.all_certified(proofs)


def _covers(name: str, wanted: Mapping[Element, Term], limit_s: int) -> Iterator[Verdict]:
    """That each array is another one for other data. A constant one is a fact about the program, no fault."""
    for array in dict.fromkeys(array for array, _ in wanted):
        never = z3.BoolVal(True)
        for term in (z3.simplify(term) for (own, _), term in wanted.items() if own == array):
            leaves = filter(z3.is_const, postorder([term]))
            data = [leaf for leaf in leaves if leaf.decl().kind() == z3.Z3_OP_UNINTERPRETED]
            if data:
                other = [(leaf, z3.FreshConst(leaf.sort(), "other")) for leaf in data]
                never = term == z3.substitute(term, *other)
                break
        claim = Claim("depends", f"{array} is another one for other data", never, cover=True)
        for verdict in decided(name, [claim], limit_s):
            yield replace(verdict, port=array, needed=False)


def _order(name: str, accelerator: Accelerator, run: Run) -> Verdict:
    begun = time.perf_counter()
    text = "accesses to a place of a memory keep their order, and those to a port are apart, at any speed"
    try:
        ordered = order.check(accelerator.circuit, run)
    except order.TooLargeError as error:
        return _verdict(name, "", "order", f"{text}: {error}", Answer.OPEN, "", begun)
    answer = Answer.VIOLATED if ordered.faults else Answer.HOLDS
    fault = f": not for {ordered.faults[0]}" if ordered.faults else f" ({ordered.pairs:,} pairs)"
    return _verdict(name, "", "order", text + fault, answer, "longest chains", begun)


def _control(name: str, accelerator: Accelerator, limit_s: int) -> Iterator[Verdict]:
    longest = max(pipe.iterations for pipe in accelerator.circuit.pipes)
    if longest > MOST_TABLE:
        text = f"the RTL's control: {longest:,} iterations; {MOST_TABLE:,} at most are put in tables"
        yield _verdict(name, "", "control", text, Answer.OPEN, "", time.perf_counter())
        return
    design, sources = bench(accelerator.circuit, accelerator.find)
    for verdict, _ in abc.prove(name, design, sources=sources, limit_s=limit_s):
        yield verdict


def _data(name: str, accelerator: Accelerator, waits: int, limit_s: int) -> Verdict:
    begun = time.perf_counter()
    text = "the Verilog sends what the circuit sends, from reset, with streams that wait"
    try:
        device = datapath.machine(accelerator.verilog())
        _, expected = circuit.run(accelerator.circuit, accelerator.packets[0], Meaning.OPAQUE)
        words = circuit.words(accelerator.packets[0])
        explored = datapath.explore(device, words, expected, waits, 10 * limit_s)
    except datapath.WrongError as error:
        return _verdict(name, "", "data", f"{text}: {error}", Answer.VIOLATED, "z3", begun)
    except BuildError as error:
        return _verdict(name, "", "data", f"{text}: {error}", Answer.OPEN, "z3", begun)
    if explored.waits < 0:
        return _verdict(name, "", "data", f"{text}: not in {10 * limit_s} s", Answer.OPEN, "z3", begun)
    text += f" ({explored.states:,} states)"
    return _verdict(name, "", "data", text, Answer.HOLDS, "z3, same terms", begun, explored.waits, "waits")


def _verdict(
    name: str,
    port: str,
    claim: str,
    text: str,
    answer: Answer,
    solver: str,
    begun: float,
    bound: int | None = None,
    unit: str = "cycles",
    certified: str = "",
) -> Verdict:
    seconds = time.perf_counter() - begun
    return Verdict(
        name, port, claim, text, "", answer, bound, solver, seconds, unit=unit, certified=certified
    )
