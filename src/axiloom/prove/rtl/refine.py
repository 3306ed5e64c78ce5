"""What is claimed of a device, and proved.

At rest a device is in a state of its invariant (:mod:`axiloom.prove.rtl.rest`), and its registers hold what
the model holds (its links). Claimed is:

- reset, from whatever registers hold, leads to such a state, the one of the model's reset;
- a cycle without a word stays in them, and nothing is sent;
- a word leads from each of them to the one that the model is in after its instruction, and the words that go
  out on the way, with TLAST, are the model's, whenever the other side takes them;
- a device whose model has stopped sends nothing, whatever comes.

So every stream of words is refined whose words come when the device is at rest, for any data and any waiting.
Words that come sooner are looked at in streams from reset, to a bound.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from axiloom.isa.formal.ila import Instruction
from axiloom.isa.formal.simulate import Simulator
from axiloom.prove import solvers
from axiloom.prove.rtl import multiplier, trial
from axiloom.prove.rtl import rest as rests
from axiloom.prove.rtl.command import Commands, UnknownError, elements
from axiloom.prove.rtl.device import Device, Link
from axiloom.prove.rtl.explore import Explorer, Node, Sent, TooManyError, WrongError
from axiloom.prove.rtl.machine import walk
from axiloom.prove.rtl.trial import Control, Sample

WALKS, LENGTH = 16, 150
ROUNDS, DRAWS, MOST_NEW = 40, 8, 200
WORD = z3.BitVec("word", 32)
QUICK_MS = 2000
STREAMS, MOST_WORDS, MOST_SENT, STREAM_S = 1, 64, 24, 60
MOST_GUESSES = 100


@dataclass(frozen=True)
class Case:
    """A start: a control state, an instruction (None: no word), its word, what is chosen and assumed."""

    control: Control
    instruction: Instruction | None
    word: Any = WORD
    limits: tuple[Any, ...] = ()
    """What is known of the word."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    assumed: tuple[tuple[Any, Any], ...] = ()


@dataclass
class Outcome:
    """Of all cases of one claim."""

    name: str
    text: str
    holds: bool | None = True
    states: int = 0
    cases: int = 0
    seconds: float = 0.0
    solver: str = "z3"
    why: str = ""
    bound: int | None = None
    """Words to which it was looked at; None: of any number."""
    never: bool = False
    """Of an instruction: no case is one."""
    done: set[str] = field(default_factory=set)
    fault: Fault | None = None


@dataclass(frozen=True)
class Fault:
    """Where a claim fails: the case, the cycles until then, and values of the free constants."""

    case: Case
    path: tuple[tuple[int, int], ...]
    values: Mapping[str, int]


class _Drawn(dict[str, int]):
    """A number for whatever is asked for."""

    def __init__(self, source: random.Random) -> None:
        super().__init__()
        self.source = source

    def get(self, name: str, _default: Any = None) -> int:
        return self.setdefault(name, self.source.getrandbits(32))


class GuessedWrongError(Exception):
    """An invariant was guessed too strong; it is weaker now, and what led there is to be proved again."""


class Refiner:
    """Proves the claims on `device`. `simulate` and `simulator` are machine and model on integers."""

    word = WORD

    def __init__(
        self, device: Device, limit_s: int = 60, tick: Callable[[], None] = lambda: None, seed: int = 1
    ) -> None:
        self.device, self.limit_s, self.tick = device, limit_s, tick
        self.commands = Commands(device.model)
        self.simulate, self.simulator = device.machine.simulator(), Simulator(device.model)
        self.samples = trial.run(device, self.simulate, self.simulator, WALKS, LENGTH, seed)
        registers = device.machine.registers
        self.data = {*self.samples.data}
        self.control = [name for name in registers if name not in self.data]
        self.explorer = Explorer(device, self.control, tick)
        most = 1 << 12
        self._groups = device.flags
        self._bits = {
            name: min(device.model.states[name].size(), most.bit_length())
            for group in self._groups
            for name in group
        }
        names = [
            ("model:" + "+".join(group), sum(self._bits[one] for one in group)) for group in self._groups
        ]
        names += [(f"rtl:{name}", registers[name].size()) for name in self.control]
        self._names = names
        self._rests: dict[Control, rests.Rest] = {}
        self.guesses = 0
        self.outcomes: dict[str, Outcome] = {}
        self.weakened = 0
        self._settle(random.Random(seed))
        self._known: dict[Any, Any] = {}
        self._masks: dict[Control, tuple[rests.Rest, dict[str, tuple[int, int]]]] = {}
        self._owned: dict[int, tuple[Any, Any]] = {}

    # --- states at rest -----------------------------------------------------------------------------------

    def rest(self, control: Control) -> rests.Rest:
        if control not in self._rests:
            samples = [self._grouped(one) for one in self.samples.at[control]]
            self._rests[control] = rests.guess(samples, self._names, "rest ")
        return self._rests[control]

    def _settle(self, source: random.Random) -> None:
        """Weaken what is guessed until what is tried on integers, from states drawn from it, keeps it."""
        for _ in range(ROUNDS):
            new = 0
            for control in [*self.samples.at]:
                for _ in range(DRAWS):
                    new += self._tried(control, source)
            self.guesses += new
            if not new or self.guesses > MOST_NEW:  # machine and model may go ways of their own for ever
                return

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
        return run

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
            name: rest.value(f"rtl:{name}", case.choice)
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
                count = 0 if name in ("sent", "last") else self._capacity(name)
                state[name] = elements(name, count, sort.domain().size(), sort.range().size())
            elif name in model.init:
                state[name] = z3.BitVecVal(model.init[name], term.sort())
        for name in (*(f"at_{dim}" for dim in self.device.spec.dims), *self.device.data):
            if name in state:
                state[name] = z3.BitVec(f"{name}!any", state[name].size())
        for group in self._groups:
            value = rest.value("model:" + "+".join(group), case.choice)
            at = value.size()
            for name in group:
                at -= self._bits[name]
                part = z3.Extract(at + self._bits[name] - 1, at, value)
                wide = model.states[name].size() - self._bits[name]
                state[name] = z3.simplify(z3.ZeroExt(wide, part) if wide else part)
        return state

    def _capacity(self, name: str) -> int:
        spec = self.device.spec
        return spec.buffers[name] * spec.operand_type(name).per_word

    def _linked(
        self, control: Control, model: Mapping[str, Any], registers: Mapping[str, Any]
    ) -> dict[str, list[Link]]:
        known = dict(zip(self.device.control, control, strict=True))
        found: dict[str, list[Link]] = {}
        for link in self.device.links(known, model, registers):
            when = z3.simplify(link.when)
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
            return z3.simplify(term)
        bits = self.device.bits
        function = z3.Function("product", z3.BitVecSort(bits), z3.BitVecSort(bits), z3.BitVecSort(32))
        body = self.device.multiply(z3.Var(0, z3.BitVecSort(bits)), z3.Var(1, z3.BitVecSort(bits)))
        return z3.simplify(z3.substitute_funs(z3.simplify(term), (function, body)))

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
        return z3.simplify(z3.Concat(*reversed(parts)) if len(parts) > 1 else parts[0])

    # --- ends ---------------------------------------------------------------------------------------------

    def _after(self, model: Mapping[str, Any]) -> Control:
        """The control state of the model; raises UnknownError where it hangs on a free term."""
        values = []
        for name in self.device.control:
            term = z3.simplify(model[name])
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
        _, same = rest.matched(values)
        return z3.simplify(z3.And(same, *high))

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
        return z3.simplify(z3.And(*claims))

    # --- claims -------------------------------------------------------------------------------------------

    def prove(self, *, stop: bool = False) -> Iterator[Outcome]:
        """All claims. With `stop`, none after the first that fails."""
        product = self._product()
        yield product
        if stop and product.holds is False:
            return
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
            self._overlap()
        yield from (one for one in self.outcomes.values() if one.cases or one.holds is not True)
        if not self.faults:
            yield from self._unseen()

    @property
    def faults(self) -> list[Outcome]:
        return [one for one in self.outcomes.values() if one.holds is False]

    def _unseen(self) -> Iterator[Outcome]:
        """Instructions of the model that no case has executed: no state that enables them is reached."""
        done = {path for one in self.outcomes.values() for path in one.done}
        for one in self.device.model.everything():
            if one.path in done or (one.name == "mismatch" and not self.device.sizes):
                continue  # sizes that nobody can set are never others
            if one.name in self.outcomes:
                continue  # not decided
            stops = str(one.updates.get("error", "0")) != "0"
            if stops and self.device.error is None:
                continue
            text = f"{one.text}: enabled in no state that is reached"
            if self.device.fixed:
                text += " with these sizes"
            yield Outcome(one.path.partition(".")[2], text, never=True)

    def _outcome(self, name: str, text: str) -> Outcome:
        return self.outcomes.setdefault(name, Outcome(name, text))

    def _product(self) -> Outcome:
        begun = time.perf_counter()
        made = Outcome("product", "two elements are multiplied as the model does, for all values", cases=1)
        made.holds, made.solver = multiplier.holds(self.device.multiply, self.device.bits, self._decide)
        made.seconds = time.perf_counter() - begun
        if made.holds is False:
            first = tuple(self.device.model.init[name] for name in self.device.control)
            made.why, made.fault = "another product", Fault(Case(first, None), (), {})
        return made

    def _reset(self) -> tuple[Control, Outcome]:
        begun = time.perf_counter()
        made = Outcome("reset", "from any state, a cycle of reset leads to the model's reset state", cases=1)
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
        state = {
            name: z3.BitVecVal(model.init[name], term.sort()) if name in model.init else term
            for name, term in model.states.items()
        }
        claim = z3.And(
            self._rest_claim(control, state, registers), self._link_claim(control, state, registers)
        )
        for _ in range(20):
            made.holds, made.solver, values = self._decide(claim)
            if made.holds is not False or not self._weaken(control, state, registers, values):
                break
            claim = self._rest_claim(control, state, registers)
        made.seconds = time.perf_counter() - begun
        return control, made

    def _terms(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for name, value in inputs.items():
            one = self.device.machine.inputs[name]
            bits = 1 if z3.is_bool(one) else one.size()
            made[name] = z3.BitVecVal(value, bits) if isinstance(value, int) else value
        return made

    def _from(self, control: Control, left: deque[Control]) -> Iterator[Control]:
        """All claims that begin in a control state; what control states they lead to."""
        known = dict(zip(self.device.control, control, strict=True))
        if known["error"]:
            self._try(
                "stopped", "after an error nothing is sent, whatever comes", [Case(control, None)], left
            )
            return
        self._try("wait", "without a word nothing happens", [Case(control, None)], left)
        if control in left:  # more is known of it now
            return
        sets = self.device.sets(control[0])
        for instruction in self.device.model.instructions:
            cases = self._cases(control, instruction)
            for case in cases if sets is None else self._fixed(sets, cases):
                yield from self._try(instruction.name, instruction.text, [case], left)

    def _try(self, name: str, text: str, cases: Sequence[Case], left: deque[Control]) -> set[Control]:
        outcome, todo, begun = self._outcome(name, text), [*cases], time.perf_counter()
        reached: set[Control] = set()
        while todo:
            case = todo.pop()
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
            if after is not None:
                reached.add(after)
        outcome.seconds += time.perf_counter() - begun
        return reached

    def _limits(self, case: Case) -> Any:
        flags = self.rest(case.control).flags
        domains = [
            z3.Or(*(flag.term == value for value in flag.values))
            for flag in flags
            if flag.name not in case.choice and len(flag.values) < 1 << flag.bits
        ]
        return z3.And(*domains, *case.limits, *(term == value for term, value in case.assumed))

    def _forked(self, case: Case, term: Any) -> list[Case]:
        """The case once for each value of a flag that the term hangs on; else for each value of the term."""
        names = self.explorer.names(term)
        for flag in self.rest(case.control).flags:
            if flag.name in names and flag.name not in case.choice:
                return [
                    replace(case, choice={**case.choice, flag.name: z3.BitVecVal(value, flag.bits)})
                    for value in flag.values
                ]
        solver = z3.Solver()
        solver.set("timeout", QUICK_MS)
        solver.add(self._limits(case))
        found: list[Case] = []
        while (says := solver.check()) == z3.sat:
            value = solver.model().eval(term, model_completion=True)
            if z3.is_bool(term):
                raise TooManyError("what the model does hangs on data")
            found.append(replace(case, assumed=(*case.assumed, (term, value))))
            solver.add(term != value)
            if len(found) > 16:
                raise TooManyError("control hangs on data")
        if says == z3.unknown:
            raise TooManyError("z3 does not say which values control may have")
        return found

    def _fixed(self, word: int, cases: Iterator[Case]) -> Iterator[Case]:
        """Of words that set sizes, the one that sets those that are looked at; what is left is said."""
        for case in cases:
            assert case.instruction is not None
            outcome = self._outcome(case.instruction.name, case.instruction.text)
            outcome.holds = None if outcome.holds else outcome.holds
            outcome.why = outcome.why or "of words that set other sizes nothing is claimed"
            _, model = self.start(case)
            value = z3.BitVecVal(word, 32)
            if z3.is_true(self.commands.enabled(case.instruction, model, value)):
                yield replace(case, word=value, limits=())

    def _cases(self, control: Control, instruction: Instruction) -> Iterator[Case]:
        """Words with which the instruction is enabled here."""
        case = Case(control, instruction)
        _, model = self.start(case)
        when = self.commands.enabled(instruction, model, WORD)
        if z3.is_false(when):
            return
        solver = z3.Solver()
        solver.add(when)
        new = {name: instruction.updates[name] for name in self.device.sizes if name in instruction.updates}
        pairs = [(self.device.model.states[name], term) for name, term in model.items()]
        pairs.append((self.device.model.inputs["word"], WORD))
        sizes = [z3.substitute(term, *pairs) for term in new.values()]
        while solver.check() == z3.sat:
            values = [solver.model().eval(term, model_completion=True) for term in sizes]
            here = z3.And(when, *(term == value for term, value in zip(sizes, values, strict=True)))
            word = self._word(here)
            limits = z3.simplify(z3.substitute(here, (WORD, word)))
            yield replace(case, word=word, limits=() if z3.is_true(limits) else (limits,))
            if not sizes:
                return
            solver.add(z3.Or(*(term != value for term, value in zip(sizes, values, strict=True))))

    def _word(self, when: Any) -> Any:
        """The word, with a value for each bit that can have only one."""
        if z3.is_true(when):
            return WORD
        solver = z3.Solver()
        solver.add(when)
        parts = []
        for place in reversed(range(32)):
            bit = z3.Extract(place, place, WORD)
            can = [value for value in (0, 1) if solver.check(bit == value) != z3.unsat]
            parts.append(bit if len(can) == 2 else z3.BitVecVal(can[0], 1))
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
        count = z3.simplify(after["n_sent"]).as_long()
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
        return z3.simplify(out[self.device.error] == code)

    def _overlap(self) -> None:
        """Streams of words from reset that do not wait for the device to be at rest."""
        text = (
            "words from reset that do not wait: one at once after the other, and taken whenever; or with any "
        )
        text += "gaps, and taken at once"
        outcome, begun = self._outcome("overlap", text), time.perf_counter()
        first = tuple(self.device.model.init[name] for name in self.device.control)
        sample = next(one for one in self.samples.at[first] if one.words == ())
        values = {f"rtl:{name}": sample.registers[name] for name in self.control}
        values |= {f"model:{name}": value for name, value in self._grouped(sample).model.items()}
        rest = self.rest(first)
        choice = {
            flag.name: z3.BitVecVal(
                sum(
                    (values[name] >> place & 1) << i for i, (name, place) in enumerate(rest.shown[flag.name])
                ),
                flag.bits,
            )
            for flag in rest.flags
        }
        # Each of the two with as many words as there is time for; the bound is the smaller.
        outcome.bound = MOST_WORDS
        for seed in range(STREAMS):
            stream = self._stream(random.Random(seed))
            for others in ({"gaps": False, "stalls": True}, {"gaps": True, "stalls": False}):
                count = len(stream)
                while count and not self._streamed(
                    Case(first, None, choice=choice), stream[:count], outcome, others
                ):
                    count //= 2
                outcome.cases += 1
                outcome.bound = min(outcome.bound, count)
        outcome.seconds = time.perf_counter() - begun

    def _streamed(
        self, case: Case, stream: Sequence[tuple[int, bool]], outcome: Outcome, others: Mapping[str, bool]
    ) -> bool:
        """Search what the device does with a stream, its data any; False: that would take too long."""
        registers, model = self.start(case)
        words: list[Any] = []
        after = model
        for number, (word, is_data) in enumerate(stream):
            words.append(z3.BitVec(f"data{number}", 32) if is_data else z3.BitVecVal(word, 32))
            enabled = [
                one
                for one in self.device.model.instructions
                if z3.is_true(self.commands.enabled(one, after, words[-1]))
            ]
            if len(enabled) != 1:
                return False
            after, _ = self.commands.execute(enabled[0], after, words[-1])
        control = self._after(after)
        try:
            self._searched(
                case, registers, words, after, control, outcome, deque(), **others, limit_s=STREAM_S
            )
        except (TooManyError, UnknownError, GuessedWrongError):
            return False
        return True

    def _stream(self, source: random.Random) -> list[tuple[int, bool]]:
        """Words that a driver may send, and which of them are data; as many as one search can go through."""
        run, sent = trial.another(self.simulator), 0
        found: list[tuple[int, bool]] = []
        while len(found) < MOST_WORDS and sent < MOST_SENT:
            word = trial.words(self.device, run, source, faults=0.0)
            fired = run.command(word=word)
            if run.state["error"]:
                break
            found.append((word, fired[0].endswith((".more", ".last"))))
            sent = run.state["n_sent"]
        return found

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
            if error and not z3.is_true(z3.simplify(out[error] == 0)):
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
                told = z3.simplify(out[str(self.device.error)] == code)
                if not self._holds(case, told):
                    self._fails(case, outcome, "tells another error", new, told)
                    return
                todo.append(new)
            if len(known) > 500:
                raise TooManyError("more than 500 states after an error")
        outcome.states += len(known)

    # --- answers ------------------------------------------------------------------------------------------

    def _holds(self, case: Case, claim: Any) -> bool:
        if z3.is_true(claim):
            return True
        if z3.is_false(claim):
            return False
        holds, _, self._values = self._decide(z3.Implies(self._limits(case), claim))
        return bool(holds)

    def _decide(self, claim: Any) -> tuple[bool | None, str, Mapping[str, int]]:
        claim = z3.simplify(claim)
        if z3.is_true(claim):
            return True, "z3", {}
        solver = z3.Solver()
        solver.set("timeout", QUICK_MS)
        solver.add(z3.Not(claim))
        says = solver.check()
        if says == z3.unsat:
            return True, "z3", {}
        if says == z3.sat:
            model = solver.model()
            values = {
                one.name(): model[one].as_long()
                for one in model
                if one.arity() == 0 and z3.is_bv_value(model[one])
            }
            return False, "z3", values
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
            sample = Sample(
                {name: self._value(registers[name], own) for name in self.control},
                {name: self._value(model[name], own) for group in self._groups for name in group},
                (),
            )
            self.samples.at[control].append(sample)
        self._rests.pop(control, None)
        return old is None or self._covers(control, old)

    def _covers(self, control: Control, old: rests.Rest) -> bool:
        """Make the invariant one that every state of the old one is in: what led to those still holds."""
        values = {name: old.value(name, {}) for name in old.bits}
        limits = [
            z3.Or(*(flag.term == value for value in flag.values))
            for flag in old.flags
            if len(flag.values) < 1 << flag.bits
        ]
        for _ in range(MOST_GUESSES):
            holds, _, found = self._decide(z3.Implies(z3.And(*limits), self.rest(control).matched(values)[1]))
            if holds is not False:
                return bool(holds)
            now = {name: self._value(term, found) for name, term in values.items()}
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

    def _value(self, term: Any, values: Mapping[str, int]) -> int:
        if z3.is_bv_value(term):
            return int(term.as_long())
        constants = [one for one in walk([term]) if z3.is_const(one) and not z3.is_bv_value(one)]
        pairs = [
            (one, z3.BitVecVal(values.get(one.decl().name(), 0), one.size()))
            for one in constants
            if z3.is_bv(one)
        ]
        known = z3.simplify(z3.substitute(term, *pairs))
        return int(known.as_long()) if z3.is_bv_value(known) else 0

    def _fails(self, case: Case, outcome: Outcome, text: str, node: Node, claim: Any) -> None:
        holds, _, values = self._decide(z3.Implies(self._limits(case), claim))
        if holds is None:
            outcome.holds, outcome.why = None if outcome.holds else outcome.holds, text
            return
        if outcome.holds is not False:
            outcome.holds, outcome.why = False, text
            outcome.fault = Fault(case, tuple(node.path), values)
