"""Sizes that are refused: every such word leads from rest to a state that nothing leaves.

Neither the word nor what comes after it is known here, so control is not searched through. Some cycles are
put one behind the other as terms, with any word, VALID and READY in each. Nothing may be sent in them, and
after them the error is told. Then all bits of registers that a first state has are taken for known, and those
are taken out that another word or waiting has otherwise, until every word leads to what is left. That it
stays so is for :mod:`axiloom.prove.rtl.opcodes.halted`.

``prove rtl`` does not search through control for sizes that are refused. A word that sets sizes has 2^32
values, and control hangs on it until the device has stopped. A search has to know control, so it could
only try words. Where the model stops, nothing is left to compare but silence and the error. So few cycles
with any word, VALID and READY are one term, and the bits that all words lead to are an invariant. It
takes 1.4 to 2.5 s of CPU a state of v4 small. The search did not decide ``rC`` with refused sizes. Most
bits that do not stay are found on integers: with a solver alone a state of conv_v4 small took 25 s, and
now about 10.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.isa.formal import limited
from axiloom.isa.formal.ila import Instruction
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes.answers import Answers, Shown
from axiloom.prove.rtl.opcodes.claim import WORD, Case, Outcome
from axiloom.prove.rtl.opcodes.command import UnknownError
from axiloom.prove.rtl.opcodes.explore import Node, TooManyError
from axiloom.prove.rtl.opcodes.halted import Halted
from axiloom.prove.rtl.opcodes.trial import Control
from axiloom.prove.rtl.terms.machine import walk, with_products
from axiloom.prove.rtl.terms.referee import Referee

WAITS = 64
"""Cycles until a device at rest takes a word, and until it has stopped."""
LENGTHS = (2, 3, 4, 6, 8, 12, 16, 20)
"""Cycles after which it is looked at whether it has stopped. Few are quick, as terms grow."""

Holds = Callable[[Any], tuple[bool, Mapping[str, int]]]
"""A claim, to whether it holds; if not, values of constants that show it."""


@dataclass(frozen=True)
class Stop:
    """Where a device does not stop, `why`, and the `claim` that fails there. No `why`: it does."""

    cycles: int
    node: Node
    why: str = ""
    claim: Any = None


class Stopping:
    """A device on its way to a stop, on terms. `control`: registers that no data go through."""

    def __init__(self, device: Device, control: Collection[str], referee: Referee) -> None:
        self.device, self.control, self.referee = device, [*control], referee
        self.halted = Halted(device, referee)
        self._step = device.machine.stepper()

    def _cycle(
        self, registers: Mapping[str, Any], valid: Any, word: Any, ready: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        inputs = self.device.machine.inputs
        given = {
            name: z3.BitVecVal(value, 1 if z3.is_bool(inputs[name]) else inputs[name].size())
            if isinstance(value, int)
            else value
            for name, value in self.device.inputs(valid, word, ready).items()
        }
        return self._step(registers, given)

    def stop(self, registers: dict[str, Any], code: int, given: Any, holds: Holds) -> Stop:
        """From rest, by :data:`WORD`, whatever comes then: nothing is sent, and the error is told for ever.
        `given`: what is known of the constants, the word among them.

        Raises UnknownError if TREADY hangs on what is not known, TooManyError if that is not decided.
        """
        needed = self._length(registers, code, _some(given)) or 0
        for cycles, node, silent in self._after(registers):
            if cycles < needed:
                continue
            if not holds(silent)[0]:
                return Stop(cycles, node, "sends after words that are refused", silent)
            claim = self._tells(node.registers, code)
            told, values = holds(claim)
            if not told:
                if (longer := self._length(registers, code, values)) is None:
                    return Stop(cycles, node, "does not stop at words that are refused", claim)
                needed = max(longer, cycles + 1)
            elif self._stays(given, node.registers, code):
                return Stop(cycles, node)
        raise TooManyError("no invariant says that it stays stopped")

    def _length(self, registers: Mapping[str, Any], code: int, values: Mapping[str, int]) -> int | None:
        """After how many cycles the error is told, if constants have these values; None: it is not."""
        constants = {
            one.get_id(): one
            for term in (*registers.values(), WORD)
            for one in walk([term])
            if z3.is_bv(one) and z3.is_const(one) and not z3.is_bv_value(one)
        }
        pairs = [
            (constant, z3.BitVecVal(values.get(constant.decl().name(), 0), constant.size()))
            for constant in constants.values()
        ]
        now = {name: z3.simplify(z3.substitute(term, *pairs)) for name, term in registers.items()}
        word, waits = z3.simplify(z3.substitute(WORD, *pairs)), True
        for cycle in range(WAITS):
            if not waits and z3.is_true(self._tells(now, code)):
                return cycle
            now, out = self._cycle(now, int(waits), word, 1)
            waits = waits and not out[f"{self.device.source}tready"].as_long()
        return None

    def _after(self, registers: dict[str, Any]) -> Iterator[tuple[int, Node, Any]]:
        """The state so many cycles after the word was taken, and that nothing was sent; see LENGTHS."""
        node, silent, sends = Node(registers, 0, 0, False), [], f"{self.device.output}tvalid"
        for waited in range(WAITS):
            after, out = self._cycle(node.registers, 1, WORD, z3.BitVec(f"ready!before {waited}", 1))
            silent.append(with_products(out[sends]) == 0)
            taken = self.referee.simplify(out[f"{self.device.source}tready"])
            if not z3.is_bv_value(taken):
                raise UnknownError(taken)
            node = Node(after, taken.as_long(), 0, False, node, (1, 1))
            if node.taken:
                break
        else:
            raise TooManyError(f"does not take a word in {WAITS} cycles")
        for cycle in range(1, LENGTHS[-1] + 1):
            valid, word = z3.BitVec(f"valid!after {cycle}", 1), z3.BitVec(f"word!after {cycle}", 32)
            after, out = self._cycle(node.registers, valid, word, z3.BitVec(f"ready!after {cycle}", 1))
            silent.append(with_products(out[sends]) == 0)
            node = Node(after, 1, 0, False, node, (0, 1))
            if cycle in LENGTHS:
                yield cycle, node, self.referee.simplify(z3.And(*silent))

    def _tells(self, registers: Mapping[str, Any], code: int) -> Any:
        """That the error is told."""
        _, out = self._cycle(registers, 0, WORD, 1)
        return self.referee.simplify(with_products(out[str(self.device.error)]) == code)

    def _stays(self, given: Any, registers: Mapping[str, Any], code: int) -> bool:
        """Is there an invariant that these states are all in, and in which the error is told for ever?
        `given`: what is known of the constants in them. False also means that the solver does not say."""
        terms = {name: with_products(registers[name]) for name in self.control}
        bits = {
            (name, place): z3.simplify(z3.Extract(place, place, term))
            for name, term in terms.items()
            for place in range(term.size())
        }
        found = {key: bit.as_long() for key, bit in bits.items() if z3.is_bv_value(bit)}
        if self._holds(code, found):
            self._proved(given, terms, found)
            return True
        solver = limited.solver(limited.LONG_S)
        solver.add(given)
        left, says = {key: bit for key, bit in bits.items() if key not in found}, solver.check()
        values: dict[tuple[str, int], int] | None = None
        while says == z3.sat:
            model = solver.model()
            seen = {key: model.eval(bit, model_completion=True).as_long() for key, bit in left.items()}
            values = seen if values is None else {k: v for k, v in values.items() if seen[k] == v}
            left = {key: left[key] for key in values}
            solver.add(z3.Or(*(left[key] != value for key, value in values.items())))
            says = solver.check()
        found |= values or {}
        if says != z3.unsat or not self._holds(code, found):
            return False
        self._proved(given, terms, found)
        return True

    def _proved(self, given: Any, terms: Mapping[str, Any], bits: Mapping[tuple[str, int], int]) -> None:
        """These bits are so."""
        are = (z3.Extract(place, place, terms[name]) == bit for (name, place), bit in bits.items())
        self.referee.proved(z3.Implies(given, z3.And(*are)))

    def _holds(self, code: int, bits: Mapping[tuple[str, int], int]) -> bool:
        return self.halted.holds(code, [(*key, value) for key, value in bits.items()])


def _some(given: Any) -> Mapping[str, int]:
    """Values of constants of which `given` holds; none if the solver does not say."""
    solver = limited.solver(limited.LONG_S)
    solver.add(given)
    return Shown(solver.model()) if solver.check() == z3.sat else {}


class Refused(Answers):
    """The claims on words of sizes that the model refuses."""

    stopping: Stopping | None = None

    def _stopping(self) -> Stopping:
        """Of the device, and of what is taken for control now."""
        known = self.stopping
        if known is None or known.device is not self.device or known.control != self.control:
            known = self.stopping = Stopping(self.device, self.control, self.referee)
        return known

    def _refuses(self, control: Control, instruction: Instruction) -> bool:
        """Does the model do nothing but stop, where it waits for sizes?"""
        waits = self.device.error is not None and control[0] in self.device.settings
        return waits and [*instruction.updates] == ["error"]

    def _refused(self, case: Case, registers: dict[str, Any], outcome: Outcome) -> None:
        """Whatever word is refused, and whatever comes then: nothing is sent, and the error is told for ever.
        Raises TooManyError, UnknownError."""
        assert case.instruction is not None
        code = z3.simplify(case.instruction.updates["error"]).as_long()

        def holds(claim: Any) -> tuple[bool, Mapping[str, int]]:
            self.tick()
            said, _, values = self._decide(z3.Implies(self._limits(case), claim))
            if said is None:
                raise TooManyError("no solver says whether it stops")
            return said, values

        found = self._stopping().stop(registers, code, self._limits(case), holds)
        outcome.states += found.cycles
        if found.why:
            self._fails(case, outcome, found.why, found.node, found.claim)
