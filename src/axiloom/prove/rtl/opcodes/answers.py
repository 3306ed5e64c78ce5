"""Does a claim hold; and if not: is it a fault, or was an invariant guessed too strong?"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import z3

from axiloom.isa.formal import limited
from axiloom.prove import solvers
from axiloom.prove.rtl.opcodes import rest as rests
from axiloom.prove.rtl.opcodes.claim import Case, Fault, GuessedWrongError, Outcome
from axiloom.prove.rtl.opcodes.explore import Node
from axiloom.prove.rtl.opcodes.states import States
from axiloom.prove.rtl.opcodes.trial import Control, Sample
from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.referee import SHARED

MOST_GUESSES = 100


class Shown(Mapping[str, int]):
    """The values of constants in a model of z3, read when they are asked for: most claims that fail only say
    that a device is not at rest yet."""

    def __init__(self, model: z3.ModelRef) -> None:
        self._model = model

    @cached_property
    def _values(self) -> dict[str, int]:
        found = {one.name(): self._model[one] for one in self._model if one.arity() == 0}
        return {name: value.as_long() for name, value in found.items() if z3.is_bv_value(value)}

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class _Drawn(dict[str, int]):
    """A number for whatever is asked for."""

    def __init__(self, source: random.Random) -> None:
        super().__init__()
        self.source = source

    def get(self, name: str, _default: Any = None) -> int:
        return self.setdefault(name, self.source.getrandbits(32))


class _Together:
    """Terms whose values are worked out at once."""

    def __init__(self, terms: Mapping[str, Any]) -> None:
        self._known = {name: term.as_long() for name, term in terms.items() if z3.is_bv_value(term)}
        self._free = [name for name in terms if name not in self._known]
        free = [terms[name] for name in self._free]
        sorts = [term.sort() for term in free]
        self._term = z3.Function("together", *sorts, z3.BoolSort())(*free) if free else z3.BoolVal(True)
        self._constants = [
            one
            for one in walk([self._term])
            if z3.is_const(one) and z3.is_bv(one) and not z3.is_bv_value(one)
        ]

    def at(self, values: Mapping[str, int]) -> dict[str, int]:
        """Those of all terms where constants have these `values`; those that it does not name are 0."""
        if not self._free:
            return dict(self._known)
        pairs = [
            (constant, z3.BitVecVal(values.get(constant.decl().name(), 0), constant.size()))
            for constant in self._constants
        ]
        made = z3.simplify(z3.substitute(self._term, *pairs)).children()
        found = zip(self._free, made, strict=True)
        return self._known | {name: one.as_long() if z3.is_bv_value(one) else 0 for name, one in found}


class Answers(States):
    """Answers of solvers, and what follows from them."""

    def _limits(self, case: Case) -> Any:
        flags = self.rest(case.control).flags
        domains = [
            z3.Or(*(flag.term == value for value in flag.values))
            for flag in flags
            if flag.name not in case.choice and len(flag.values) < 1 << flag.bits
        ]
        # What a command is may hang on flags: what is chosen of them belongs to its limits.
        domains += [flag.term == case.choice[flag.name] for flag in flags if flag.name in case.choice]
        return z3.And(*domains, *case.limits, *(term == value for term, value in case.assumed))

    def _holds(self, case: Case, claim: Any) -> bool:
        if z3.is_true(claim):
            return True
        if z3.is_false(claim):
            return False
        holds, _, self._values = self._decide(z3.Implies(self._limits(case), claim))
        return bool(holds)

    def _decide(self, claim: Any, group: str | None = None) -> tuple[bool | None, str, Mapping[str, int]]:
        """Of all values of its constants; `group`: see :meth:`Referee.proved`."""
        said = self._said(z3.simplify(claim))
        if said[0]:
            self.referee.proved(claim, group)
        return said

    def _said(self, claim: Any) -> tuple[bool | None, str, Mapping[str, int]]:
        if z3.is_true(claim):
            return True, "z3", {}
        solver = limited.solver(limited.QUICK_S)
        solver.add(z3.Not(claim))
        says = solver.check()
        if says == z3.unsat:
            return True, "z3", {}
        if says == z3.sat:
            return False, "z3", Shown(solver.model())
        (said,) = solvers.decide([claim], self.limit_s)
        return said.holds, said.solver, {k: int(v) for k, v in said.values.items() if v.isdigit()}

    def _again(
        self,
        case: Case,
        control: Control,
        model: Mapping[str, Any],
        node: Node,
        claim: Any,
        outcome: Outcome,
        left: deque[Control],
    ) -> None:
        """What was left is a state at rest that was not known. Raises GuessedWrongError."""
        _, _, values = self._decide(z3.Implies(self._limits(case), claim))
        if not self._weaken(control, model, node.registers, values, case):
            self._fails(case, outcome, "is at rest as it should not be", node, claim)
            return
        if control not in left:
            left.append(control)
        raise GuessedWrongError

    def _weaken(
        self,
        control: Control,
        model: Mapping[str, Any],
        registers: Mapping[str, Any],
        values: Mapping[str, int],
        case: Case | None = None,
    ) -> bool:
        if self.weakened > MOST_GUESSES:
            return False
        self.weakened += 1
        old = self.rest(control) if self.samples.at[control] else None
        source = random.Random(self.weakened)
        left = _Together({name: registers[name] for name in self.control})
        of_model = _Together({name: model[name] for group in self._groups for name in group})
        for number in range(16):
            # The one that shows it, and then such with other choices for what is free.
            flags = self.rest(case.control).flags if number and case else ()
            own = {
                **values,
                **{
                    flag.name: source.choice(flag.values)
                    for flag in flags
                    if case and flag.name not in case.choice
                },
            }
            if number and case is None:  # a reset: registers may have held anything
                own = _Drawn(source)
            sample = Sample(left.at(own), of_model.at(own), ())
            self.samples.at[control].append(sample)
        self._rests.pop(control, None)
        return old is None or self._covers(control, old)

    def _covers(self, control: Control, old: rests.Rest) -> bool:
        """Make the invariant one that every state of the old one is in: what led to those still holds."""
        values = {name: old.value(name, {}, self.referee.simplify) for name in old.bits}
        limits = [
            z3.Or(*(flag.term == value for value in flag.values))
            for flag in old.flags
            if len(flag.values) < 1 << flag.bits
        ]
        together = _Together(values)
        for _ in range(MOST_GUESSES):
            claim = self.rest(control).matched(values, self.referee.simplify)[1]
            holds, _, found = self._decide(z3.Implies(z3.And(*limits), claim), SHARED)
            if holds is not False:
                return bool(holds)
            now = together.at(found)
            registers = {name: now[f"rtl:{name}"] for name in self.control}
            model: dict[str, int] = {}
            for group in self._groups:
                rest = now["model:" + "+".join(group)]
                for name in reversed(group):
                    model[name] = rest & (1 << self._bits[name]) - 1
                    rest >>= self._bits[name]
            self.samples.at[control].append(Sample(registers, model, ()))
            self._rests.pop(control, None)
        return False

    def _fails(self, case: Case, outcome: Outcome, text: str, node: Node, claim: Any) -> None:
        holds, _, values = self._decide(z3.Implies(self._limits(case), claim))
        if holds is not True:
            self._fresh([claim])
        if holds is None:
            outcome.holds, outcome.why = None if outcome.holds else outcome.holds, text
            return
        if outcome.holds is not False:
            outcome.holds, outcome.why = False, text
            outcome.fault = Fault(case, tuple(node.path), values)
