"""Modules of a machine taken out: each becomes a function without a meaning, as many cycles late as it is.

So two values are the same term only if the RTL brings the same operands to the same modules, in one order.
What the modules compute is shown by their own tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from axiloom.base.errors import BuildError
from axiloom.prove.rtl.terms.machine import CUT, Machine


@dataclass(frozen=True)
class Part:
    """A module that is taken out: ports of its `operands` with their bits, its port `result` of `bits`, its
    `latency` in cycles, and `value`: terms of its operands to the result's."""

    operands: Mapping[str, int]
    result: str
    bits: int
    latency: int
    value: Callable[[Sequence[Any]], Any]


def without(text: str, name: str, part: Part) -> str:
    """The Verilog with nothing in module `name`: its operands are seen, its result is anything."""
    begin = re.search(rf"^module {re.escape(name)} \(", text, re.MULTILINE)
    if begin is None:
        raise BuildError(f"there is no module {name}")
    end = text.index("endmodule", begin.start()) + len("endmodule")
    ports = "".join(f", input [{bits - 1}:0] {port}" for port, bits in part.operands.items())
    wires = [
        f"(* keep *) wire [{bits - 1}:0] {CUT}{name}_{port} = {port};" for port, bits in part.operands.items()
    ]
    result, highest = f"{CUT}{name}_{part.result}", part.bits - 1
    wires.append(f"(* keep *) wire [{highest}:0] {result} = $anyseq;\nassign {part.result} = {result};")
    head = f"module {name} (input aclk, input aresetn{ports}, output [{highest}:0] {part.result});"
    return text[: begin.start()] + "\n".join([head, *wires, "endmodule"]) + text[end:]


def with_functions(machine: Machine, parts: Mapping[str, Part]) -> Machine:
    """The machine of a Verilog without modules `parts`, with their functions in their place, and registers
    for who waits behind them: ``place.stage1``, ..."""
    registers, following = dict(machine.registers), dict(machine.following)
    outputs = {name: term for name, term in machine.outputs.items() if f".{CUT}" not in name}
    at_once: list[tuple[Any, Any]] = []
    for name, result in machine.outputs.items():
        place, _, wire = name.rpartition(".")
        own = _named(wire, parts)
        if own is None:
            continue
        part = parts[own]
        operands = [machine.outputs[f"{place}.{CUT}{own}_{port}"] for port in part.operands]
        value = part.value(operands)
        for stage in range(1, part.latency + 1):
            register = z3.BitVec(f"{place}.stage{stage}", result.size())
            registers[f"{place}.stage{stage}"], following[f"{place}.stage{stage}"] = register, value
            value = register
        at_once.append((result, value))
    free = [name for name, term in machine.inputs.items() if any(term.eq(one) for one, _ in at_once)]
    for _ in at_once:  # one without a register may hang on another one
        now = [(one, z3.substitute(value, *at_once)) for one, value in at_once]
        if all(a.eq(b) for (_, a), (_, b) in zip(now, at_once, strict=True)):
            break
        at_once = now
    else:
        if at_once:
            raise BuildError(f"{machine.top}: operators hang on each other in a circle")
    if at_once:
        following = {name: z3.substitute(term, *at_once) for name, term in following.items()}
        outputs = {name: z3.substitute(term, *at_once) for name, term in outputs.items()}
    inputs = {name: term for name, term in machine.inputs.items() if name not in free}
    return replace(machine, registers=registers, following=following, outputs=outputs, inputs=inputs)


def _named(wire: str, parts: Mapping[str, Part]) -> str | None:
    """The part whose result this wire is."""
    return next((name for name, part in parts.items() if wire == f"{CUT}{name}_{part.result}"), None)
