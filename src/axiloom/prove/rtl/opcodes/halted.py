"""After an error: what bits of registers stay as they are, whatever comes, so that nothing is sent any more.

Control needs no search here. Of the bits that are known where a device has stopped, those are taken out that
a cycle may change while the others hold, until no more are: what is left is an invariant. All other bits, the
word and both handshakes may be anything. Most are taken out by cycles on integers, the last ones by a solver,
which also says that no more are left. One invariant does for every state that is in it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

import z3

from axiloom.isa.formal import limited
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.terms.referee import SHARED, Referee

QUIET = 30
"""Cycles on integers in a row that change nothing of what is left."""

Known = tuple[str, int, int]
"""A register, a place in it, and the bit that is there."""


class Halted:
    """Invariants of a device that has stopped."""

    def __init__(self, device: Device, referee: Referee) -> None:
        self.device, self.referee = device, referee
        self._found: dict[int, list[frozenset[Known]]] = {}
        machine = device.machine
        self._before = {
            name: z3.BitVec(f"{name}!halted", register.size()) for name, register in machine.registers.items()
        }
        given = device.inputs(z3.BitVec("valid!any", 1), z3.BitVec("word!any", 32), z3.BitVec("ready!any", 1))
        inputs = {
            name: z3.BitVecVal(value, _width(machine.inputs[name])) if isinstance(value, int) else value
            for name, value in given.items()
        }
        self._after, self._out = machine.stepper()(self._before, inputs)
        self._simulate = machine.simulator()

    def holds(self, code: int, known: Collection[Known]) -> bool:
        """Where these bits are known: is nothing ever sent, and the error `code` always told? False also
        means that the solver does not say."""
        bits = frozenset(known)
        if any(one <= bits for one in self._found.get(code, ())):
            return True
        kept = self._kept(bits)
        if kept is None:
            return False
        solver = limited.solver(limited.LONG_S)
        solver.add(*(_is(self._before, one) for one in kept))
        sends, told = self._out[f"{self.device.output}tvalid"], self._out[str(self.device.error)]
        solver.add(z3.Or(sends != 0, told != code))
        if solver.check() != z3.unsat:
            return False
        before = z3.And(*(_is(self._before, one) for one in sorted(kept)))
        stays = (_is(self._after, one) for one in sorted(kept))
        self.referee.proved(z3.Implies(before, z3.And(sends == 0, told == code, *stays)), SHARED)
        self._found.setdefault(code, []).append(kept)
        return True

    def _kept(self, bits: frozenset[Known]) -> frozenset[Known] | None:
        """The largest part of `bits` that every cycle keeps; None: the solver does not say."""
        solver = limited.solver(limited.LONG_S)
        left = self._tried(bits)
        marks = {one: z3.Bool(f"kept {one}") for one in sorted(left)}
        goes = {one: z3.Not(_is(self._after, one)) for one in marks}
        for one, mark in marks.items():
            solver.add(z3.Implies(mark, _is(self._before, one)))
        while left:
            changes = z3.Bool(f"changes {len(left)}")
            solver.add(z3.Implies(changes, z3.Or(*(goes[one] for one in sorted(left)))))
            says = solver.check(changes, *(marks[one] for one in left))
            if says == z3.unsat:
                break
            if says != z3.sat:
                return None
            model = solver.model()
            left -= {one for one in left if z3.is_true(model.eval(goes[one], model_completion=True))}
        return frozenset(left)

    def _tried(self, bits: Collection[Known]) -> set[Known]:
        """Without those that some cycle on integers changes, from a state in which what is left holds."""
        source, left, quiet = random.Random(1), set(bits), 0
        inputs = {name: _width(term) for name, term in self.device.machine.inputs.items()}
        while quiet < QUIET:
            registers = {name: source.getrandbits(term.size()) for name, term in self._before.items()}
            for name, place, bit in left:
                registers[name] = registers[name] & ~(1 << place) | bit << place
            drawn = (source.getrandbits(wide) for wide in (1, 32, 1))
            given = {
                name: value & (1 << inputs[name]) - 1 for name, value in self.device.inputs(*drawn).items()
            }
            after, _ = self._simulate(registers, given)
            kept = {one for one in left if after[one[0]] >> one[1] & 1 == one[2]}
            quiet = quiet + 1 if len(kept) == len(left) else 0
            left = kept
        return left


def _is(values: Mapping[str, Any], known: Known) -> Any:
    name, place, bit = known
    return z3.Extract(place, place, values[name]) == bit


def _width(term: Any) -> int:
    return 1 if z3.is_bool(term) else int(term.size())
