"""``axiloom prove spec`` on an instruction set with meaning: its formal model is sound, and is what it does.

What holds in all states is proved. That the NumPy simulator computes what the terms say is a test: from
random states, each instruction with random legal fields, both end in the same state.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from axiloom.base.cache import content_hash
from axiloom.isa.formal import bounds, limited, sound
from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.ila import Instruction
from axiloom.isa.formal.programs import Model, model_of
from axiloom.isa.formal.simulate import Memory, Simulator
from axiloom.isa.instructions.simulator.simulate import Simulator as ArraySimulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError
from axiloom.isa.instructions.tree import InstructionSet, Range
from axiloom.prove.spec import LIMIT_S, answers, kept_verdicts
from axiloom.prove.verdict import Answer, Say, Verdict
from axiloom.report.proved import sources

SAMPLES = 4
"""Random commands of each instruction."""
FEW = 3
"""Turns of a loop in a random command, where its bounds are known beforehand."""
MOST_STEPS = 3000
"""A random command whose program takes more is left out."""


def claims_of(source: InstructionSet) -> tuple[Model, list[sound.Claim]]:
    """The model of a text and what is to be proved of it."""
    model = model_of(source)
    return model, [*covers(source, model), *sound.claims(model.ila), *bounds.claims(source)]


def covers(source: InstructionSet, model: Model) -> Iterator[sound.Claim]:
    """Each instruction can come, be legal, and write: else all that is claimed of it says nothing."""
    ranges = bounds.required(source)
    within = _within(model, ranges)
    for name in source.instructions:
        ways = [
            z3.And(model.ila.valid, instruction.decode)
            for instruction in model.ila.instructions
            if instruction.name == name
            or (instruction.name.startswith(f"{name}.") and instruction.name != f"{name}.illegal")
        ]
        text = f"some command is {name}, and meets its requirements"
        never = z3.Not(z3.And(within, z3.Or(*ways)))
        yield sound.Claim(f"{source.name}.{name}: it comes", text, never, "covers", cover=True)
    yield from bounds.effects(source, ranges)


def _within(model: Model, ranges: Mapping[str, Range]) -> z3.BoolRef:
    wide = {
        name: (z3.SignExt if kind.signed else z3.ZeroExt)(1, model.ila.states[name])
        for name, kind in ranges.items()
    }
    return z3.And(*(z3.And(wide[name] >= kind.low, wide[name] <= kind.high) for name, kind in ranges.items()))


def prove(
    source: InstructionSet, limit_s: int = LIMIT_S, say: Say = lambda _verdict, _total: None
) -> list[Verdict]:
    """The verdicts on all claims and the test against the simulator; from the cache, if all were decided
    before.

    `say` is told of each as it comes, with their number.
    """

    def ask() -> list[dict[str, Any]]:
        model, claims = claims_of(source)
        return answers(source.name, claims, lambda: compared(source, model), limit_s, say)

    return kept_verdicts(
        content_hash("instructions", repr(source), sources()),
        ask,
    )


def compared(source: InstructionSet, model: Model, samples: int = SAMPLES, seed: int = 1) -> Verdict:
    """The terms, executed, beside the NumPy simulator: the same state after random commands."""
    begun, done = time.perf_counter(), 0
    never: list[str] = []
    """Instructions that no random command has shown."""
    wrong: list[str] = []
    terms = Simulator(model.ila)  # made of the terms once: that takes seconds
    start = dict(terms.state)
    ranges = bounds.kept(source)
    text = "from random states, random commands of each instruction leave the same state"
    for instruction in model.ila.instructions:
        if instruction.name == "unknown" or instruction.name.endswith(".illegal"):
            continue
        before = done
        for number in range(samples):
            sample = Sample(source, model, instruction, seed + number, ranges)
            if not sample.enabled:
                continue
            terms.state.clear()
            terms.state |= start
            differs = sample.difference(terms)
            if differs is None:  # it takes too long
                continue
            if differs:
                wrong.append(f"{instruction.name} (seed {seed + number}): {differs}")
                break
            done += 1
        never += [instruction.name] if done == before and not wrong else []
    seconds = time.perf_counter() - begun
    if wrong:
        text += f"; not so for {'; '.join(wrong)}"
        return Verdict(
            source.name, "", "simulator: terms", text, "", Answer.VIOLATED, done, "simulation", seconds,
            unit="commands",
        )  # fmt: skip
    names = ", ".join(never)
    text += f" ({done} commands{f'; none of {names}' if never else ''})"
    answer = Answer.HOLDS if done else Answer.OPEN
    return Verdict(
        source.name, "", "simulator: terms", text, "", answer, done, "simulation", seconds, unit="commands"
    )


@dataclass
class _Sources:
    chance: random.Random
    arrays: np.random.Generator


class Sample:
    """A random state in which `instruction` is enabled, and a command; not `enabled` where there is none.

    `ranges`: of registers that have smaller ones than their types'.
    """

    def __init__(
        self,
        source: InstructionSet,
        model: Model,
        instruction: Instruction,
        seed: int,
        ranges: Mapping[str, Range],
    ) -> None:
        self.ranges = ranges
        self.source, self.model, self.instruction = source, model, instruction
        self.chance = _Sources(random.Random(seed), np.random.default_rng(seed))
        self.memories = {
            name: self._random(memory.type, memory.shape) for name, memory in source.memories.items()
        }
        self.inputs: dict[str, int] = {}
        self.registers: dict[str, int] = {}
        self.enabled = self._choose()

    def _random(self, kind: Range, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        wide: npt.NDArray[Any] = self.chance.arrays.integers(
            kind.low, kind.high, shape, np.int64, endpoint=True
        )
        return wide

    def _choose(self) -> bool:
        """Random bits as far as the instruction stays enabled, and loops short where that is possible."""
        ila, solver = self.model.ila, limited.solver(limited.QUICK_S)
        solver.set("random_seed", self.chance.chance.getrandbits(16))
        solver.add(self.instruction.decode)
        solver.add(_within(self.model, self.ranges))
        if solver.check() != z3.sat:
            return False
        program = self.model.programs.get(self.instruction.name.split(".")[0])
        pairs = [(ila.states[name], term) for name, term in self.instruction.updates.items()]
        for measure in program.turns if program else ():
            short = z3.ULE(z3.substitute(measure, *pairs), FEW)
            solver.push()
            solver.add(short)
            if solver.check() != z3.sat:
                solver.pop()
        state = {name: ila.states[name] for name in self.source.registers}
        for term in [*ila.inputs.values(), *state.values()]:
            for low in range(0, term.size(), 8):
                high = min(low + 7, term.size() - 1)
                wanted = self.chance.chance.getrandbits(high - low + 1)
                solver.push()
                solver.add(z3.Extract(high, low, term) == wanted)
                if solver.check() != z3.sat:
                    solver.pop()
        if solver.check() != z3.sat:
            return False
        model = solver.model()

        def value(term: Any) -> int:
            number: int = model.eval(term, model_completion=True).as_long()
            return number

        self.inputs = {name: value(term) for name, term in ila.inputs.items()}
        self.registers = {name: value(term) for name, term in state.items()}
        for select in [node for node in postorder([self.instruction.decode]) if z3.is_select(node)]:
            name = select.arg(0).decl().name()
            kind, raw = self.source.memories[name].type, value(select)
            self.memories[name].reshape(-1)[value(select.arg(1))] = _value(raw, kind)
        return True

    def difference(self, terms: Simulator) -> str | None:
        """What differs after the command; empty where nothing does, None where it takes too long."""
        terms.steps_left = MOST_STEPS
        terms.state |= self.registers
        for name, memory in self.source.memories.items():
            terms.state[name] = _Backed(self.memories[name].reshape(-1), memory.type)
        try:
            terms.command(**self.inputs)
        except RuntimeError:
            return None
        arrays = ArraySimulator(self.source)
        for name, raw in self.registers.items():
            arrays.state[name] = _value(raw, self.source.registers[name].type)
        for name in self.source.memories:
            arrays.state[name] = self.memories[name]
        try:
            arrays.command(**self.inputs)
        except IllegalCommandError as error:
            values = {**self.inputs, **{name: arrays.state[name] for name in self.registers}}
            return f"{error}; with {', '.join(f'{name} = {value}' for name, value in values.items())}"
        for name, register in self.source.registers.items():
            mine = _value(terms.state[name], register.type)
            if mine != arrays.state[name]:
                return f"{name} is {mine} by the terms and {arrays.state[name]} in the simulator"
        for name, memory in self.source.memories.items():
            changed = self.memories[name].copy().reshape(-1)
            for address, raw in terms.state[name].items():
                changed[address] = _value(raw, memory.type)
            other = np.asarray(arrays.state[name], np.int64).reshape(-1)
            if (places := np.flatnonzero(changed != other)).size:
                at = int(places[0])
                return f"{name} at {at} is {changed[at]} by the terms and {other[at]} in the simulator"
        return ""


class _Backed(Memory):
    """Elements of an array, until something is stored."""

    def __init__(self, values: npt.NDArray[Any], kind: Range) -> None:
        super().__init__()
        self._values, self._mask = values, (1 << kind.bits) - 1

    def __missing__(self, address: int) -> int:
        return int(self._values[address]) & self._mask


def _value(raw: int, kind: Range) -> int:
    return raw - (1 << kind.bits) if kind.signed and raw >> kind.bits - 1 else raw
