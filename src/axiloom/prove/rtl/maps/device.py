"""A device under proof: machine, streams, model, and how what the model knows lies in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import z3

from axiloom.base.errors import BuildError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal.ila import Ila
from axiloom.prove.rtl.terms.machine import Machine

CONTROL = ("step", "at", "error")
"""Of the model's registers, those whose value tells what the device waits for."""
COMBINED = ("todo",)
"""Which of the opcodes that a word has combined are still to come: any of them, so no part of control."""


@dataclass(frozen=True)
class Link:
    """Bits of a register from `low` on hold `term`, where `when` holds."""

    register: str
    low: int
    term: Any
    when: Any


def element(memory: Any, number: int) -> Any:
    """Of a memory of the model."""
    return z3.Select(memory, z3.BitVecVal(number, memory.sort().domain()))


Links = Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], Iterable[Link]]
"""Control state of the model (integers), its state and the machine's registers (terms), to what must hold."""


@dataclass(frozen=True)
class Device:
    """`source`, `output`: prefixes of its streams' ports; `error`: the port that tells the model's error, or
    None for a device that does not look for any: then nothing is claimed of words after which the model
    has stopped. `multiply`: what its registers hold as the product of two elements."""

    name: str
    spec: AcceleratorSpec
    model: Ila
    machine: Machine
    sources: tuple[tuple[str, str], ...]
    links: Links
    multiply: Callable[[Any, Any], Any]
    source: str = "s_axis_"
    output: str = "m_axis_"
    reset: str = "aresetn"
    reset_active_low: bool = True
    error: str | None = None
    sizes: tuple[str, ...] = ()
    """Dims that words set: part of the control state."""
    bits: int = 32
    """Of an element."""
    clock: str = "aclk"
    ports: tuple[str, ...] = ()
    """Inputs of the Verilog, of which some may drive nothing; empty: those of ours."""
    map_text: str = ""
    """Of the file that the links are from."""
    settings: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Where the model waits for sizes (`step`), words that it accepts there."""
    limited: bool = False
    """Nothing is looked at but words of `settings` where there are some, and those that are refused."""
    rooms: Mapping[str, int] = field(default_factory=dict)
    """Elements of the model's memories that matter between words."""
    zeros: Mapping[str, str] = field(default_factory=dict)
    """Memories of the model to the flag without which they hold zeros alone."""
    settles: int = 0
    """Cycles from reset until it is at rest."""
    program: Callable[[int, Mapping[str, Any]], Iterable[Link]] = lambda _step, _model: ()
    """Step and model to what is known of the registers that say what an opcode word has still to do."""
    action_bits: int = 0
    """Of these registers, the lowest bits: they say what is under way."""

    def __post_init__(self) -> None:
        known = {self.reset} | {self.source + end for end in ("tdata", "tvalid", "tlast", "tkeep", "tstrb")}
        known |= {self.output + "tready"}
        if unknown := sorted(set(self.machine.inputs) - known):
            raise BuildError(
                f"{self.machine.top}: inputs {', '.join(unknown)}: only a clock, a reset and two "
                "streams can be driven"
            )
        for needed in (self.source + "tready", self.output + "tvalid", self.output + "tdata"):
            if needed not in self.machine.outputs:
                raise BuildError(f"{self.machine.top}: no output {needed}")
        if self.reset not in self.machine.inputs:
            raise BuildError(
                f"{self.machine.top}: no register is reset by {self.reset}: it has no first state"
            )

    def has_input(self, name: str) -> bool:
        """Does the module have an input of this name, used or not?"""
        return name in self.ports or (not self.ports and name == self.source + "tlast")

    @property
    def control(self) -> tuple[str, ...]:
        return (*CONTROL, *self.sizes)

    def linked(
        self, control: Mapping[str, int], model: Mapping[str, Any], registers: Mapping[str, Any]
    ) -> Iterator[Link]:
        """All that registers hold of the model."""
        yield from self.links(control, model, registers)
        if not control["error"]:
            yield from self.program(control["step"], model)

    @property
    def by_word(self) -> tuple[str, ...]:
        """Registers of the model whose value an opcode word may choose: of each a case of its own."""
        return (*self.control, *(name for name in COMBINED if name in self.model.states))

    @property
    def shapes(self) -> int:
        """How many sizes `settings` make, each with each."""
        return prod(map(len, self.settings.values()))

    @property
    def flags(self) -> tuple[tuple[str, ...], ...]:
        """Of the model's other registers those that matter between commands, in groups."""
        names = [name for name, term in self.model.states.items() if not z3.is_array(term)]
        groups = [
            tuple(name for name in names if name.startswith(f"{operand}_")) for operand in self.spec.operands
        ]
        groups += [tuple(name for name in names if name == one) for one in ("saved", *COMBINED)]
        return tuple(group for group in groups if group)

    def inputs(self, valid: Any, word: Any, ready: Any, *, reset: bool = False) -> dict[str, Any]:
        """The values of the machine's inputs in a cycle, those that it has."""
        values = {
            self.reset: int(reset != self.reset_active_low),
            self.source + "tvalid": valid,
            self.source + "tdata": word,
            self.source + "tlast": 0,
            self.source + "tkeep": 15,
            self.source + "tstrb": 15,
            self.output + "tready": ready,
        }
        return {name: values[name] for name in self.machine.inputs}
