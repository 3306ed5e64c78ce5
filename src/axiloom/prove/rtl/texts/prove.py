"""``axiloom prove rtl --isa``: the RTL of a text does what the text says, a command after the other.

A device at rest is given one command and its payload, while its streams do not pause. Its memories hold
anything, as constants; so do those of its registers that commands leave in more than one way. On terms it
is followed until it is at rest again, and so is the text: each element of each memory must be the same, and
each word that came out. Which registers are always the same at rest is found: those of a reset, less those
that a command leaves otherwise. They are an invariant, so what holds of a command holds of any number of
them.

Addresses and numbers of turns are known in each command: a claim is of all its commands that were looked at,
for all data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from axiloom.base.cache import content_hash
from axiloom.base.files import code_hash
from axiloom.boards.synthesis import yosys
from axiloom.device.rtl import DeviceRtl
from axiloom.isa.formal import symbolic
from axiloom.isa.instructions.tree import Instruction, InstructionSet
from axiloom.prove import solvers
from axiloom.prove.rtl.terms import numbers, same
from axiloom.prove.rtl.terms.machine import Machine, State, Step
from axiloom.prove.rtl.terms.pairs import apart
from axiloom.prove.rtl.texts.drawn import Case, chosen, tried, varied
from axiloom.prove.rtl.texts.of_text import Text
from axiloom.prove.rtl.texts.rerun import CYCLES, QUIET, Rerun
from axiloom.prove.rtl.texts.rows import addresses, words_of
from axiloom.prove.spec import kept_verdicts
from axiloom.prove.verdict import Answer, Say, Verdict
from axiloom.report.proved import sources
from axiloom.selection.drive.encode import Encoder

COMMANDS = 24
"""Of an instruction, that are looked at."""
RESET = 4
SHOWN = 8
"""Numbers of a run that shows a fault."""


Run = tuple[State, list[Any], State]
"""The registers after a command, the words that came out, and the outputs at rest."""


class UnknownError(Exception):
    """What the device does next depends on data; the message says which signal."""


@dataclass
class Claim:
    """Of an instruction: its `cases` of so many legal `commands` (None: not counted), and what was found."""

    name: str
    cases: list[Case]
    commands: int | None
    holds: bool | None = True
    why: str = ""
    solver: str = "z3"
    seconds: float = 0.0
    certified: str = ""
    compared: int = 0
    runs: list[Run | None] = field(default_factory=list)
    """Of its cases, from what is always the same at rest."""

    @property
    def is_whole(self) -> bool:
        """All commands that there are were looked at."""
        return len(self.cases) == self.commands


def prove(
    isa: InstructionSet,
    device: DeviceRtl,
    limit_s: int,
    say: Say = lambda _verdict, _total: None,
    most: int = COMMANDS,
) -> list[Verdict]:
    """A verdict an instruction; from the cache, if all were decided before. `most`: commands of each."""

    def ask() -> list[dict[str, Any]]:
        return [one.__dict__ for one in Prover(isa, device, limit_s, most).run(say)]

    tools = yosys.version(), sources(), code_hash("graph", "selection")
    key = content_hash("commands", repr(isa), device.verilog, most, *tools, limit_s)
    return kept_verdicts(key, ask)


class Prover:
    """Of `device`, whose text is `isa`."""

    def __init__(self, isa: InstructionSet, device: DeviceRtl, limit_s: int, most: int) -> None:
        self.isa, self.device, self.limit_s, self.most = isa, device, limit_s, most
        self.machine: Machine = apart(numbers.machine(device))
        self.step: Step = self.machine.stepper()
        (self.host,) = (memory.name for memory in isa.memories.values() if memory.host)
        self.words = words_of(self.machine, isa)
        self.text = Text(isa, self.words)

    def run(self, say: Say) -> Iterator[Verdict]:
        claims = [self._claim(instruction) for instruction in self.isa.instructions.values()]
        rest = self._after_reset()
        begun = time.perf_counter()
        executed = self._settled(rest, claims)
        name = self.isa.name
        text = f"{len(rest)} of {len(self.machine.registers)} registers are the same whenever it is at rest"
        text += f"; found with {executed} executions of {sum(len(one.cases) for one in claims)} commands"
        text += "".join(f"; {memory} holds numbers that were drawn" for memory in self.text.drawn)
        took = round(time.perf_counter() - begun, 2)
        answer = Answer.HOLDS if all(one.holds for one in claims) else Answer.OPEN
        found = Verdict(name, "", "rest", text, "", answer, None, "z3", took)
        say(found, len(claims) + 1)
        yield found
        for claim in claims:
            self._decide(claim, rest)
            found = _row(name, claim)
            say(found, len(claims) + 1)
            yield found

    def _claim(self, instruction: Instruction) -> Claim:
        cases, commands = chosen(instruction, self.isa, self.most)
        return Claim(instruction.name, varied(tried(cases, self.text.does, self.most), self.most), commands)

    # --- the device ---------------------------------------------------------------------------------------

    def _after_reset(self) -> State:
        """Registers that have a value then, whatever they had before."""
        registers = self.machine.registers.items()
        state = {name: z3.Const(f"{name} before", term.sort()) for name, term in registers}
        for cycle in range(RESET + QUIET):
            state, _ = self.step(state, self._inputs(aresetn=int(cycle >= RESET)))
        return {name: term for name, term in state.items() if _known(term)}

    def _inputs(self, data: Any = 0, valid: int = 0, aresetn: int = 1) -> State:
        given = {"s_axis_tdata": data, "s_axis_tvalid": valid, "aresetn": aresetn, "m_axis_tready": 1}
        state: State = {}
        for name, term in self.machine.inputs.items():
            value = given.get(name, 0)
            bits = term.size() if z3.is_bv(term) else 1
            state[name] = z3.BitVecVal(value, bits) if isinstance(value, int) else value
        return state

    def _start(self, rest: State) -> State:
        state: State = {}
        for name, term in self.machine.registers.items():
            state[name] = rest.get(name, z3.Const(f"{name} at rest", term.sort()))
        for memory, words in self.words.items():
            for row, names in enumerate(words):
                elements = [self.text.element(memory, at) for at in self._row(memory, row)]
                size = len(elements) // len(names)
                for number, name in enumerate(names):
                    word = _joined(elements[size * number : size * (number + 1)])
                    for low, high, own in self.machine.parts[name]:
                        state[own] = z3.Extract(high, low, word)
        return state

    def _said(self, text: symbolic.Machine, memory: str, address: int) -> Any:
        """What the text has there."""
        return numbers.with_wires(self.isa, text.element(memory, address))

    def _row(self, memory: str, row: int) -> list[int]:
        return addresses(self.isa.memories[memory], row)

    def _executed(self, rest: State, case: Case) -> Run:
        """Raises UnknownError."""
        width = self.device.stream_width
        words = -(-Encoder(self.isa).bits // width)
        beats = [z3.BitVecVal(case.word >> width * at & (1 << width) - 1, width) for at in range(words)]
        beats += self._payload(case.reads, width)
        state, sent, came, quiet = self._start(rest), 0, [], 0
        for _ in range(CYCLES):
            there = sent < len(beats)
            given = self._inputs(beats[sent] if there else 0, int(there))
            state, outputs = self.step(state, given)
            if there and _number(outputs, "s_axis_tready"):
                sent += 1
            if _number(outputs, "m_axis_tvalid"):
                came.append(outputs["m_axis_tdata"])
            busy = there or _number(outputs, "debug_busy") or _number(outputs, "m_axis_tvalid")
            quiet = 0 if busy else quiet + 1
            if quiet == QUIET:
                return state, came, outputs
        raise UnknownError(f"it does not end within {CYCLES} cycles")

    def _payload(self, reads: Sequence[int], width: int) -> Iterator[Any]:
        bytes_ = [self.text.element(self.host, at) for at in reads]
        size = width // 8
        bytes_ += [z3.BitVecVal(0, 8)] * (-len(bytes_) % size)
        for at in range(0, len(bytes_), size):
            yield z3.Concat(*reversed(bytes_[at : at + size])) if size > 1 else bytes_[at]

    # --- the claims ---------------------------------------------------------------------------------------

    def _settled(self, rest: State, claims: Sequence[Claim]) -> int:
        """Executes each command from `rest`, and takes out of it what a command leaves otherwise, until all
        were executed from what is left. How many executions that took.

        The first command of each instruction comes first: most registers go with those."""
        for claim in claims:
            claim.runs = [None] * len(claim.cases)
        most = max((len(claim.cases) for claim in claims), default=0)
        order = [(claim, at) for at in range(most) for claim in claims if at < len(claim.cases)]
        known = dict[tuple[str, int], int]()
        executed = 0
        while old := [one for one in order if known.get((one[0].name, one[1])) != len(rest)]:
            for claim, at in old:
                known[claim.name, at] = len(rest)
                if claim.holds is not None:
                    executed += 1
                    self._weaken(rest, claim, at)
        return executed

    def _weaken(self, rest: State, claim: Claim, at: int) -> None:
        """Takes out of `rest` what this command leaves otherwise. `rest` only shrinks: its length says which
        one it is."""
        try:
            run = self._executed(rest, claim.cases[at])
        except UnknownError as error:
            claim.holds, claim.why = None, f"{claim.cases[at]}: {error}"
            return
        claim.runs[at] = run
        after = run[0]
        for name, term in [*rest.items()]:
            if not z3.eq(z3.simplify(after[name]), term):
                del rest[name]

    def _decide(self, claim: Claim, rest: State) -> None:
        begun = time.perf_counter()
        certified = []
        for case, run in zip(claim.cases, claim.runs, strict=True):
            if not claim.holds:
                break
            assert run is not None
            pairs = list(self._pairs(case, run, claim))
            if not claim.holds:
                break
            claim.compared += len(pairs)
            alike = {what for what, a, b in pairs if z3.eq(z3.simplify(a), z3.simplify(b))}
            left = [pair for pair in pairs if pair[0] not in alike]
            said = same.said_of([(a, b) for _, a, b in left], self.limit_s)
            claim.solver, claim.holds = said.solver, said.holds
            if claim.is_whole:
                by_z3 = solvers.rewritten([(a, b) for what, a, b in pairs if what in alike])
                certified += [said.certified, by_z3.certified]
            if not said.holds:
                what = left[said.place][0]
                wrong = "is another" if said.holds is False else "is not decided"
                claim.why = f"{case}: {what} {wrong}"
                if said.values is not None and said.holds is False:
                    self._run_again(claim, case, what, rest, said.values)
        claim.certified = ", ".join(sorted({*certified})) if all(certified) else ""
        claim.seconds = round(time.perf_counter() - begun, 2)

    def _run_again(self, claim: Claim, case: Case, what: str, rest: State, values: same.Values) -> None:
        """On the numbers for which a value is another one: only what is seen then is said."""
        always = {
            name: int(z3.is_true(term)) if z3.is_bool(term) else term.as_long() for name, term in rest.items()
        }
        ours, theirs = Rerun(self.device, self.text, self.words)(case, always, values)[what]
        claim.why += f": run on {_shown(values)}, the RTL has {ours:#x}, the text {theirs:#x}"
        if ours == theirs:
            claim.holds, claim.why = None, f"{claim.why}; the prover said that they differ"

    def _pairs(self, case: Case, run: Run, claim: Claim) -> Iterator[tuple[str, Any, Any]]:
        """What, in the RTL, by the text."""
        after, came, outputs = run
        try:
            text = self.text.after(case)
        except (symbolic.UnknownError, symbolic.StopsError) as error:
            claim.holds, claim.why = None, f"{case}: {error}"
            return
        for memory, words in self.words.items():
            for row, names in enumerate(words):
                places = self._row(memory, row)
                word = _joined(
                    [after[own] for name in names for _, _, own in sorted(self.machine.parts[name])]
                )
                bits = word.size() // len(places)
                for lane, at in enumerate(places):
                    own = z3.Extract(bits * lane + bits - 1, bits * lane, word)
                    yield f"{memory}[{row}] lane {lane}", own, self._said(text, memory, at)
        for register in self.isa.registers:
            shown, value = outputs.get(f"debug_{register}"), text.state[register]
            if shown is not None and _known(z3.simplify(value)):
                yield f"register {register}", shown, value
        expected = [self._said(text, self.host, at) for at in case.writes]
        size = self.device.stream_width // 8
        if len(came) != -(-len(expected) // size):
            claim.holds, claim.why = False, f"{case}: {len(came)} beats came, not {-(-len(expected) // size)}"
            return
        last = {address: at for at, address in enumerate(case.writes)}
        for at in last.values():  # what is written over does not stay
            value = expected[at]
            low = 8 * (at % size)
            yield f"byte {at} that it stores", z3.Extract(low + 7, low, came[at // size]), value


def _row(name: str, claim: Claim) -> Verdict:
    answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[claim.holds]
    if not claim.cases:
        text = "no legal command of it was found"
        return Verdict(name, "", claim.name, text, "", Answer.NEVER, None, "", 0.0)
    of = "drawn" if claim.commands is None else f"of {claim.commands}"
    text = f"{len(claim.cases)} {of} commands, {claim.compared} values compared, for all data"
    text += f"; {claim.why}" if claim.why else ""
    bound = None if claim.is_whole or not claim.holds else len(claim.cases)
    return Verdict(
        name, "", claim.name, text, "", answer, bound, claim.solver, claim.seconds, unit="commands",
        certified=claim.certified,
    )  # fmt: skip


def _shown(values: same.Values) -> str:
    """Those that are not 0, the first of them."""
    some = sorted((len(name), name, value) for name, value in values.items() if value)
    said = [f"{name} = {value:#x}" for _, name, value in some[:SHOWN]]
    more = [f"{len(some) - SHOWN} more"] if len(some) > SHOWN else []
    return ", ".join([*said, *more, "zeros" if not some else "zeros elsewhere"])


def _joined(parts: Sequence[Any]) -> Any:
    """The first in the lowest bits."""
    return z3.Concat(*reversed(parts)) if len(parts) > 1 else parts[0]


def _known(term: Any) -> bool:
    return bool(z3.is_bv_value(term) or z3.is_true(term) or z3.is_false(term))


def _number(outputs: State, name: str) -> int:
    term = z3.simplify(outputs[name])
    if not z3.is_bv_value(term):
        raise UnknownError(f"{name} depends on data")
    return int(term.as_long())
