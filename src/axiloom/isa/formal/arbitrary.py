"""One arbitrary element through a program: what one turn of its loops makes of it, whatever the sizes.

The invariant is the loops' closed form. Until the element's turn is over, what it is made of stays where it
is; from then on the element is in its place, and stays. Which turns are over at a loop's head is a comparison
of iterators. Each step is shown to keep this from any state in which it holds: nothing is unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import z3

from axiloom.isa.formal.ila import Term
from axiloom.isa.formal.programs import Loop, Model
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.values import Value


@dataclass(frozen=True)
class Element:
    """An element of a memory: where, and what it is."""

    memory: str
    address: z3.BitVecRef
    value: z3.BitVecRef

    def there(self, state: Mapping[str, Term]) -> z3.BoolRef:
        found: z3.BoolRef = z3.Select(state[self.memory], self.address) == self.value
        return found


@dataclass(frozen=True)
class Cover:
    """Something that must be able to happen, or what is proved of it says nothing."""

    name: str
    formula: z3.BoolRef


class Arbitrary:
    """The element `goal` is made in `turn` of the loops down to `writer`, of `sources`; `given` is assumed.

    `lanes` are constants with few values: a step that stores elements is shown for each of them by itself.
    `prove` fills `claims` and `covers`.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        writer: Loop,
        turn: Mapping[str, Value],
        goal: Element,
        sources: Sequence[Element],
        condition: z3.BoolRef,
        lanes: Mapping[z3.BitVecRef, int] | None = None,
    ) -> None:
        self.lanes = lanes or {}
        self.model, self.name, self.writer, self.turn = model, name, writer, turn
        self.goal, self.sources, self.given = goal, sources, condition
        self.claims: list[Claim] = []
        self.covers: list[Cover] = []

    def prove(self, start: Mapping[str, Term], known: Sequence[Element]) -> None:
        """From the state after the command, in which the elements of `known` are in their places."""
        program, ila = self.model.programs[self.name], self.model.ila
        written = {name for step in program.child.instructions for name in step.updates}
        before = {
            name: z3.Const(f"{name}~", term.sort()) if name in written else term
            for name, term in start.items()
        }
        facts = z3.And(*(one.there(start) for one in known))
        text = "the command establishes the invariant"
        self._claim(f"{self.name}: begins", text, z3.Implies(facts, self._invariant(start)))
        holds = self._invariant(before)
        pairs = [(ila.states[name], term) for name, term in before.items()]
        for step in program.child.instructions:
            decode = z3.substitute(step.decode, *pairs)
            after = {**before, **{name: z3.substitute(term, *pairs) for name, term in step.updates.items()}}
            result = z3.If(after["step"] == 0, self.goal.there(after), self._invariant(after))
            path = step.path.removeprefix(f"{ila.name}.")
            text = "the step keeps the invariant, or ends with the element in its place"
            formula = z3.Implies(z3.And(holds, decode), result)
            if self.goal.memory in step.updates:
                self._by_lane(f"{path}: keeps", text, formula)
            else:
                self._claim(f"{path}: keeps", text, formula)
            self.covers.append(Cover(f"{path}: can come", z3.And(self.given, holds, decode)))

    def _by_lane(self, name: str, text: str, formula: z3.BoolRef) -> None:
        for places in product(*(range(count) for count in self.lanes.values())):
            pairs = [
                (lane, z3.BitVecVal(at, lane.sort())) for lane, at in zip(self.lanes, places, strict=True)
            ]
            which = ", ".join(f"{_plain(lane)} = {at}" for lane, at in zip(self.lanes, places, strict=True))
            case = z3.substitute(z3.Implies(self.given, formula), *pairs)
            self.claims.append(Claim(f"{name}{f' ({which})' if which else ''}", text, case))

    def _claim(self, name: str, text: str, formula: z3.BoolRef) -> None:
        self.claims.append(Claim(name, text, z3.Implies(self.given, formula)))

    def _invariant(self, state: Mapping[str, Term]) -> z3.BoolRef:
        pairs = [(self.model.ila.states[own], term) for own, term in state.items()]
        there, sources = self.goal.there(state), z3.And(*(source.there(state) for source in self.sources))
        parts: list[z3.BoolRef] = [state["error"] == 0]
        heads = []
        for loop in self.model.programs[self.name].loops.values():
            here = state["step"] == loop.place
            heads.append(here)
            parts.append(z3.Implies(here, z3.If(self._over(loop, state), there, sources)))
        for own, invariant in self.model.ila.invariants.items():
            if own.startswith(f"{self.name}, "):
                parts.append(z3.substitute(invariant, *pairs))
        return z3.And(z3.Or(*heads), *parts)

    def _over(self, loop: Loop, state: Mapping[str, Term]) -> z3.BoolRef:
        """Whether the turn is over at this head: lexicographic in the loops that both are in."""
        same: list[tuple[z3.BitVecRef, z3.BitVecRef]] = []
        for mine, theirs in zip(loop.whole, self.writer.whole, strict=False):
            if mine.place != theirs.place:
                break
            at = Value(state[mine.register], self.model.kinds[mine.register]).wide(64)
            same.append((self.turn[mine.name].wide(64), at))
        # At the head of a loop that the element is not made in: it is made by then, if that loop comes later.
        apart = len(same) < len(loop.whole) and len(same) < len(self.writer.whole)
        later = apart and loop.whole[len(same)].place > self.writer.whole[len(same)].place
        over: z3.BoolRef = z3.BoolVal(later)
        for ours, at in reversed(same):
            over = z3.Or(ours < at, z3.And(ours == at, over))
        return over


def _plain(constant: z3.BitVecRef) -> str:
    """Its name in the text."""
    return str(constant).split(".")[-1].rstrip("*").removesuffix("_own")
