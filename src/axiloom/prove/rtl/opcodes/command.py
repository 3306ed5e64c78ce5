"""The model on terms: a command and the programs that it starts, where control is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import z3

from axiloom.isa.formal.ila import Ila, Instruction
from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.nodes import children, number
from axiloom.prove.rtl.terms.referee import Referee

STEPS = 100_000


class UnknownError(Exception):
    """What happens depends on `term`, which has no value."""

    def __init__(self, term: Any) -> None:
        super().__init__(str(term))
        self.term = term


class Commands:
    """Executes commands of a model whose state is terms."""

    def __init__(self, model: Ila, referee: Referee) -> None:
        self.model, self.referee = model, referee
        own = {id(instruction) for instruction in model.instructions}
        self._program = [one for one in model.everything() if id(one) not in own]
        self._decodes = z3.Function("decodes", *[z3.BoolSort()] * len(self._program), z3.BoolSort())(
            *(one.decode for one in self._program)
        )
        self._packed: dict[str, Any] = {}

    def enabled(self, instruction: Instruction, state: Mapping[str, Any], word: Any) -> Any:
        (simple,) = self._at(instruction.decode, [instruction.decode], state, word)
        return simple

    def decode(self, instruction: Instruction, state: Mapping[str, Any], word: Any) -> Any:
        """When it is enabled, not rewritten."""
        return z3.substitute(instruction.decode, *self._pairs(state, word))

    def execute(
        self, instruction: Instruction, state: Mapping[str, Any], word: Any
    ) -> tuple[dict[str, Any], list[str]]:
        """The state after a command, and the names of what was executed. The instruction is enabled.

        Raises UnknownError if it hangs on a free term which step of a program comes next.
        """
        after = self._update(instruction, state, word)
        done = [instruction.path]
        for _ in range(STEPS):
            decodes = self._at(self._decodes, self._decodes.children(), after, word)
            if free := [decode for decode in decodes if not z3.is_true(decode) and not z3.is_false(decode)]:
                raise UnknownError(free[0])
            enabled = [one for one, says in zip(self._program, decodes, strict=True) if z3.is_true(says)]
            if not enabled:
                return after, done
            after = self._update(enabled[0], after, word)
            done.append(enabled[0].path)
        raise RuntimeError(f"{instruction.path}: its program does not end")

    def _pairs(self, state: Mapping[str, Any], word: Any) -> list[tuple[Any, Any]]:
        pairs = [(self.model.states[name], term) for name, term in state.items()]
        return [*pairs, (self.model.inputs["word"], word)]

    def _update(self, instruction: Instruction, state: Mapping[str, Any], word: Any) -> dict[str, Any]:
        updates = instruction.updates
        if instruction.path not in self._packed:
            sorts = [term.sort() for term in updates.values()]
            together = z3.Function("together", *sorts, z3.BoolSort())(*updates.values())
            self._packed[instruction.path] = together
        new = self._at(self._packed[instruction.path], [*updates.values()], state, word)
        values = {name: in_order(term) for name, term in zip(updates, new, strict=True)}
        for term, value in zip(new, values.values(), strict=True):
            self.referee.same(term, value)
        return {**state, **values}

    def _at(self, whole: Any, terms: Sequence[Any], state: Mapping[str, Any], word: Any) -> list[Any]:
        """`terms` in a state; `whole` is them together, or the one that there is."""
        pairs = self._pairs(state, word)
        simple = z3.simplify(z3.substitute(whole, *pairs))
        found = [simple] if whole is terms[0] else simple.children()
        self.referee.worked(terms, pairs, found)
        return found


def in_order(term: Any) -> Any:
    """A memory with each element stored once, so that reading it stays quick."""
    if not z3.is_array(term):
        return term
    stored: dict[int, tuple[Any, Any]] = {}
    base = term
    while z3.is_store(base):
        base, address, value = base.children()
        if not z3.is_bv_value(address):
            return term
        stored.setdefault(address.as_long(), (address, value))
    for place in sorted(stored):
        base = z3.Store(base, *stored[place])
    return base


def elements(name: str, count: int, address_bits: int, bits: int) -> Any:
    """A memory whose first `count` elements have names of their own."""
    memory = z3.Array(f"{name}!any", z3.BitVecSort(address_bits), z3.BitVecSort(bits))
    for place in range(count):
        memory = z3.Store(memory, z3.BitVecVal(place, address_bits), z3.BitVec(f"{name}[{place}]", bits))
    return memory


def names_in(term: Any, known: dict[int, frozenset[str]], alive: list[Any]) -> frozenset[str]:
    """The constants of a term. `known` are those of terms that `alive` keeps."""
    if (own := number(term)) in known:
        return known[own]
    for node in walk([term], known):
        alive.append(node)
        below = children(node)
        if not below and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            known[number(node)] = frozenset([node.decl().name()])
        else:
            known[number(node)] = frozenset().union(*(known[number(child)] for child in below))
    return known[own]
