"""The formal model of an opcode map: a command is one beat of the stream; what needs no beat is a program.

The opcodes are instructions of a tree (:mod:`axiloom.isa.opcode_map`), and their statements become steps as
those of any text (:mod:`~axiloom.isa.formal.programs`). Between two statements words come or go: there `step`
is the number of a wait, or of a step that sends. A tile comes beat by beat into a memory of the host's,
``A_in``, and a result goes word by word from ``C_out``; `at` counts them. `sent`, `last` and `n_sent` are the
words that went out since reset. A stopped device (`error`, a
:class:`~axiloom.isa.contract.errors.DeviceError`) takes nothing more. Of an opcode word that combines bits,
`todo` has those whose opcodes have not begun.

Where a beat has several words, its first is looked at with the command; it is kept (`beat`, of which `left`
words are unread), and what takes its further words is a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

import z3

from axiloom.base.errors import SpecError
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.contract.types import HostAction, Load, SetDims, Skip
from axiloom.isa.formal import programs, tiles
from axiloom.isa.formal.ila import Ila, Term, filled
from axiloom.isa.formal.programs import STEP_BITS, Loop, Model, Point
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.values import Known, Terms, Value, address_bits, number
from axiloom.isa.instructions.arithmetic import all_of
from axiloom.isa.instructions.tree import (
    Apply,
    Const,
    Expr,
    For,
    Instruction,
    Let,
    Name,
    Read,
    Requirement,
    Statement,
    Wrapped,
    Write,
    unsigned,
)  # fmt: skip
from axiloom.isa.instructions.unique import unique
from axiloom.isa.instructions.walk import names, parts, written
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.isa.numerics.integer import Integer
from axiloom.isa.opcode_map.framing import ONE, Event, Kind
from axiloom.isa.opcode_map.reader import OpcodeMap, read

FORMS = (MATMUL.name, IMAGE.name, WINDOW.name)
"""Of kernels that there are models of."""
BIT = z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)


@dataclass(frozen=True)
class Wait:
    """Where a device waits for beats.

    `opcode`: its name in the specification, and `action`: the number of the action that takes the words;
    `memory`: the one that a tile fills, none for a single word; `name`: of the command that takes the word.
    """

    opcode: str
    action: int
    memory: str
    name: str


@dataclass
class Beats:
    """The model of `spec`; `waits`: where a device waits, by the value of `step` there. At 0 it waits for an
    opcode word."""

    spec: AcceleratorSpec
    opcodes: OpcodeMap
    ila: Ila
    waits: dict[int, Wait] = field(default_factory=dict)

    def from_wait(self, step: int) -> list[Wait]:
        """The wait at this step, and those of its opcode after it."""
        if step not in self.waits:
            return []
        opcode = self.waits[step].opcode
        return [wait for place, wait in self.waits.items() if wait.opcode == opcode and place >= step]

    def from_word(self, word: int) -> list[Wait]:
        """Those of the opcode that this word is."""
        title = self.opcodes.framing.titles.get(self.opcodes.framing.opcodes.get(word, ""))
        return [wait for wait in self.waits.values() if wait.opcode == title]

    def loading(self, step: int) -> str | None:
        """The operand whose tile comes at this step."""
        memory = self.waits[step].memory if step in self.waits else ""
        arriving = {host.name: own for part in self.opcodes.parts for own, host in part.incoming.items()}
        return arriving.get(memory)

    def host(self, wait: Wait) -> HostAction | None:
        """What the host does there."""
        return [host for _, host in self.spec.opcodes[wait.opcode].steps()][wait.action]

    def sends(self) -> Iterator[Claim]:
        """Of each step that sends: its word comes after all others, and has TLAST where its tile ends."""
        states, place = self.ila.states, z3.BitVec("any place", WORD)
        for instruction in self.ila.everything():
            new = instruction.updates
            if "n_sent" not in new:
                continue
            count, text = states["n_sent"], "a word goes out behind all others, with TLAST if it is the last"
            others = (
                z3.Select(new[name], place) == z3.Select(states[name], place) for name in ("sent", "last")
            )
            ends = new.get("step", states["step"]) != states["step"]
            tlast = (z3.Select(new["last"], count) == 1) == ends
            after = z3.And(new["n_sent"] == count + 1, z3.Implies(place != count, z3.And(*others)), tlast)
            name = f"{instruction.path}: sends"
            yield Claim(name, text, z3.Implies(instruction.decode, after), "what is sent")


def model_of(spec: AcceleratorSpec, *, products: str = "exact") -> Beats:
    """The model of `spec`. `products`: ``exact``, or ``uninterpreted`` for proofs in which none is computed.

    Raises SpecError for what has no formal model yet.
    """
    for part in spec.parts:
        if part.form.name not in FORMS:
            known = ", ".join(FORMS)
            raise SpecError(
                [f"{spec.name}: there is no formal model of the form {part.form.name} yet, only of {known}"]
            )
    if not isinstance(spec.data_type, Integer):
        raise SpecError([f"{spec.name}: formal models are of integers, not of {spec.data_type.value}"])
    without = {
        "kernels in place": spec.in_place,
        "several kernels": [part.use.name for part in spec.parts[1:]],
        "registers of a device": spec.link.rtl.registers,
        "a stream an operand": spec.link.rtl.inputs,
    }
    for what, given in without.items():
        if given:
            names = ", ".join(given)
            raise SpecError([f"{spec.name}: there are no formal models of {what} yet ({names})"])
    return _Device(spec, products).build()


class _Terms(Terms):
    """What wraps is computed in the bits that are left; products of two elements may be a function."""

    def value(self, expr: Expr) -> Value:
        if isinstance(expr, Wrapped):
            term = self._modulo(expr.value, expr.range.bits)
            if z3.is_bv_value(term):
                value = term.as_signed_long() if expr.range.signed else term.as_long()
                return Known(value, expr.range)
            return Value(term, expr.range)
        return super().value(expr)

    def _modulo(self, expr: Expr, bits: int) -> z3.BitVecRef:
        """The low bits."""
        match expr:
            case Wrapped(value=inner) if expr.range.bits >= bits:
                return self._modulo(inner, bits)
            case Apply(operation="mul", arguments=(a, b)) if self.opaque and _is_data(a) and _is_data(b):
                factors = [self.value(factor).term for factor in (a, b)]
                return _product(self.model, *factors)
            case Apply(operation="add" | "mul" as operation, arguments=(a, b)):
                one, other = self._modulo(a, bits), self._modulo(b, bits)
                return z3.simplify(one + other if operation == "add" else one * other)
        return self.value(expr).wide(bits)


def _is_data(expr: Expr) -> bool:
    return any(isinstance(part, Read) for part in parts(expr))


def _product(model: Ila, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    declared = z3.Function("product", a.sort(), b.sort(), z3.BitVecSort(WORD))
    assert "product" in model.functions
    made: z3.BitVecRef = declared(a, b)
    return made


class _Device:
    """All opcodes of a specification, on their way to a model."""

    def __init__(self, spec: AcceleratorSpec, products: str) -> None:
        self.spec, self.opcodes = spec, read(spec)
        source, framing = self.opcodes.instructions, self.opcodes.framing
        self.framing = framing
        self.ila = m = Ila(spec.name)
        self.beats = Beats(spec, self.opcodes, m)
        kinds = {name: given.type for name, given in source.inputs.items()}
        self.word = m.input("word", spec.link.stream_width)
        self.step, self.error = m.register("step", STEP_BITS), m.register("error", 4)
        # Of beats that came, or of words that went: no more than an opcode asks for, whatever sizes are.
        amounts = [event.amount.range.high for events in framing.events.values() for event in events]
        self.at = m.register("at", max([1, *amounts]).bit_length() + 1)
        self.todo = m.register("todo", len(framing.bits)) if framing.bits else None
        wide = spec.link.beat_words > 1
        self.beat = m.register("beat", spec.link.stream_width) if wide else None
        self.left = m.register("left", spec.link.beat_words.bit_length()) if wide else None
        for register in source.registers.values():
            bits = register.type.bits
            m.register(register.name, bits, (register.init or 0) & (1 << bits) - 1)
            kinds[register.name] = register.type
        loaded = {operand for part in self.opcodes.parts for operand in part.incoming}
        for memory in source.memories.values():
            free = memory.host or memory.name in loaded  # until a tile comes into it
            init = None if free else memory.reset & (1 << memory.type.bits) - 1
            m.memory(memory.name, address_bits(memory), memory.type.bits, init)
        m.memory("sent", WORD, WORD)
        m.memory("last", WORD, 1)
        m.register("n_sent", WORD)
        if products != "exact":
            kind = spec.data_type
            assert isinstance(kind, Integer)
            m.function("product", kind.bits, kind.bits, WORD, python=_multiplier(kind))
        self.model = Model(source, m, kinds, () if products == "exact" else ("product",))
        self.idle = self.step == 0
        self.place = 1
        self.ready: list[z3.BoolRef] = []
        """Where a beat is due."""
        self.ranks: list[tuple[z3.BoolRef, int]] = []
        """Where a program runs, and how much of its opcode is left then."""
        self.starts: dict[str, int] = {}
        """Of opcodes that a word combines: the steps that begin them."""
        self.counts: list[int] = []
        """Steps at which a tile comes or goes."""

    def build(self) -> Beats:
        m = self.ila
        m.valid = self.error == 0
        for bit in self.framing.bits:
            self.starts[self.framing.opcodes[bit]] = self.place
            self.place += 1
        for literal, name in self.framing.opcodes.items():
            _Opcode(self, name).build(literal)
        if None in self.framing.opcodes:
            m.init |= {name: value for name, value in _settled(m).items() if name in m.init}
        else:
            self._words()
            self.ready.append(self.idle)
        if self.place > 1 << STEP_BITS:
            raise SpecError([f"{self.spec.name}: {self.place - 1} loops and waits; at most {1 << STEP_BITS}"])
        m.valid = z3.And(self.error == 0, z3.Or(*self.ready))
        left = number(0, STEP_BITS)
        for here, rank in self.ranks:
            left = z3.If(here, number(rank, STEP_BITS), left)
        m.measures = [*([] if self.todo is None else [self.todo]), left]
        m.invariants["a step that there is"] = z3.ULT(self.step, self.place)
        counted = z3.Or(self.at == 0, *(self.step == place for place in self.counts))
        m.invariants["only what comes or goes is counted"] = counted
        terms = _Terms(m, self.model.kinds, dict(m.states), {}, programs.anywhere)
        m.invariants |= {name: terms.truth(fact) for name, fact in tiles.facts(self.opcodes).items()}
        return self.beats

    def _words(self) -> None:
        """Opcode words: combinations of bits, and all others."""
        m, known = self.ila, [z3.Extract(WORD - 1, 0, self.word) == o for o in self.framing.opcodes]
        if self.todo is not None:
            bits, word = self.framing.bits, z3.Extract(WORD - 1, 0, self.word)
            mask = sum(bits)
            several = z3.And(word & (~mask & (1 << WORD) - 1) == 0, word & mask != 0, *map(z3.Not, known))
            asked = [z3.Extract(bit.bit_length() - 1, bit.bit_length() - 1, word) for bit in reversed(bits)]
            state: dict[str, Term] = {**self.kept(self.word)}
            self._next(state, z3.Concat(*asked) if len(asked) > 1 else asked[0])
            updates = {m.states[name]: term for name, term in state.items()}
            m.instruction("combined", z3.And(self.idle, several), updates, "several opcodes of one bit each")
            known.append(several)
        unknown = z3.And(self.idle, *map(z3.Not, known))
        m.instruction("unknown", unknown, {self.error: int(DeviceError.UNKNOWN_OPCODE)}, "no opcode")

    def kept(self, beat: z3.BitVecRef, left: z3.BitVecRef | None = None) -> dict[str, Term]:
        """A beat after its next word; `left`: the words of which that is the first, if not all are."""
        if self.left is None:
            return {}
        whole = number(self.spec.link.beat_words, self.left.size()) if left is None else left
        return {"beat": z3.LShR(beat, WORD), "left": z3.simplify(whole - 1)}

    def ended(self, state: dict[str, Term]) -> None:
        """An opcode is at its end: on to the next one that its word has asked for."""
        self._next(state, self.todo)

    def _next(self, state: dict[str, Term], asked: z3.BitVecRef | None) -> None:
        step: z3.BitVecRef = number(0, STEP_BITS)
        for place, literal in reversed([*enumerate(self.framing.bits)] if asked is not None else []):
            here = number(self.starts[self.framing.opcodes[literal]], STEP_BITS)
            step = z3.If(z3.Extract(place, place, asked) == 1, here, step)
        state["step"] = step
        if asked is not None:
            state["todo"] = asked & (asked - 1)
        if self.left is not None:
            none, left = number(0, self.left.size()), state.get("left", self.left)
            state["left"] = none if asked is None else z3.If(step == 0, none, left)


def _settled(model: Ila) -> Mapping[str, int]:
    """Registers after what begins without a word has begun."""
    return {name: value for name, value in Simulator(model).state.items() if isinstance(value, int)}


def _multiplier(kind: Integer) -> Callable[[int, int], int]:
    def product(a: int, b: int) -> int:
        values = [value - (value >> kind.bits - 1 << kind.bits) if kind.signed else value for value in (a, b)]
        return prod(values) & (1 << WORD) - 1

    return product


class _Opcode:
    """One opcode: its pieces, each up to the next words that come or go."""

    def __init__(self, device: _Device, name: str) -> None:
        self.device, self.ila, self.name = device, device.ila, name
        instruction = unique(device.opcodes.instructions.instructions[name])
        self.text = instruction.text
        self.events = [event for event in device.framing.events[name] if event.kind is not Kind.WORK]
        self.title = device.framing.titles[name]
        opcode = next(part.opcodes[self.title] for part in device.spec.parts if self.title in part.opcodes)
        takes = (n for n, action in enumerate(opcode.device) if isinstance(action, Load | SetDims | Skip))
        self.places: list[int] = []
        for event in self.events:
            self.places.append(device.place)
            if event.kind is not Kind.SINGLE:
                device.counts.append(device.place)
            if event.kind is not Kind.STORE:
                number_ = next(takes)
                memory = event.memory if event.kind is Kind.LOAD else ""
                device.beats.waits[device.place] = Wait(self.title, number_, memory, f"{name}.{number_}")
            device.place += 1
        cuts = [0, *(event.at for event in self.events), len(instruction.body)]
        self.pieces: list[_Piece] = []
        self.known = _good_sizes(instruction.body)
        """What is known before each statement, by its identity, and behind the last one."""
        self.before = [*map(id, instruction.body), 0]
        self.under_way: list[z3.BoolRef] = []
        """What holds in loops, and where words come or go."""
        for count, (low, high) in enumerate(pairwise(cuts)):
            piece = Instruction(f"{name}.piece{count}", ONE, (), (), instruction.body[low:high])
            self.pieces.append(_Piece(self, count, piece))

    def build(self, literal: int | None) -> None:
        device, m = self.device, self.ila
        first = self.pieces[0]
        start = device.idle if literal is None else None
        if self.name in device.starts:
            start = device.step == device.starts[self.name]
        if literal is not None:
            word = z3.Extract(WORD - 1, 0, device.word)
            begun = z3.And(device.idle, word == literal)
            first.enter(m, self.name, begun, device.kept(device.word), f"opcode {literal:#x}")
        if start is not None:
            child = m.child(f"{self.name}.start", z3.And(device.error == 0, start))
            first.enter(child, "begin", z3.BoolVal(True), {})
        singles = 0 if literal is None else 1
        for count, (event, place) in enumerate(zip(self.events, self.places, strict=True)):
            here, after = device.step == place, self.pieces[count + 1]
            if known := self.known[self.before[event.at]]:
                self.under_way.append(z3.Implies(here, after.truth(all_of(known))))
            if event.kind is Kind.SINGLE:
                self._single(place, here, after, singles)
                singles += 1
            elif event.kind is Kind.LOAD:
                self._load(event, place, here, after)
            else:
                self._store(event, count, here, after)
        for piece in self.pieces:
            piece.complete()
        if self.under_way:
            m.invariants[f"{self.name}: what is under way"] = z3.And(*self.under_way)
        self._ranks(start, begins=literal is None)

    def _ranks(self, start: z3.BoolRef | None, *, begins: bool) -> None:
        """What is left of the opcode, less from piece to piece. One without an opcode word begins anew after
        its end: so its begin is less than what is behind its first wait."""
        device, first = self.device, self.pieces[0]
        order: list[z3.BoolRef | None] = [start, first.here]
        others: list[z3.BoolRef | None] = []
        for place, piece in zip(self.places, self.pieces[1:], strict=True):
            others += [device.step == place, piece.here]
        order = [*others, *order] if begins else [*order, *others]
        device.ranks += [(here, len(order) - rank) for rank, here in enumerate(order) if here is not None]

    # --- words that come ----------------------------------------------------------------------------------

    def _single(self, place: int, here: z3.BoolRef, after: _Piece, singles: int) -> None:
        device, name = self.device, self.device.beats.waits[place].name
        word = z3.Extract(WORD - 1, 0, device.word)
        fresh = [] if device.left is None else [device.left == 0]
        due = z3.And(here, *fresh)
        device.ready.append(due)
        after.enter(self.ila, name, due, device.kept(device.word), "a word", (word, singles))
        if device.left is not None and device.beat is not None:
            word = z3.Extract(WORD - 1, 0, device.beat)
            child = self.ila.child(name, z3.And(device.error == 0, here, device.left != 0))
            after.enter(
                child, "word", z3.BoolVal(True), device.kept(device.beat, device.left), "", (word, singles)
            )

    def _load(self, event: Event, place: int, here: z3.BoolRef, after: _Piece) -> None:
        """Each beat's elements, in order."""
        device, m = self.device, self.ila
        memory = device.model.source.memories[event.memory]
        name, held, bits = device.beats.waits[place].name, m.states[memory.name], memory.type.bits
        each = device.spec.link.stream_width // bits
        wide = max(device.at.size(), held.sort().domain().size()) + each.bit_length()
        first = z3.ZeroExt(wide - device.at.size(), device.at) * each
        for element in range(each):
            value = z3.Extract(bits * (element + 1) - 1, bits * element, device.word)
            held = z3.Store(held, z3.Extract(held.sort().domain().size() - 1, 0, first + element), value)
        beats, amount = device.spec.link.beat_words, after.amount(event.amount)
        size = max(device.at.size() + beats.bit_length(), amount.range.bits) + 1
        came = (z3.ZeroExt(size - device.at.size(), device.at) + 1) * beats
        ends = z3.UGE(came, amount.wide(size))
        device.ready.append(here)
        more = {m.states[memory.name]: held, device.at: device.at + 1}
        m.instruction(f"{name}.more", z3.And(here, z3.Not(ends)), more, f"a beat of {memory.name}")
        zero = number(0, device.at.size())
        after.enter(
            m, f"{name}.last", z3.And(here, ends), {memory.name: held, "at": zero},
            f"the last beat of {memory.name}",
        )  # fmt: skip
        within = z3.Or(device.at == 0, z3.ULT(came - beats, amount.wide(size)))
        self.under_way.append(z3.Implies(here, within))

    # --- words that go ------------------------------------------------------------------------------------

    def _store(self, event: Event, count: int, here: z3.BoolRef, after: _Piece) -> None:
        device, m = self.device, self.ila
        memory = device.model.source.memories[event.memory]
        child = m.child(f"{self.name}.send{count}", z3.And(device.error == 0, here))
        each, held = WORD // memory.type.bits, m.states[memory.name]
        domain = held.sort().domain().size()
        wide = max(device.at.size(), domain) + each.bit_length()
        first = z3.ZeroExt(wide - device.at.size(), device.at) * each
        elements = [
            z3.Select(held, z3.Extract(domain - 1, 0, first + number_)) for number_ in reversed(range(each))
        ]
        word = z3.Concat(*elements) if each > 1 else elements[0]
        amount = after.amount(event.amount)
        size = max(device.at.size(), amount.range.bits) + 1
        at, total = z3.ZeroExt(size - device.at.size(), device.at), amount.wide(size)
        runs, ends = z3.BoolVal(True), z3.UGE(at + 1, total)

        def out(last: int) -> dict[str, Term]:
            states, place = m.states, m.states["n_sent"]
            return {
                "sent": z3.Store(states["sent"], place, word),
                "last": z3.Store(states["last"], place, BIT[1 - last]),
                "n_sent": place + 1,
            }

        zero = {"at": number(0, device.at.size())}
        if device.opcodes.parts[0].form.saves:  # there may be nothing to send
            after.enter(child, "nothing", total == 0, zero)
            runs = total != 0
        going = {m.states[name]: term for name, term in out(0).items()}
        child.instruction(
            "word", z3.And(runs, z3.Not(ends)), {**going, device.at: device.at + 1},
            f"a word of {memory.name} goes out",
        )  # fmt: skip
        after.enter(child, "last", z3.And(runs, ends), out(1) | zero, "the last one, with TLAST")
        child.measures = [~device.at]
        self.under_way.append(z3.Implies(here, z3.Or(at == 0, z3.ULT(at, total))))


def _good_sizes(body: Sequence[Statement]) -> dict[int, list[Expr]]:
    """Before each statement (by its identity, and 0 for the end): what sizes were found to be, as far as it
    is of registers that have not changed since."""
    known: list[Expr] = []
    found: dict[int, list[Expr]] = {}
    for statement in body:
        found[id(statement)] = known
        changed = {*written([statement])}
        known = [fact for fact in known if not names(fact) & changed]
        if isinstance(statement, Requirement) and statement.code == DeviceError.BAD_DIMS:
            known.append(statement.condition)
    found[0] = known
    local = {"word", *(statement.name for statement in body if isinstance(statement, Let))}
    return {at: [fact for fact in facts if not names(fact) & local] for at, facts in found.items()}


class _Piece(programs.Builder):
    """The statements between words that come or go, as a program."""

    def __init__(self, opcode: _Opcode, count: int, instruction: Instruction) -> None:
        super().__init__(opcode.device.model, instruction, opcode.device.place)
        self.opcode, self.device, self.count = opcode, opcode.device, count
        self.stops: dict[tuple[int, ...], tuple[DeviceError, dict[str, Term], list[z3.BoolRef]]] = {}
        self.begun = False

    def _terms(self, state: Mapping[str, Term], known: Mapping[str, Value], line: int = 0) -> Terms:
        return _Terms(
            self.ila, self.model.kinds, state, dict(known), programs.anywhere, line, self.model.opaque
        )

    @property
    def here(self) -> z3.BoolRef | None:
        """Where its loops run."""
        places = self.program.loops if self.program else ()
        return z3.Or(*(self.device.step == place for place in places)) if places else None

    def truth(self, expr: Expr) -> z3.BoolRef:
        """Of registers."""
        return self._terms(dict(self.ila.states), {}).truth(expr)

    def amount(self, expr: Expr) -> Value:
        """Words that come or go."""
        return self._terms(dict(self.ila.states), {}).value(expr)

    def enter(
        self,
        owner: Ila,
        name: str,
        when: z3.BoolRef,
        updates: Mapping[str, Term],
        text: str = "",
        single: tuple[z3.BitVecRef, int] | None = None,
    ) -> None:
        """From a step that makes `updates`, and reads the word `single`, the so many-th of its opcode."""
        if not self.begun:
            self.place = self.first = self.device.place
            self._crossing(self.instruction.body, set())
            self.begun = True
        point = Point({**self.ila.states, **updates}, {}, when)
        if single is not None:
            word, before = single
            kind = unsigned(WORD * (before + 1))
            whole = z3.Concat(word, number(0, WORD * before)) if before else word
            point.locals["word"] = Value(whole, kind)
        self.text = text
        self._execute(owner, name, point, (self.instruction.body, None))
        self.device.place = max(self.device.place, self.place)

    def complete(self) -> None:
        """Its loops, once all that enters it has been."""
        self.place = max(self.place, self.device.place)
        while self.todo:
            self._loop(*self.todo.pop(0))
        self.device.place = max(self.device.place, self.place)
        if self.program:
            self._measures(self.program)
            self.opcode.under_way += [holds for _, holds in self._at_heads(self.program)]

    def _required_in(self, loop: Loop) -> Iterator[Expr]:
        outermost = loop.whole[0].statement
        changed = {*written([outermost])}
        yield from (fact for fact in self.opcode.known[id(outermost)] if not names(fact) & changed)

    def _goes_on(self, point: Point, place: int) -> None:
        if place:
            super()._goes_on(point, place)
        elif self.count < len(self.opcode.events):
            super()._goes_on(point, self.opcode.places[self.count])
            if self.device.left is not None and self.opcode.events[self.count].kind is Kind.LOAD:
                point.state["left"] = number(0, self.device.left.size())  # a tile begins with a beat
        else:
            self.device.ended(point.state)

    def _finish(self, owner: Ila, name: str, point: Point, place: int) -> None:
        for code, state, reasons in self.stops.values():
            updates = {self.ila.states[own]: term for own, term in state.items()}
            updates[self.device.error] = int(code)
            path = f"{name}.{code.name.lower()}"
            while any(instruction.name == path for instruction in owner.instructions):
                path += "_again"
            owner.instruction(path, z3.Or(*reasons), updates, code.name)
        self.stops = {}
        super()._finish(owner, name, point, place)

    def _at_once(self, owner: Ila, name: str, point: Point, statement: Statement) -> bool:
        match statement:
            case Requirement():
                self._required(point, statement)
            case For(body=(Write(memory=memory, index=(Name(name=at),), value=Const(value=value)),)) if (
                at == statement.iterator.name
                and statement.low == Const(0)
                and statement.high == Const(memory.shape[0])
            ):  # all of a memory
                sort = self.ila.states[memory.name].sort()
                point.state[memory.name] = filled(sort, value & (1 << memory.type.bits) - 1)
            case _:
                return False
        return True

    def _required(self, point: Point, part: Requirement) -> None:
        """What does not hold stops the device, the first reason first. What a word sets is kept, but sizes
        that are bad are not taken."""
        holds = self._at(point, part.line).truth(part.condition)
        code = DeviceError(part.code or 0)
        state = {
            name: term
            for name, term in point.state.items()
            if not term.eq(self.ila.states[name]) and code is not DeviceError.BAD_DIMS
        }
        key = (int(code), *(term.get_id() for term in state.values()))
        reasons = self.stops.setdefault(key, (code, state, []))[2]
        reasons.append(z3.And(point.condition, z3.Not(holds)))
        point.condition = z3.And(point.condition, holds)
