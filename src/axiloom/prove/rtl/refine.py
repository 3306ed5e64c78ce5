"""What is claimed of a device, and proved.

At rest a device is in a state of its invariant (:mod:`axiloom.prove.rtl.opcodes.rest`), and its registers
hold what the model holds (its links). Claimed is:

- reset, from whatever registers hold, leads to such a state, the one of the model's reset;
- a cycle without a word stays in them, and nothing is sent;
- a word leads from each of them to the one that the model is in after its instruction, and the words that go
  out on the way, with TLAST, are the model's, whenever the other side takes them;
- a device whose model has stopped sends nothing, whatever comes.

So every stream of words is refined whose words come when the device is at rest, for any data and any waiting.
Words that come sooner are looked at in streams from reset, to a bound.

What only follows a stale register is stale. conv_v4's queue of commands keeps in its output what the
memory held, anything after reset, and its window buffer works numbers out from that in every cycle. Taken
for control, these numbers had to be known, and each of their bits doubled the cases: *wait* alone did not
end in 100 s of CPU. Whether they matter is for the proof to say: with anything in them it holds, and
takes 0.5 s.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from axiloom.prove.rtl.opcodes.claim import WORD, Case, Fault, GuessedWrongError, Outcome
from axiloom.prove.rtl.opcodes.command import UnknownError
from axiloom.prove.rtl.opcodes.explore import TooManyError
from axiloom.prove.rtl.opcodes.overlap import Overlap
from axiloom.prove.rtl.opcodes.rest import Rest
from axiloom.prove.rtl.opcodes.states import StaleError
from axiloom.prove.rtl.opcodes.trial import Control
from axiloom.prove.rtl.terms import multiplier
from axiloom.prove.rtl.terms.referee import ENGINE, SHARED


class Refiner(Overlap):
    """Proves the claims on `device`."""

    _gone_through: dict[Control, tuple[Rest, list[Case]]]
    """Control states, with what was known of each, and all cases of it."""
    _led_to: set[Control]

    def prove(self, *, stop: bool = False) -> Iterator[Outcome]:
        """All claims. With `stop`, none after the first that fails."""
        if self.apart:
            text = "one word after the other from reset, on integers"
            start = Case(tuple(self.device.model.init[name] for name in self.device.control), None)
            fault = Fault(start, (), {}, self.samples.differs)
            yield Outcome("trial", text, False, cases=1, solver="", why="another answer", fault=fault)
            return
        product = self._product()
        if stop and product.holds is False:
            yield product
            return
        matter = set[str]()
        while True:
            while not self._consistent(matter):
                self._begin(random.Random(len(self.stale)))
            try:
                found = [product, *self._claims(stop)]
                if not self.faults:
                    found += self._certified(found)
                yield from found
                return
            except StaleError as error:
                matter |= error.names
                self.stale -= matter
                self._begin(random.Random(len(self.stale)))

    def _consistent(self, matter: set[str]) -> bool:
        """Does no register of control hang on what is taken for stale, after a cycle without a word? Else
        what is stale has changed: such a register is stale, too, or, if it is known to `matter`, what it
        hangs on is not."""
        step, before = self.device.machine.stepper(), set(self.stale)
        given = self._terms(self.device.inputs(0, WORD, 1))
        for control in [*self.samples.at]:
            if dict(zip(self.device.control, control, strict=True))["error"]:
                continue
            registers, _ = self.start(Case(control, None))
            after, _ = step(registers, given)
            for name in self.control:
                if self.explorer.is_plain(after[name]):
                    continue
                sources = {one for one in before if f"{one}!any" in self.explorer.names(after[name])}
                if name in matter:
                    matter |= sources
                elif sources:
                    self.stale.add(name)
        self.stale -= matter
        return self.stale == before

    def _claims(self, stop: bool) -> Iterator[Outcome]:
        self._gone_through, self._led_to = {}, set()
        first, outcome = self._reset()
        yield outcome
        left: deque[Control] = deque([first])
        seen = {first}
        while left and not (stop and self.faults):
            # The idle state last: what the others leave tells more of it.
            control = next((one for one in left if one[0] != first[0]), left[0])
            left.remove(control)
            for after in self._from(control, left):
                if after not in seen:
                    seen.add(after)
                    left.append(after)
                if stop and self.faults:
                    break
        if not self.faults:
            self._all_cases()
            self.referee.ask(self.device.machine)
            self._overlap()
        yield from (one for one in self.outcomes.values() if one.cases or one.holds is not True)

    def _certified(self, claims: Sequence[Outcome]) -> Iterator[Outcome]:
        """What is never enabled. The referee's answer is in all outcomes then."""
        names = {one.name for one in claims if one.bound is None}
        names |= {instruction.name for instruction in self.device.model.instructions}
        groups = self.referee.answer(names)
        for claim in claims:
            claim.certified = ENGINE if claim.holds and claim.name in groups else ""
        whole = groups == names and all(one.holds for one in claims)
        yield from (replace(one, certified=ENGINE if whole else "") for one in self._unseen())

    def _all_cases(self) -> None:
        """Facts for the referee: no state at rest, and no word in it, was left out."""
        for control, (rest, cases) in self._gone_through.items():
            if rest is not self.rest(control):
                self.referee.fails(SHARED)
                continue
            start = Case(control, None)
            _, model = self.start(start)
            stopped = dict(zip(self.device.control, control, strict=True))["error"]
            for instruction in (None, *(() if stopped else self.device.model.instructions)):
                if instruction is not None:
                    name, when = instruction.name, [self.commands.decode(instruction, model, WORD)]
                    if (chosen := self._chosen(control)) and not self._refuses(control, instruction):
                        when.append(z3.Or(*(number == WORD for number in chosen)))
                else:
                    name, when = "stopped" if stopped else "wait", []
                ways = [_way(one) for one in cases if one.instruction is instruction]
                self.referee.proved(z3.Implies(z3.And(self._limits(start), *when), z3.Or(*ways)), name)
        if self._led_to - self._gone_through.keys():
            self.referee.fails(SHARED)

    @property
    def faults(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes.values() if outcome.holds is False]

    def _unseen(self) -> Iterator[Outcome]:
        """Instructions of the model that no case has executed: no state that enables them is reached."""
        done = {path for outcome in self.outcomes.values() for path in outcome.done}
        for one in self.device.model.everything():
            if one.path in done or (one.name.endswith("mismatch") and not self.device.sizes):
                continue  # sizes that nobody can set are never others
            if one.name in self.outcomes:
                continue  # not decided
            stops = str(one.updates.get("error", "0")) != "0"
            if stops and self.device.error is None:
                continue
            text = f"{one.text}: enabled in no state that is reached"
            if self.device.limited:
                text += " with these sizes"
            yield Outcome(one.path.partition(".")[2], text, never=True)

    def _never(self, case: Case) -> bool:
        """Does what is chosen rule out what is known of the word?"""
        pairs = [(z3.BitVec(name, value.size()), value) for name, value in case.choice.items()]
        return bool(pairs) and any(
            z3.is_false(z3.simplify(z3.substitute(limit, *pairs))) for limit in case.limits
        )

    def _product(self) -> Outcome:
        begun, self.referee.group = time.perf_counter(), "product"
        outcome = Outcome("product", "two elements are multiplied as the model does, for all values", cases=1)
        outcome.holds, outcome.solver = multiplier.holds(
            self.device.multiply, self.device.bits, self._decide, self.referee.simplify
        )
        outcome.seconds = time.perf_counter() - begun
        if outcome.holds is False:
            first = tuple(self.device.model.init[name] for name in self.device.control)
            outcome.why, outcome.fault = "another product", Fault(Case(first, None), (), {})
        return outcome

    def _reset(self) -> tuple[Control, Outcome]:
        begun, self.referee.group = time.perf_counter(), "reset"
        outcome = Outcome(
            "reset", "from any state, a cycle of reset leads to the model's reset state", cases=1
        )
        model = self.device.model
        control = tuple(model.init[name] for name in self.device.control)
        machine = self.device.machine
        registers = {name: z3.BitVec(f"{name}!any", term.size()) for name, term in machine.registers.items()}
        given = self.device.inputs(z3.BitVec("valid!any", 1), WORD, z3.BitVec("ready!any", 1), reset=True)
        step = machine.stepper()
        for _ in range(2):
            registers, _ = step(registers, self._terms(given))
        for cycle in range(self.device.settles):
            ready = z3.BitVec(f"ready!{cycle}", 1)
            registers, _ = step(registers, self._terms(self.device.inputs(0, WORD, ready)))
        state = {**model.states, **model.reset()}
        state = self._chosen_memories(control, state, registers)
        for _ in range(20):
            claim = z3.And(
                self._rest_claim(control, state, registers), self._link_claim(control, state, registers)
            )
            outcome.holds, outcome.solver, values = self._decide(claim)
            if outcome.holds is not False or not self._weaken(control, state, registers, values):
                break
        outcome.seconds = time.perf_counter() - begun
        return control, outcome

    def _chosen_memories(
        self, control: Control, state: Mapping[str, Any], registers: Mapping[str, Any]
    ) -> dict[str, Any]:
        """`state` with what the registers hold in the elements that they are linked to.

        After a reset the model's memories hold anything, so for each state of the RTL there is one of the
        model with these elements. Two registers of one element still have to agree.
        """
        model = self.device.model
        free = (name for name, term in model.states.items() if z3.is_array(term) and name not in model.init)
        names = {model.states[name].get_id(): name for name in free}
        chosen = dict(state)
        for register, links in self._linked(control, state, registers).items():
            for link in links:
                if z3.is_select(link.term) and (memory := names.get(link.term.arg(0).get_id())):
                    held = z3.Extract(link.low + link.term.size() - 1, link.low, registers[register])
                    chosen[memory] = z3.Store(chosen[memory], link.term.arg(1), held)
        return chosen

    def _terms(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for name, value in inputs.items():
            one = self.device.machine.inputs[name]
            bits = 1 if z3.is_bool(one) else one.size()
            made[name] = z3.BitVecVal(value, bits) if isinstance(value, int) else value
        return made

    def _from(self, control: Control, left: deque[Control]) -> Iterator[Control]:
        """All claims that begin in a control state; what control states they lead to."""
        self._gone_through[control] = self.rest(control), []
        known = dict(zip(self.device.control, control, strict=True))
        if known["error"]:
            self._try(
                "stopped", "after an error nothing is sent, whatever comes", [Case(control, None)], left
            )
            return
        self._try("wait", "without a word nothing happens", [Case(control, None)], left)
        if control in left:  # more is known of it now
            return
        for instruction in self.device.model.instructions:
            cases = self._cases(control, instruction)
            try:
                for case in cases:
                    yield from self._try(instruction.name, instruction.text, [case], left)
            except TooManyError as many:
                outcome = self._outcome(instruction.name, instruction.text)
                outcome.holds, outcome.why = None if outcome.holds else outcome.holds, str(many)

    def _try(self, name: str, text: str, cases: Sequence[Case], left: deque[Control]) -> set[Control]:
        outcome, todo, begun = self._outcome(name, text), [*cases], time.perf_counter()
        self.referee.group = name
        reached: set[Control] = set()
        while todo:
            case = todo.pop()
            if self._never(case):
                continue
            try:
                after = self._case(case, outcome, left)
            except GuessedWrongError:
                todo.append(case)
                continue
            except UnknownError as error:
                try:
                    todo += self._forked(case, error.term)
                except TooManyError as many:
                    outcome.holds, outcome.why = None if outcome.holds else outcome.holds, str(many)
                continue
            except TooManyError as many:
                outcome.holds, outcome.why = None if outcome.holds else outcome.holds, str(many)
                continue
            outcome.cases += 1
            self._gone_through[case.control][1].append(case)
            if after is not None:
                reached.add(after)
        self._led_to |= reached
        outcome.seconds += time.perf_counter() - begun
        return reached


def _way(case: Case) -> Any:
    """When a state at rest, and a word in it, are of this case."""
    choice = (z3.BitVec(name, value.size()) == value for name, value in case.choice.items())
    assumed = (term == value for term, value in case.assumed)
    return z3.And(*choice, *assumed, *case.limits, case.word == WORD)
