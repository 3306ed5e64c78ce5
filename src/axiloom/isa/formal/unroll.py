"""Sequences of instructions as terms: what the state is after them, from what it was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import z3

from axiloom.isa.formal.ila import Ila, ModelError, Term


@dataclass(frozen=True)
class Path:
    """After a sequence: the state's terms, and what must hold for the sequence to be the one that happens."""

    state: Mapping[str, Term]
    conditions: tuple[z3.BoolRef, ...]


class Unroller:
    """Unrolls `model`; names of fresh constants end in `suffix`, so that two can be told apart."""

    def __init__(self, model: Ila, suffix: str = "") -> None:
        self.model, self.suffix = model, suffix
        self._by_path = {one.path.removeprefix(f"{model.name}."): one for one in model.everything()}

    def start(self, *, reset: bool = False) -> dict[str, Term]:
        """Any state, or one that reset leaves."""
        state: dict[str, Term] = {}
        for name, term in self.model.states.items():
            if reset and name in self.model.init:
                state[name] = z3.BitVecVal(self.model.init[name], term.sort())
            else:
                state[name] = z3.Const(f"{name}{self.suffix}@0", term.sort())
        return state

    def path(
        self,
        sequence: Sequence[str],
        inputs: Sequence[Mapping[str, int | Term]] | None = None,
        start: Mapping[str, Term] | None = None,
    ) -> Path:
        """The state after the instructions of these names (``load``, ``program.step``).

        `inputs` are the values of each step's inputs; what they leave out is free. Values that are known
        fold, so that with known sizes the addresses are numbers. Raises ModelError where an instruction
        cannot be enabled.
        """
        state = dict(start or self.start())
        conditions: list[z3.BoolRef] = []
        for number, name in enumerate(sequence):
            instruction = self._by_path[name]
            known = inputs[number] if inputs else {}
            pairs = [(self.model.states[own], term) for own, term in state.items()]
            for own, term in self.model.inputs.items():
                value = known.get(own)
                if value is None:
                    value = z3.Const(f"{own}{self.suffix}@{number}", term.sort())
                elif isinstance(value, int):
                    value = z3.BitVecVal(value, term.sort())
                pairs.append((term, value))
            enabled = z3.simplify(z3.substitute(instruction.decode, *pairs))
            if z3.is_false(enabled):
                raise ModelError(f"step {number}: {name} is not enabled")
            if not z3.is_true(enabled):
                conditions.append(enabled)
            new = {own: z3.simplify(z3.substitute(term, *pairs)) for own, term in instruction.updates.items()}
            state |= new
        return Path(state, tuple(conditions))
