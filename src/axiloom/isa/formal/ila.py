"""An instruction-level abstraction (ILA): typed state, inputs, and instructions that update the state.

An instruction is enabled where its decode holds, and gives states their next values, all from the values
before it; states that it does not name keep theirs. A command that runs a program has a child: a model on
the same state whose instructions are the program's steps, enabled while it is valid.

The terms are z3's, so that one model is simulated, unrolled and proved. Numerics that nobody wants to prove
are functions: uninterpreted for the prover, with an implementation for the simulator.

The concept is Huang et al., "Instruction-Level Abstraction (ILA)", TODAES 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

Term: TypeAlias = "z3.ExprRef"


def filled(sort: z3.SortRef, value: int) -> Term:
    """The value in a register, or in each element of a memory."""
    if isinstance(sort, z3.ArraySortRef):
        return z3.K(sort.domain(), z3.BitVecVal(value, sort.range()))
    return z3.BitVecVal(value, sort)


class ModelError(ValueError):
    """Why something is no model: a name twice, an update of another sort."""


@dataclass(frozen=True)
class Instruction:
    """One step: `decode` says when, `updates` what of the state is new."""

    model: str
    name: str
    decode: z3.BoolRef
    updates: Mapping[str, Term]
    text: str = ""
    """What it does, for its page of documentation."""

    @property
    def path(self) -> str:
        return f"{self.model}.{self.name}"


class Ila:
    """A model, or the child of one: children share state, inputs and functions with their parent.

    Attributes: `name`; `valid`, where commands are accepted (of a child: where it runs); `states`, `inputs`
    by name; `init`, the values that reset gives (states without one keep any); `functions` to their
    implementations on Python integers; `instructions`; `children`; `invariants`, what holds in every state
    that is reached; `lemmas`, what holds whatever the state is: of layouts; `measures`, what a program's
    steps make smaller (of the parent: what all of them do).
    """

    def __init__(self, name: str, parent: Ila | None = None, valid: z3.BoolRef | None = None) -> None:
        self.name = name
        self.parent = parent
        self.valid: z3.BoolRef = z3.BoolVal(True) if valid is None else valid
        self.instructions: list[Instruction] = []
        self.children: list[Ila] = []
        self.states: dict[str, Term] = {} if parent is None else parent.states
        self.inputs: dict[str, Term] = {} if parent is None else parent.inputs
        self.init: dict[str, int] = {} if parent is None else parent.init
        self.functions: dict[str, Callable[..., int]] = {} if parent is None else parent.functions
        self.invariants: dict[str, z3.BoolRef] = {} if parent is None else parent.invariants
        self.lemmas: dict[str, z3.BoolRef] = {} if parent is None else parent.lemmas
        self.measures: list[z3.BitVecRef] = []

    def register(self, name: str, bits: int, init: int | None = 0) -> z3.BitVecRef:
        """A state of `bits` bits, with its value after reset."""
        state: z3.BitVecRef = self._state(name, z3.BitVec(name, bits))
        if init is not None:
            self.init[name] = init
        return state

    def memory(self, name: str, address_bits: int, data_bits: int, init: int | None = None) -> z3.ArrayRef:
        """A state with an element for each address, with what reset writes to each; None: it writes none."""
        sorts = z3.BitVecSort(address_bits), z3.BitVecSort(data_bits)
        state: z3.ArrayRef = self._state(name, z3.Array(name, *sorts))
        if init is not None:
            self.init[name] = init
        return state

    def reset(self) -> dict[str, Term]:
        """The values that reset gives, by state."""
        return {name: filled(self.states[name].sort(), value) for name, value in self.init.items()}

    def input(self, name: str, bits: int) -> z3.BitVecRef:
        """What comes with a command: a word, an address."""
        self._new(name)
        self.inputs[name] = z3.BitVec(name, bits)
        value: z3.BitVecRef = self.inputs[name]
        return value

    def function(self, name: str, *bits: int, python: Callable[..., int]) -> z3.FuncDeclRef:
        """A function of bit vectors, the last of `bits` its result's: uninterpreted, or `python`."""
        self._new(name)
        self.functions[name] = python
        return z3.Function(name, *map(z3.BitVecSort, bits))

    def child(self, name: str, valid: z3.BoolRef) -> Ila:
        """The program that a command starts, whose steps are enabled while `valid`."""
        ila = Ila(f"{self.name}.{name}", self, valid)
        self.children.append(ila)
        return ila

    def instruction(
        self, name: str, decode: z3.BoolRef, updates: Mapping[Any, Any], text: str = ""
    ) -> Instruction:
        """Add one. `updates`: state (the term) to its new value, of the same sort; integers fit in."""
        new: dict[str, Term] = {}
        for state, value in updates.items():
            own = state.decl().name()
            if own not in self.states:
                raise ModelError(f"{self.name}.{name}: {own} is no state")
            term = z3.BitVecVal(value, state.sort()) if isinstance(value, int) else value
            if term.sort() != state.sort():
                raise ModelError(f"{self.name}.{name}: {own} is {state.sort()}, its update {term.sort()}")
            new[own] = term
        made = Instruction(self.name, name, z3.And(self.valid, decode), new, text)
        if any(instruction.name == name for instruction in self.instructions):
            raise ModelError(f"{self.name}: two instructions {name}")
        self.instructions.append(made)
        return made

    def everything(self) -> Iterator[Instruction]:
        """Its instructions and those of its children, in order."""
        yield from self.instructions
        for child in self.children:
            yield from child.everything()

    def models(self) -> Iterator[Ila]:
        """This model and all below it."""
        yield self
        for child in self.children:
            yield from child.models()

    def _state(self, name: str, term: Any) -> Any:
        self._new(name)
        self.states[name] = term
        return term

    def _new(self, name: str) -> None:
        if name in self.states or name in self.inputs or name in self.functions:
            raise ModelError(f"{self.name}: two things are called {name}")
