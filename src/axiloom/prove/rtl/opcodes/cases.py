"""From one start, with one word: all that can happen is searched through."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from axiloom.isa.formal import limited
from axiloom.isa.formal.ila import Instruction
from axiloom.prove.rtl.opcodes.claim import WORD, Case, Outcome
from axiloom.prove.rtl.opcodes.explore import Node, Sent, TooManyError, WrongError
from axiloom.prove.rtl.opcodes.refused import Refused
from axiloom.prove.rtl.opcodes.trial import Control


class Cases(Refused):
    """Starts, and their searches."""

    def _outcome(self, name: str, text: str) -> Outcome:
        return self.outcomes.setdefault(name, Outcome(name, text))

    def _forked(self, case: Case, term: Any) -> list[Case]:
        """The case once for each value of a flag that the term hangs on; else for each value of the term."""
        self._fresh([term])
        names = self.explorer.names(term)
        for flag in self.rest(case.control).flags:
            if flag.name in names and flag.name not in case.choice:
                return [
                    replace(case, choice={**case.choice, flag.name: z3.BitVecVal(value, flag.bits)})
                    for value in flag.values
                ]
        solver = limited.solver(limited.QUICK_S)
        solver.add(self._limits(case))
        cases: list[Case] = []
        while (says := solver.check()) == z3.sat:
            value = solver.model().eval(term, model_completion=True)
            if z3.is_bool(term):
                raise TooManyError("what the model does hangs on data")
            cases.append(replace(case, assumed=(*case.assumed, (term, value))))
            solver.add(term != value)
            if len(cases) > 16:
                raise TooManyError("control hangs on data")
        if says == z3.unknown:
            raise TooManyError("z3 does not say which values control may have")
        return cases

    def _cases(self, control: Control, instruction: Instruction) -> Iterator[Case]:
        """Words with which the instruction is enabled here; of a device that is limited, those of its
        settings."""
        case = Case(control, instruction)
        _, model = self.start(case)
        if self._refuses(control, instruction):
            when = self.commands.enabled(instruction, model, WORD)
            if not z3.is_false(when):
                yield replace(case, limits=(when,))
            return
        if (chosen := self._chosen(control)) is not None:
            outcome = self._outcome(instruction.name, instruction.text)
            for number in chosen:
                word = z3.BitVecVal(number, 32)
                if not z3.is_false(self.commands.enabled(instruction, model, word)):
                    outcome.words.add(number)
                    yield replace(case, word=word)
            return
        when = self.commands.enabled(instruction, model, WORD)
        if z3.is_false(when):
            return
        solver = z3.Solver()
        solver.add(when)
        new = {name: instruction.updates[name] for name in self.device.by_word if name in instruction.updates}
        pairs = [(self.device.model.states[name], term) for name, term in model.items()]
        pairs.append((self.device.model.inputs["word"], WORD))
        # What becomes of control by the word: once for each.
        sizes = [z3.simplify(z3.substitute(term, *pairs)) for term in new.values()]
        sizes = [term for term in sizes if WORD.decl().name() in self.explorer.names(term)]
        while (says := solver.check()) == z3.sat:
            values = [solver.model().eval(term, model_completion=True) for term in sizes]
            here = z3.And(when, *(term == value for term, value in zip(sizes, values, strict=True)))
            word = self._word(here)
            limits = z3.simplify(z3.substitute(here, (WORD, word)))
            yield replace(case, word=word, limits=() if z3.is_true(limits) else (limits,))
            if not sizes:
                return
            solver.add(z3.Or(*(term != value for term, value in zip(sizes, values, strict=True))))
        if says == z3.unknown:
            raise TooManyError("z3 does not say with which words an instruction is enabled")

    def _chosen(self, control: Control) -> list[int] | None:
        """Where sizes are set, the words that are looked at: those of the settings, of a device that is
        limited. None: all."""
        settings = self.device.settings.get(control[0], ())
        return [*settings] if settings and self.device.limited else None

    def _word(self, when: Any) -> Any:
        """The word, with a value for each bit that can have only one."""
        if z3.is_true(when):
            return WORD
        solver = limited.solver(limited.QUICK_S)
        solver.add(when)
        if solver.check() != z3.sat:
            return WORD
        first = solver.model().eval(WORD, model_completion=True).as_long()

        def is_one(word: int) -> bool:
            return bool(z3.is_true(z3.simplify(z3.substitute(when, (WORD, z3.BitVecVal(word, 32))))))

        parts = []
        for place in reversed(range(32)):
            bit, other = z3.Extract(place, place, WORD), 1 - (first >> place & 1)
            free = is_one(first ^ 1 << place) or solver.check(bit == other) != z3.unsat
            parts.append(bit if free else z3.BitVecVal(1 - other, 1))
        return z3.simplify(z3.Concat(*parts))

    def _case(self, case: Case, outcome: Outcome, left: deque[Control]) -> Control | None:
        """Search one case; returns the control state that it ends in. Raises UnknownError, TooManyError."""
        registers, model = self.start(case)
        assumed = {term.get_id(): value for term, value in case.assumed}
        if case.instruction is None:
            if outcome.name == "stopped":
                self._stopped(case, registers, assumed, outcome)
            else:
                self._wait(case, registers, model, assumed, outcome, left)
            return None
        if self._refuses(case.control, case.instruction):
            self._refused(case, registers, outcome)
            outcome.done.add(case.instruction.path)
            return None
        after, done = self._executed(case.instruction, model, case.word)
        control = self._after(after)
        known = dict(zip(self.device.control, control, strict=True))
        if known["error"] and self.device.error is None:
            outcome.why = "words that stop the model are not looked at"
            outcome.cases -= 1
            return None
        outcome.done |= set(done)
        return self._searched(case, registers, [case.word], after, control, outcome, left)

    def _searched(
        self,
        case: Case,
        registers: dict[str, Any],
        words: Sequence[Any],
        after: Mapping[str, Any],
        control: Control,
        outcome: Outcome,
        left: deque[Control],
        **others: Any,
    ) -> Control:
        """Do registers and output become what the model has, after these words?"""
        assumed = {term.get_id(): value for term, value in case.assumed}
        count = self.referee.simplify(after["n_sent"]).as_long()
        places = [z3.BitVecVal(i, 32) for i in range(count)]
        expected: list[Sent] = [(self._own(after["sent"][i]), self._own(after["last"][i])) for i in places]
        failed: list[tuple[str, Any, Node]] = []

        def is_end(node: Node) -> bool:
            claim = self._told(control, node, assumed)
            if not self._holds(case, claim):
                failed.append(("tells another error", claim, node))
                return False
            claim = self._rest_claim(control, after, node.registers)
            if not self._holds(case, claim):
                failed.append(("", claim, node))
                return False
            claim = self._link_claim(control, after, node.registers)
            if not self._holds(case, claim):
                failed.append(("holds another state than the model", claim, node))
                return False
            return True

        try:
            found = self.explorer.run(registers, words, expected, assumed, is_end, **others)
        except WrongError as error:
            if error.text.startswith("is at rest") and failed:
                text, claim, node = failed[-1]
                if not text:
                    self._again(case, control, after, node, claim, outcome, left)
                    return control
                error = WrongError(text, node, claim)
            self._fails(case, outcome, error.text, error.node, error.claim)
            return control
        outcome.states += found.states
        if not found.is_closed:
            self.referee.fails(outcome.name)
        for text, claim, node in found.owed:
            if not self._holds(case, claim):
                self._fails(case, outcome, text, node, claim)
                return control
        return control

    def _told(self, control: Control, node: Node, assumed: Mapping[int, Any]) -> Any:
        """After an error of the model: the device tells it."""
        code = dict(zip(self.device.control, control, strict=True))["error"]
        if self.device.error is None or not code:
            return z3.BoolVal(True)
        _, out = self.explorer.step(node.registers, 0, WORD, 1, assumed)
        return self.referee.simplify(out[self.device.error] == code)

    def _executed(
        self, instruction: Instruction, model: dict[str, Any], word: Any
    ) -> tuple[dict[str, Any], list[str]]:
        """What the model does: once for each start of its own."""
        key = (instruction.path, word.get_id(), *(term.get_id() for term in model.values()))
        if key not in self._known:
            self._known[key] = (*self.commands.execute(instruction, model, word), [word, *model.values()])
        after, done, _ = self._known[key]
        return after, done

    def _wait(
        self,
        case: Case,
        registers: dict[str, Any],
        model: dict[str, Any],
        assumed: Mapping[int, Any],
        outcome: Outcome,
        left: deque[Control],
    ) -> None:
        for ready in (1, 0):
            first = Node(registers, 0, 0, False)
            after, out = self.explorer.step(registers, 0, WORD, ready, assumed)
            node = Node(after, 0, 0, False, first, (0, ready))
            outcome.states += 1
            if out[f"{self.device.output}tvalid"].as_long():
                self._fails(case, outcome, "sends without being asked", node, z3.BoolVal(False))
            error = self.device.error
            if error and not z3.is_true(self.referee.simplify(out[error] == 0)):
                self._fails(case, outcome, "tells an error", node, out[error] == 0)
            claim = self._rest_claim(case.control, model, after)
            if not self._holds(case, claim):
                self._again(case, case.control, model, node, claim, outcome, left)
            claim = self._link_claim(case.control, model, after)
            if not self._holds(case, claim):
                self._fails(case, outcome, "forgets what it holds", node, claim)

    def _stopped(
        self, case: Case, registers: dict[str, Any], assumed: Mapping[int, Any], outcome: Outcome
    ) -> None:
        """Whatever comes: nothing is sent, and the error is told."""
        known, todo = {}, [Node(registers, 0, 0, False)]
        code = dict(zip(self.device.control, case.control, strict=True))["error"]
        if self._halts(case.control, code):
            outcome.states += 1
            return
        while todo:
            node = todo.pop()
            if node.key in known:
                continue
            known[node.key] = node
            for valid, ready in ((0, 0), (0, 1), (1, 0), (1, 1)):
                after, out = self.explorer.step(node.registers, valid, WORD, ready, assumed)
                new = Node(after, 0, 0, False, node, (valid, ready))
                if out[f"{self.device.output}tvalid"].as_long():
                    self._fails(case, outcome, "sends after an error", new, z3.BoolVal(False))
                    return
                told = self.referee.simplify(out[str(self.device.error)] == code)
                if not self._holds(case, told):
                    self._fails(case, outcome, "tells another error", new, told)
                    return
                todo.append(new)
            if len(known) > 500:
                raise TooManyError("more than 500 states after an error")
        outcome.states += len(known)

    def _halts(self, control: Control, code: int) -> bool:
        """Do the bits that are known here say that nothing is sent any more?"""
        known = self._constants(control, self.rest(control))
        return self._stopping().halted.holds(
            code,
            [
                (name, place, value >> place & 1)
                for name, (mask, value) in known.items()
                for place in range(mask.bit_length())
                if mask >> place & 1
            ],
        )
