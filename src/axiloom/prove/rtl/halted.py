"""After an error: what bits of registers stay as they are, whatever comes, so that nothing is sent any more.

Control needs no search here. Of the bits that are known where a device has stopped, those are taken out that
a cycle may change while the others hold, until no more are: what is left is an invariant. All other bits, the
word and both handshakes may be anything. One invariant does for every state that is in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import z3

from axiloom.prove.rtl.device import Device

LIMIT_MS = 20_000

Known = tuple[str, int, int]
"""A register, a place in it, and the bit that is there."""


class Halted:
    """Invariants of a device that has stopped."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._found: dict[int, list[frozenset[Known]]] = {}
        machine = device.machine
        self._before = {
            name: z3.BitVec(f"{name}!halted", one.size()) for name, one in machine.registers.items()
        }
        given = device.inputs(z3.BitVec("valid!any", 1), z3.BitVec("word!any", 32), z3.BitVec("ready!any", 1))
        inputs = {
            name: z3.BitVecVal(value, _width(machine.inputs[name])) if isinstance(value, int) else value
            for name, value in given.items()
        }
        self._after, self._out = machine.stepper()(self._before, inputs)

    def holds(self, code: int, known: Collection[Known]) -> bool:
        """Where these bits are known: is nothing ever sent, and the error `code` always told? False also
        means that the solver does not say."""
        bits = frozenset(known)
        if any(one <= bits for one in self._found.get(code, ())):
            return True
        kept = self._kept(bits)
        if kept is None:
            return False
        solver = z3.Solver()
        solver.set("timeout", LIMIT_MS)
        solver.add(*(_is(self._before, one) for one in kept))
        sends, told = self._out[f"{self.device.output}tvalid"], self._out[str(self.device.error)]
        solver.add(z3.Or(sends != 0, told != code))
        if solver.check() != z3.unsat:
            return False
        self._found.setdefault(code, []).append(kept)
        return True

    def _kept(self, bits: frozenset[Known]) -> frozenset[Known] | None:
        """The largest part of `bits` that every cycle keeps; None: the solver does not say."""
        solver = z3.Solver()
        solver.set("timeout", LIMIT_MS)
        marks = {one: z3.Bool(f"kept {one}") for one in sorted(bits)}
        for one, mark in marks.items():
            solver.add(z3.Implies(mark, _is(self._before, one)))
        left = set(bits)
        while left:
            changes = z3.Bool(f"changes {len(left)}")
            solver.add(z3.Implies(changes, z3.Or(*(z3.Not(_is(self._after, one)) for one in sorted(left)))))
            says = solver.check(changes, *(marks[one] for one in left))
            if says == z3.unsat:
                break
            if says != z3.sat:
                return None
            model = solver.model()
            left -= {
                one for one in left if z3.is_false(model.eval(_is(self._after, one), model_completion=True))
            }
        return frozenset(left)


def _is(values: Mapping[str, Any], known: Known) -> Any:
    name, place, bit = known
    return z3.Extract(place, place, values[name]) == bit


def _width(term: Any) -> int:
    return 1 if z3.is_bool(term) else int(term.size())
