"""What a text does of a command, on terms: fields are numbers, memories and what the host gives are any."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any

import z3

from axiloom.isa.formal import symbolic
from axiloom.isa.formal.programs import model_of
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.texts.drawn import MOST_STEPS, Case, Does

TRIED_STEPS = 4 * MOST_STEPS
"""After so many, a command that is tried is a long one."""


class Text:
    """`isa`, whose memories of the RTL are `stored`.

    Attributes: `drawn`, memories that addresses come from, to their numbers: on terms a place must be known.
    """

    def __init__(self, isa: InstructionSet, stored: Collection[str]) -> None:
        self.isa, self.model = isa, model_of(isa).ila
        self._apart = symbolic.Steps(self.model)
        self.drawn: dict[str, list[Any]] = {}
        self._single = [name for name in stored if len(isa.memories[name].shape) == 1]

    def element(self, memory: str, address: int) -> Any:
        """What a memory has there before the command, as :class:`axiloom.isa.formal.symbolic.Machine` calls
        it."""
        if memory in self.drawn:
            return self.drawn[memory][address]
        return z3.Const(f"{memory}@{address}", self.model.states[memory].sort().range())

    def after(self, case: Case, most: int = symbolic.MOST_STEPS) -> symbolic.Machine:
        """Raises UnknownError, LongError and StopsError of `symbolic`."""
        try:
            return self._after(case, most)
        except symbolic.LongError:
            raise
        except symbolic.UnknownError:
            if self.drawn or not self._single:
                raise
        self._draw()
        return self._after(case, most)

    def does(self, case: Case) -> Does:
        try:
            text = self.after(case, TRIED_STEPS)
        except (symbolic.UnknownError, symbolic.StopsError):
            return Does(None, 0)
        changed = [
            (memory, term)
            for memory, elements in text.memories.items()
            for address, term in elements.items()
            if not term.eq(self.element(memory, address))
        ]
        kinds = (f"{memory}: {'a number' if z3.is_bv_value(term) else 'data'}" for memory, term in changed)
        return Does(text.steps, len(changed), frozenset(kinds))

    def _after(self, case: Case, most: int) -> symbolic.Machine:
        text = symbolic.Machine(self.model, most, self._apart)
        for name in self.isa.registers:  # whatever earlier commands left there
            text.state[name] = z3.Const(f"{name} before", self.model.states[name].sort())
        for memory, values in self.drawn.items():
            text.memories[memory] = dict(enumerate(values))
        inputs = self.model.inputs.items()
        text.command({name: z3.BitVecVal(case.inputs[name], term.sort()) for name, term in inputs})
        return text

    def _draw(self) -> None:
        """Numbers in the memories of single words, where the text alone does not know an address."""
        source = random.Random(1)
        for name in self._single:
            sort = self.model.states[name].sort().range()
            values = (source.getrandbits(sort.size()) for _ in range(self.isa.memories[name].shape[0]))
            self.drawn[name] = [z3.BitVecVal(value, sort) for value in values]
