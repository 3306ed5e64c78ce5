"""Words that stop a device: every one that is refused leads from rest to a state that nothing leaves.

Neither the word nor what comes after it is known here, so control is not searched through. Some cycles are
put one behind the other as terms, with any word, VALID and READY in each. Nothing may be sent in them, and
after them the error is told. Then all bits of registers that a first state has are taken for known, and those
are taken out that another word or waiting has otherwise, until every word leads to what is left. That it
stays so is for :mod:`axiloom.prove.rtl.halted`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import z3

from axiloom.isa.formal.ila import Instruction
from axiloom.prove.rtl.answers import Answers
from axiloom.prove.rtl.claim import WORD, Case, Outcome
from axiloom.prove.rtl.command import UnknownError
from axiloom.prove.rtl.explore import Node, TooManyError
from axiloom.prove.rtl.halted import Halted, Known
from axiloom.prove.rtl.machine import with_products
from axiloom.prove.rtl.trial import Control

WAITS = 64
"""Cycles until a device at rest takes a word."""
LENGTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Cycles after which it is looked at whether it has stopped. Few are quick, as terms grow."""
SOLVER_MS = 20_000


class Refused(Answers):
    """The claims on words of sizes that the model refuses."""

    halted: Halted | None = None

    def _refuses(self, control: Control, instruction: Instruction) -> bool:
        """Does the model do nothing but stop, where it waits for sizes?"""
        waits = self.device.error is not None and control[0] in self.device.settings
        return waits and [*instruction.updates] == ["error"]

    def _halting(self) -> Halted:
        """Of the device as it is now."""
        if self.halted is None or self.halted.device is not self.device:
            self.halted = Halted(self.device)
        return self.halted

    def _refused(self, case: Case, registers: dict[str, Any], outcome: Outcome) -> None:
        """Whatever word is refused, and whatever comes then: nothing is sent, and the error is told for ever.
        Raises TooManyError, UnknownError."""
        assert case.instruction is not None
        code = z3.simplify(case.instruction.updates["error"])
        if not z3.is_bv_value(code):
            raise UnknownError(code)
        why, node, claim = "", Node(registers, 0, 0, False), z3.BoolVal(True)
        for cycles, node, silent in self._until(registers):
            if not self._holds(case, silent):
                self._fails(case, outcome, "sends after words that are refused", node, silent)
                return
            claim = self._tells(node.registers, code)
            if not self._holds(case, claim):
                why = f"{cycles} cycles after words that are refused it tells no error, or another"
                continue
            outcome.states += cycles
            if self._stays(case, node.registers, code.as_long()):
                return
            claim, why = z3.BoolVal(True), "no invariant says that it stays stopped"
        if z3.is_true(claim):
            raise TooManyError(why)
        self._fails(case, outcome, why, node, claim)

    def _until(self, registers: dict[str, Any]) -> Iterator[tuple[int, Node, Any]]:
        """The state so many cycles after the word was taken, and that nothing was sent; see LENGTHS."""
        node, silent, tells = Node(registers, 0, 0, False), [], f"{self.device.output}tvalid"
        for waited in range(WAITS):
            after, out = self._cycle(node.registers, 1, WORD, z3.BitVec(f"ready!before {waited}", 1))
            silent.append(with_products(out[tells]) == 0)
            taken = z3.simplify(out[f"{self.device.source}tready"])
            if not z3.is_bv_value(taken):
                raise UnknownError(taken)
            node = Node(after, taken.as_long(), 0, False, node, (1, 1))
            if node.taken:
                break
        else:
            raise TooManyError(f"does not take a word in {WAITS} cycles")
        for cycle in range(1, LENGTHS[-1] + 1):
            free = [z3.BitVec(f"{name}!after {cycle}", bits) for name, bits in (("valid", 1), ("word", 32))]
            after, out = self._cycle(node.registers, *free, z3.BitVec(f"ready!after {cycle}", 1))
            silent.append(with_products(out[tells]) == 0)
            node = Node(after, 1, 0, False, node, (0, 1))
            if cycle in LENGTHS:
                yield cycle, node, z3.simplify(z3.And(*silent))

    def _cycle(
        self, registers: Mapping[str, Any], valid: Any, word: Any, ready: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.explorer.advance(registers, valid, word, ready)

    def _tells(self, registers: Mapping[str, Any], code: Any) -> Any:
        _, out = self._cycle(registers, 0, WORD, 1)
        told = with_products(out[str(self.device.error)])
        return z3.simplify(told == z3.BitVecVal(code.as_long(), told.size()))

    def _stays(self, case: Case, registers: Mapping[str, Any], code: int) -> bool:
        """Is there an invariant that all these states are in, and in which the error is told for ever?"""
        bits = {
            (name, place): z3.simplify(z3.Extract(place, place, with_products(registers[name])))
            for name in self.control
            for place in range(registers[name].size())
        }
        known = {key: bit.as_long() for key, bit in bits.items() if z3.is_bv_value(bit)}
        if self._halting().holds(code, [(*key, value) for key, value in known.items()]):
            return True
        left = {key: bit for key, bit in bits.items() if key not in known}
        solver = z3.Solver()
        solver.set("timeout", SOLVER_MS)
        solver.add(self._limits(case))
        if solver.check() != z3.sat:
            return False
        model = solver.model()
        values = {key: model.eval(bit, model_completion=True).as_long() for key, bit in left.items()}
        for _ in range(len(left)):
            solver.push()
            solver.add(z3.Or(*(left[key] != value for key, value in values.items())))
            says = solver.check()
            if says == z3.unknown:
                return False
            if says == z3.unsat:
                break
            model = solver.model()
            solver.pop()
            values = {
                key: value
                for key, value in values.items()
                if model.eval(left[key], model_completion=True).as_long() == value
            }
        found: list[Known] = [(*key, value) for key, value in (known | values).items()]
        return self._halting().holds(code, found)
