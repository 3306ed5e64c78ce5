"""States at rest of a device and its model, as terms; which they are is guessed first, on integers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import z3

from axiloom.isa.formal.simulate import Simulator
from axiloom.prove.rtl.maps.device import COMBINED, Device, Link, element
from axiloom.prove.rtl.opcodes import rest as rests
from axiloom.prove.rtl.opcodes import trial
from axiloom.prove.rtl.opcodes.claim import WORD, Case, Outcome
from axiloom.prove.rtl.opcodes.command import Commands, UnknownError, elements, in_order
from axiloom.prove.rtl.opcodes.explore import Explorer
from axiloom.prove.rtl.opcodes.stale import parted, stale
from axiloom.prove.rtl.opcodes.trial import Control, Sample
from axiloom.prove.rtl.terms.machine import walk
from axiloom.prove.rtl.terms.referee import Referee

WALKS, LENGTH = 16, 150
ROUNDS, DRAWS, MOST_NEW = 40, 8, 40
ROUNDS_OF_MANY, DRAWS_OF_MANY = 3, 2
"""With sizes there are many control states; what is missed here, a solver finds."""

MOST_CHOICES = 8
"""Values of a register that are told apart. Engines that walk over images leave many in theirs."""


class StaleError(Exception):
    """What was taken for stale matters: the `names` of registers."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


class States:
    """Guesses, and terms of what is guessed. `simulate` and `simulator` are machine and model on integers."""

    word = WORD

    def __init__(
        self, device: Device, limit_s: int = 60, tick: Callable[[], None] = lambda: None, seed: int = 1
    ) -> None:
        self.device, self.limit_s, self.tick = device, limit_s, tick
        self.referee = Referee()
        self.commands = Commands(device.model, self.referee)
        self.simulate, self.simulator = device.machine.simulator(), Simulator(device.model)
        # Sizes are chosen one at a time, and each is to be seen often enough.
        walks = WALKS * (device.shapes if device.limited else 1)
        self.samples = trial.run(device, self.simulate, self.simulator, walks, LENGTH, seed)
        holding, says = self._holding()
        self._fixed_data = self.samples.data | holding
        self.stale: set[str] = set()
        if device.sizes:
            among = self._varying() - self._fixed_data - says
            kept = sorted(({*device.machine.registers} - among - self.samples.data) | holding | says)
            bits = stale(device, self.simulate, self.samples.walks, among, kept, seed)
            self.device, self.stale = parted(device, bits, self.samples)
            self.simulate = self.device.machine.simulator()
        most = 1 << 12
        self._groups = device.flags
        self._bits = {
            name: min(device.model.states[name].size(), most.bit_length())
            for group in self._groups
            for name in group
        }
        self._of_model = [
            ("model:" + "+".join(group), sum(self._bits[one] for one in group)) for group in self._groups
        ]
        self._known: dict[Any, Any] = {}
        self._owned: dict[int, tuple[Any, Any]] = {}
        self.guesses = 0
        self._begin(random.Random(seed))

    def _begin(self, source: random.Random) -> None:
        """Guess, with what is stale now."""
        self.referee.forget()
        registers = self.device.machine.registers
        self.data = self._fixed_data | self.stale
        self.control = [name for name in registers if name not in self.data]
        # Samples that a proof has added say nothing of what was taken for stale then.
        for control, some in [*self.samples.at.items()]:
            self.samples.at[control] = [one for one in some if one.registers.keys() >= {*self.control}]
            if not self.samples.at[control]:
                del self.samples.at[control]
        self.explorer = Explorer(self.device, self.control, self.tick, self.referee.simplify)
        self._names = [*self._of_model, *((f"rtl:{name}", registers[name].size()) for name in self.control)]
        self._rests: dict[Control, rests.Rest] = {}
        self._distinct: dict[Control, tuple[dict[tuple[int, ...], Sample], int]] = {}
        self._masks: dict[Control, tuple[rests.Rest, dict[str, tuple[int, int]]]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.weakened = 0
        self._settle(source)

    def _fresh(self, terms: Iterable[Any]) -> None:
        """Raises StaleError if one of the terms hangs on what is taken for stale."""
        names = frozenset().union(*(self.explorer.names(term) for term in terms))
        if found := {one for one in self.stale if f"{one}!any" in names}:
            raise StaleError(found)

    def _varying(self) -> set[str]:
        """The registers that are not the same whenever the model waits in one place."""
        found: set[str] = set()
        for samples in self.samples.at.values():
            first = samples[0].registers
            found |= {
                name for sample in samples for name, value in sample.registers.items() if value != first[name]
            }
        return found

    def _holding(self) -> tuple[set[str], set[str]]:
        """The registers that hold data of the model where that waits for a word, and those that say where."""
        machine, states = self.device.machine, self.device.model.states
        owners = {term.get_id(): name for name, term in machine.registers.items()}
        found, says = set(), set[str]()
        for control in self.samples.at:
            known = dict(zip(self.device.control, control, strict=True))
            for link in self.device.linked(known, states, machine.registers):
                if place := machine.place(link.register, link.low, link.term.size()):
                    found.add(place[0])
                    says |= {owners[one.get_id()] for one in walk([link.when]) if one.get_id() in owners}
        return found, says

    def rest(self, control: Control) -> rests.Rest:
        if control not in self._rests:
            kept, done = self._distinct.get(control, ({}, 0))
            samples = self.samples.at[control]
            for one in map(self._grouped, samples[done:]):
                key = (*(one.registers[name] for name in self.control), *one.model.values())
                kept.setdefault(key, one)
            self._distinct[control] = kept, len(samples)
            # After an error nothing happens any more, so that little need be known.
            known = dict(zip(self.device.control, control, strict=True))
            loose = bool(self.device.sizes and known["error"])
            walks = bool(self.device.sizes and self.device.limited)
            self._rests[control] = rests.guess(
                [*kept.values()], self._names, "rest ", loose=loose, most=MOST_CHOICES if walks else None
            )
        return self._rests[control]

    def _settle(self, source: random.Random) -> None:
        """Weaken what is guessed until what is tried on integers, from states drawn from it, keeps it."""
        many = bool(self.device.sizes) or self.device.limited
        rounds, draws = (ROUNDS_OF_MANY, DRAWS_OF_MANY) if many else (ROUNDS, DRAWS)
        for _ in range(rounds):
            new = 0
            for control in [*self.samples.at]:
                for _ in range(draws):
                    new += self._tried(control, source)
                if self.apart:
                    return
            if not new:
                return

    @property
    def apart(self) -> bool:
        """Machine and model go ways of their own: more and more states turn up, and a stream shows it."""
        return bool(self.samples.differs) and self.guesses > MOST_NEW

    def _tried(self, control: Control, source: random.Random) -> int:
        """Draw a state, wait, then give it a word; returns how many states on the way were not known."""
        run = self._drawn(control, source)
        waits = self.device.inputs(0, source.getrandbits(32), source.getrandbits(1))
        found = 0
        for _ in range(2):
            run.registers, _ = self.simulate(run.registers, waits)
            found += self._noted(control, run)
        if run.model.state["error"]:
            return found
        try:
            word = trial.words(self.device, run.model, source, faults=0.1)
            run.word(word)
        except trial.HangError:
            return found
        if run.model.state["error"] and self.device.error is None:
            return found
        return found + self._noted(run.control, run)

    def _noted(self, control: Control, run: trial.Trial) -> int:
        sample = run.sample()
        sample.words = ()
        grouped = self._grouped(sample)
        values = {f"rtl:{name}": grouped.registers[name] for name in self.control}
        values |= {f"model:{name}": value for name, value in grouped.model.items()}
        if self.samples.at.get(control) and self.rest(control).holds(values):
            return 0
        self.samples.at[control].append(sample)
        self._rests.pop(control, None)
        self.guesses += 1
        return 1

    def _drawn(self, control: Control, source: random.Random) -> trial.Trial:
        """A device in a state drawn from the guess."""
        drawn = self.rest(control).draw(source)
        run = trial.Trial(self.device, self.simulate, source, self.simulator)
        for name, term in self.device.machine.registers.items():
            run.registers[name] = drawn.get(f"rtl:{name}", source.getrandbits(term.size()))
        run.model.state.update(zip(self.device.control, control, strict=True))
        for group in self._groups:
            value = drawn["model:" + "+".join(group)]
            for name in reversed(group):
                run.model.state[name] = value & (1 << self._bits[name]) - 1
                value >>= self._bits[name]
        self._asked(run)
        return run

    def _asked(self, run: trial.Trial) -> None:
        """What is left of an opcode word, in the registers that say it: no data, so nothing that may be
        drawn."""
        state, machine = run.model.state, self.device.machine
        if state["error"]:
            return
        model = {
            name: z3.BitVecVal(state[name], term.sort())
            for name, term in self.device.model.states.items()
            if name in COMBINED
        }
        for link in self.device.program(state["step"], model):
            if place := machine.place(link.register, link.low, link.term.size()):
                name, low = place
                mask = (1 << link.term.size()) - 1 << low
                told = z3.simplify(link.term).as_long() << low
                run.registers[name] = run.registers[name] & ~mask | told

    def _grouped(self, sample: Sample) -> Sample:
        model = {}
        for group in self._groups:
            value = at = 0
            for name in reversed(group):
                value |= sample.model[name] << at
                at += self._bits[name]
            model["+".join(group)] = value
        return Sample(sample.registers, model, sample.words)

    def start(self, case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
        """Registers and model at rest, as terms of flags, of elements, and of what may be anything."""
        rest = self.rest(case.control)
        model = self._model(case, rest)
        registers = {
            name: rest.value(f"rtl:{name}", case.choice, self.referee.simplify)
            if f"rtl:{name}" in rest.bits
            else z3.BitVec(f"{name}!any", term.size())
            for name, term in self.device.machine.registers.items()
        }
        for name, links in self._linked(case.control, model, registers).items():
            registers[name] = self._filled(registers[name], links)
        return registers, model

    def _model(self, case: Case, rest: rests.Rest) -> dict[str, Any]:
        model = self.device.model
        state: dict[str, Any] = {}
        known = dict(zip(self.device.control, case.control, strict=True))
        for name, term in model.states.items():
            if name in known:
                state[name] = z3.BitVecVal(known[name], term.sort())
            elif z3.is_array(term):
                sort = term.sort()
                count = self.device.rooms.get(name, 0)
                state[name] = elements(name, count, sort.domain().size(), sort.range().size())
            elif name in model.init:
                state[name] = z3.BitVecVal(model.init[name], term.sort())
        for group in self._groups:
            value = rest.value("model:" + "+".join(group), case.choice, self.referee.simplify)
            at = value.size()
            for name in group:
                at -= self._bits[name]
                part = z3.Extract(at + self._bits[name] - 1, at, value)
                wide = model.states[name].size() - self._bits[name]
                state[name] = self.referee.simplify(z3.ZeroExt(wide, part) if wide else part)
        for name, flag in self.device.zeros.items():
            memory, there = state[name], state[flag] == 1
            for number in range(self.device.rooms[name]):
                own = element(state[name], number)
                value = z3.If(there, own, z3.BitVecVal(0, own.size()))
                memory = z3.Store(memory, z3.BitVecVal(number, memory.sort().domain()), value)
            state[name] = in_order(self.referee.simplify(memory))
        return state

    def _linked(
        self, control: Control, model: Mapping[str, Any], registers: Mapping[str, Any]
    ) -> dict[str, list[Link]]:
        known = dict(zip(self.device.control, control, strict=True))
        found: dict[str, list[Link]] = {}
        for link in self.device.linked(known, model, registers):
            when = self.referee.simplify(link.when)
            place = self.device.machine.place(link.register, link.low, link.term.size())
            if z3.is_false(when) or place is None:
                continue
            found.setdefault(place[0], []).append(Link(*place, self._own(link.term), when))
        return found

    def _own(self, term: Any) -> Any:
        """A term of the model with the device's product in the place of the model's."""
        number = term.get_id()
        if number not in self._owned:
            self._owned[number] = (self._with_own_product(term), term)
        return self._owned[number][0]

    def _with_own_product(self, term: Any) -> Any:
        if "product" not in self.device.model.functions:
            return self.referee.simplify(term)
        bits = self.device.bits
        function = z3.Function("product", z3.BitVecSort(bits), z3.BitVecSort(bits), z3.BitVecSort(32))
        body = self.device.multiply(z3.Var(0, z3.BitVecSort(bits)), z3.Var(1, z3.BitVecSort(bits)))
        simple = self.referee.simplify(term)
        return self.referee.simplify(z3.substitute_funs(simple, (function, body)))

    def _filled(self, register: Any, links: Sequence[Link]) -> Any:
        """The register with what its links say in their places."""
        parts, at = [], 0
        for low in sorted({link.low for link in links}):
            here = [link for link in links if link.low == low]
            size = here[0].term.size()
            if low > at:
                parts.append(z3.Extract(low - 1, at, register))
            value = z3.Extract(low + size - 1, low, register)
            for link in here:
                value = z3.If(link.when, link.term, value)
            parts.append(value)
            at = low + size
        if at < register.size():
            parts.append(z3.Extract(register.size() - 1, at, register))
        return self.referee.simplify(z3.Concat(*reversed(parts)) if len(parts) > 1 else parts[0])

    def _after(self, model: Mapping[str, Any]) -> Control:
        """The control state of the model; raises UnknownError where it hangs on a free term."""
        values = []
        for name in self.device.control:
            term = self.referee.simplify(model[name])
            if not z3.is_bv_value(term):
                raise UnknownError(term)
            values.append(term.as_long())
        return tuple(values)

    def _rest_claim(self, control: Control, model: Mapping[str, Any], registers: Mapping[str, Any]) -> Any:
        values = {f"rtl:{name}": registers[name] for name in self.control}
        high = []
        for group in self._groups:
            parts = [z3.Extract(self._bits[name] - 1, 0, model[name]) for name in group]
            values["model:" + "+".join(group)] = z3.Concat(*parts) if len(parts) > 1 else parts[0]
            high += [
                z3.Extract(model[name].size() - 1, self._bits[name], model[name]) == 0
                for name in group
                if model[name].size() > self._bits[name]
            ]
        if not self.samples.at[control]:
            return z3.BoolVal(False)
        rest = self.rest(control)
        if any(
            z3.is_bv_value(registers[name]) and registers[name].as_long() & mask != value
            for name, (mask, value) in self._constants(control, rest).items()
        ):
            return z3.BoolVal(False)
        _, same = rest.matched(values, self.referee.simplify)
        return self.referee.simplify(z3.And(same, *high))

    def _constants(self, control: Control, rest: rests.Rest) -> dict[str, tuple[int, int]]:
        """Of each control register: the bits that are known, and their values."""
        kept = self._masks.get(control)
        if kept is None or kept[0] is not rest:
            found = {}
            for name in self.control:
                bits = rest.bits[f"rtl:{name}"]
                mask = sum(1 << i for i, bit in enumerate(bits) if bit.flag is None)
                found[name] = mask, sum(bit.place << i for i, bit in enumerate(bits) if bit.flag is None)
            kept = self._masks[control] = rest, {name: pair for name, pair in found.items() if pair[0]}
        return kept[1]

    def _link_claim(self, control: Control, model: Mapping[str, Any], registers: Mapping[str, Any]) -> Any:
        claims = [
            z3.Implies(
                link.when,
                z3.Extract(link.low + link.term.size() - 1, link.low, registers[name]) == link.term,
            )
            for name, links in self._linked(control, model, registers).items()
            for link in links
        ]
        for name, flag in self.device.zeros.items():
            elements = (element(model[name], number) for number in range(self.device.rooms[name]))
            claims += [z3.Implies(model[flag] == 0, own == 0) for own in elements]
        return self.referee.simplify(z3.And(*claims))
