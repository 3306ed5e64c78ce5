"""The Verilog of a nest on terms: what it sends, for words that may be anything, as its streams wait.

It is the text that users get. Its operators' modules are taken out: each becomes a function without a
meaning, as many cycles late as the operator is, so that two values are the same term only if the RTL brings
the same operands to the same operators. Control has values, data are terms.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.base.errors import BuildError
from axiloom.hw.nest.units import INPUTS, Built
from axiloom.hw.verilog.nest import NestVerilog
from axiloom.prove.nest.terms import Meaning, operate
from axiloom.prove.rtl.terms.cut import Part, with_functions, without
from axiloom.prove.rtl.terms.machine import Machine, State, read

MOST_BITS = 1 << 16
"""Of registers and memories together."""
Lanes = Sequence[Any]
"""Of a beat, the lowest first; None: anything."""


class WrongError(Exception):
    """A beat that is not the circuit's; the message says which, and after which waits."""


@dataclass(frozen=True)
class Explored:
    """Each run with at most so many `waits` was looked at, in so many `states`."""

    waits: int
    states: int


def machine(verilog: NestVerilog) -> Machine:
    """The registers of `verilog`, and those of its operators: a function, and who waits behind it."""
    text, parts = verilog.text, {name: _part(built) for name, built in verilog.built.items()}
    for name, part in parts.items():
        text = without(text, name, part)
    machine = read(((f"{verilog.top}.v", text),), verilog.top)
    size = sum(term.size() for term in machine.registers.values() if z3.is_bv(term))
    if size > MOST_BITS:
        raise BuildError(f"{verilog.top} has {size:,} bits of registers and memories; {MOST_BITS:,} at most")
    return with_functions(machine, parts)


def _part(built: Built) -> Part:
    operator, widths, bits = built

    def value(operands: Sequence[Any]) -> Any:
        return operate(operator.name, operator.number, operator.result, operands, Meaning.OPAQUE)

    ports = {INPUTS[i]: width for i, width in enumerate(widths)}
    return Part(ports, "y", bits, operator.latency, value)


@dataclass(eq=False)
class _Node:
    registers: State
    taken: int
    sent: int
    waits: tuple[str, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return (*(term.get_id() for term in self.registers.values()), self.taken, self.sent)


def explore(
    device: Machine, words: Sequence[Lanes], expected: Sequence[Lanes], most: int, limit_s: float
) -> Explored:
    """From reset: all runs in which at most `most` cycles pass in which a stream waits, those with the fewest
    first, until `limit_s` are over. Raises WrongError; BuildError if control depends on data."""
    step = device.stepper()
    until = time.perf_counter() + limit_s
    registers, _ = step(device.registers, _inputs(device, 0, 0, None, 0))
    first = _Node(registers, 0, 0, ())
    known, states, longest = {first.key: 0}, 0, 0
    alive = [first]  # whose terms' numbers are in `known`
    levels: list[deque[_Node]] = [deque([first]), *(deque[_Node]() for _ in range(most))]
    for waits, level in enumerate(levels):
        while level:
            node = level.popleft()
            if node.sent == len(expected) or known[node.key] < waits:
                continue
            states += 1
            if time.perf_counter() > until:
                return Explored(waits - 1, states)
            offers = (1, 0) if node.taken < len(words) else (0,)
            for valid in offers:
                for ready in (1, 0):
                    after = _after(device, step, node, valid, ready, offers, words, expected)
                    at = len(after.waits)
                    if at <= most and at < known.get(after.key, most + 1):
                        known[after.key] = at
                        alive.append(after)
                        levels[at].append(after)
                    longest = max(longest, after.sent)
        if longest < len(expected):
            raise WrongError(f"it stops after {longest} of {len(expected)} beats")
    return Explored(most, states)


def _inputs(device: Machine, runs: int, valid: int, word: Any, ready: int) -> State:
    values = {"aresetn": runs, "s_axis_tvalid": valid, "m_axis_tready": ready}
    state: State = {}
    for name, term in device.inputs.items():
        if name in values:
            state[name] = z3.BitVecVal(values[name], 1)
        elif name == "s_axis_tdata" and word is not None:
            state[name] = word
        else:
            state[name] = term
    return state


def _after(
    device: Machine,
    step: Any,
    node: _Node,
    valid: int,
    ready: int,
    offers: Sequence[int],
    words: Sequence[Lanes],
    expected: Sequence[Lanes],
) -> _Node:
    word = z3.Concat(*reversed(words[node.taken])) if valid and len(words[node.taken]) > 1 else None
    if valid and word is None:
        word = words[node.taken][0]
    after, out = step(node.registers, _inputs(device, 1, valid, word, ready))
    takes, sends = (_known(device, out, name) for name in ("s_axis_tready", "m_axis_tvalid"))
    waits = list(node.waits)
    if len(offers) > 1 and not valid:
        waits.append(f"word {node.taken}")
    if sends and not ready:
        waits.append(f"beat {node.sent}")
    if sends and ready:
        _compare(out, expected, node.sent, _known(device, out, "m_axis_tlast"), waits)
    return _Node(after, node.taken + (valid & takes), node.sent + (sends & ready), tuple(waits))


def _known(device: Machine, out: State, name: str) -> int:
    term = out[name]
    if not z3.is_bv_value(term):
        raise BuildError(f"{device.top}: {name} depends on data: {z3.simplify(term)}"[:200])
    return int(term.as_long())


def _compare(out: State, expected: Sequence[Lanes], number: int, last: int, waits: Sequence[str]) -> None:
    where = f"beat {number}" + (f", after waits at {', '.join(waits)}" if waits else "")
    if last != (number == len(expected) - 1):
        raise WrongError(f"{where}: TLAST is {last}")
    at = 0
    for lane, want in enumerate(expected[number]):
        data = z3.Extract(at + want.size() - 1, at, out["m_axis_tdata"])
        at += want.size()
        if not z3.is_true(z3.simplify(data == want)):
            raise WrongError(f"{where}, lane {lane}: {z3.simplify(data)}, not {z3.simplify(want)}"[:400])
