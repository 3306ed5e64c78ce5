"""A mapping at given sizes: its commands are executed on any data, the result is compared with the kernel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import z3

from axiloom.base.errors import SpecError
from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.ila import ModelError, Term
from axiloom.isa.formal.programs import Model, model_of
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.symbolic import Machine, StopsError, Substitution, UnknownError
from axiloom.isa.formal.values import PRODUCTS, Known, Terms, Value, exact, number, simplified
from axiloom.isa.instructions.mappings import Command, Mapped
from axiloom.isa.instructions.tree import Expr, For, If, Lanes, Let, Memory, Range, Statement, Write
from axiloom.isa.instructions.walk import writes

TOGETHER = 64
"""Elements of a claim."""


@dataclass
class Tensors:
    """Elements by tensor and address; what nobody wrote is data: a constant of its own."""

    kinds: Mapping[str, Memory]
    elements: dict[str, dict[int, Term]] = field(default_factory=dict)

    def element(self, memory: Memory, address: int) -> Term:
        known = self.elements.setdefault(memory.name, {})
        if address not in known:
            known[address] = z3.BitVec(place(memory, address), memory.type.bits)
        return known[address]


def place(memory: Memory, address: int) -> str:
    """``x[3, 5]``."""
    index = []
    for size in reversed(memory.shape[1:]):
        address, low = divmod(address, size)
        index.append(low)
    return f"{memory.name}[{', '.join(map(str, [address, *reversed(index)]))}]"


@dataclass
class _Terms(Terms):
    """Reads tensors, and the target's memories by known addresses."""

    tensors: Tensors | None = None
    machine: Machine | None = None
    of_result: bool = False
    """What no command has stored is then no result."""

    def is_data(self, value: Value) -> bool:
        return not isinstance(value, Known)  # sizes and iterators are known here

    def element(self, memory: Memory, index: Sequence[Expr]) -> Value:
        assert self.tensors is not None
        assert self.machine is not None
        at = simplified(self.place(memory, index))
        if not isinstance(at, Known):
            raise UnknownError(f"line {self.line}: an index of {memory.name} depends on data")
        if memory.name in self.tensors.kinds:
            term = self.tensors.element(memory, at.number)
        else:
            if self.of_result and (memory.name, at.number) not in self.machine.stored:
                raise RefutedError(f"line {self.line}: no command stored {place(memory, at.number)}")
            term = self.machine.element(memory.name, at.number)
        if z3.is_bv_value(term):
            return simplified(Value(term, memory.type))
        return Value(term, memory.type)


class _Listener(Machine):
    """Takes commands and executes none: `heard` are the instructions that they may be."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.ila)
        self.when = {name: z3.simplify(when) for name, when in model.when.items()}
        self.heard: set[str] = set()

    def command(self, inputs: Mapping[str, Term]) -> list[str]:
        known = Substitution([(self.model.inputs[name], term) for name, term in inputs.items()])
        new = self.when.keys() - self.heard
        self.heard |= {name for name in new if not z3.is_false(z3.simplify(known(self.when[name])))}
        return []


class RefutedError(Exception):
    """Why a mapping is wrong on all data: a command stops the device, or a result is nowhere."""


class Player:
    """Plays a mapping's parts on `machine`."""

    def __init__(
        self, mapped: Mapped, machine: Machine, kinds: Mapping[str, Range], opaque: Collection[str] = ()
    ) -> None:
        self.mapped, self.machine, self.kinds, self.opaque = mapped, machine, kinds, opaque
        self.inputs = Tensors(mapped.tensors)
        self.commands, self.playing, self.anything = 0, "", False

    def part(self, name: str) -> Tensors:
        """Plays a part; the tensors it leaves. Raises SpecError with the line of the mapping."""
        tensors = Tensors(
            self.mapped.tensors, {name: dict(element) for name, element in self.inputs.elements.items()}
        )
        self.playing = name
        self._block(self.mapped.parts[name], tensors, {})
        return tensors

    def _terms(self, tensors: Tensors, known: Mapping[str, Value], line: int) -> _Terms:
        def within(memory: Memory, inside: z3.BoolRef, at: int) -> None:
            if not z3.is_true(z3.simplify(inside)):
                raise SpecError([f"{self.mapped.place}:{at}: an index outside of {memory.name}"])

        state = self.machine.state
        return _Terms(self.machine.model, self.kinds, state, dict(known), within, line, self.opaque,
                      tensors=tensors, machine=self.machine,
                      of_result=self.playing == "result" and not self.anything)  # fmt: skip

    def _number(self, expr: Expr, tensors: Tensors, known: Mapping[str, Value], line: int) -> int:
        found = simplified(self._terms(tensors, known, line).value(expr))
        if not isinstance(found, Known):
            raise SpecError([f"{self.mapped.place}:{line}: it must be known, and depends on data"])
        return found.number

    def _block(self, block: Sequence[Statement | Command], tensors: Tensors, known: dict[str, Value]) -> None:
        for one in block:
            try:
                self._statement(one, tensors, known)
            except StopsError as error:
                raise RefutedError(f"line {one.line}: {error}") from None
            except ModelError as error:
                raise SpecError([f"{self.mapped.place}:{one.line}: {error}"]) from None

    def _statement(self, one: Statement | Command, tensors: Tensors, known: dict[str, Value]) -> None:
        match one:
            case Let(name=name, value=value):
                known[name] = simplified(self._terms(tensors, known, one.line).value(value))
            case For(iterator=iterator, low=low, high=high, body=body):
                ends = [self._number(end, tensors, known, one.line) for end in (low, high)]
                for at in range(*ends):
                    self._block(body, tensors, {**known, iterator.name: exact(at)})
            case Lanes(iterators=iterators, body=body):
                lanes = [
                    {**known, **{name: exact(at) for name, at in zip(iterators, places, strict=True)}}
                    for places in product(*(range(count) for count in iterators.values()))
                ]
                for statement in body:
                    written = [self._lane(statement, tensors, lane) for lane in lanes]
                    for each in written:
                        if each:
                            self._put(tensors, *each)
            case Write():
                found_ = self._lane(one, tensors, known)
                assert found_
                self._put(tensors, *found_)
            case If(condition=condition, then=then, other=other):
                holds = self._number(condition, tensors, known, one.line)
                self._block(then if holds else other, tensors, dict(known))
            case Command(inputs=inputs):
                terms = self._terms(tensors, known, one.line)
                given = {
                    name: z3.simplify(terms.value(inputs[name]).wide(term.size()))
                    if name in inputs
                    else number(0, term.size())
                    for name, term in self.machine.model.inputs.items()
                }
                self.machine.command(given)
                self.commands += 1
            case _:
                raise AssertionError(one)

    def _put(self, tensors: Tensors, memory: str, address: int, term: Term) -> None:
        """Into a tensor, or into the host's memory."""
        known = tensors.elements.setdefault(memory, {}) if memory in tensors.kinds else None
        (self.machine.memories[memory] if known is None else known)[address] = term

    def _lane(
        self, statement: Statement, tensors: Tensors, known: dict[str, Value]
    ) -> tuple[str, int, Term] | None:
        terms = self._terms(tensors, known, statement.line)
        if isinstance(statement, Let):
            known[statement.name] = simplified(terms.value(statement.value))
            return None
        assert isinstance(statement, Write)
        at = simplified(terms.place(statement.memory, statement.index))
        if not isinstance(at, Known):
            raise UnknownError(f"an index of {statement.memory.name} depends on data")
        value = simplified(terms.value(statement.value)).wide(statement.memory.type.bits)
        return statement.memory.name, at.number, value


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a result whose term is not the kernel's: to be proved equal."""

    place: str
    found: Term
    wanted: Term

    @property
    def formula(self) -> z3.BoolRef:
        equal: z3.BoolRef = self.found == self.wanted
        return equal

    @cached_property
    def data(self) -> tuple[z3.BitVecRef, ...]:
        """The constants in it: elements of tensors, and what memories had before."""
        return tuple(
            one
            for one in postorder([self.found, self.wanted])
            if z3.is_const(one) and one.decl().kind() == z3.Z3_OP_UNINTERPRETED
        )

    def values(self, named: Mapping[str, int]) -> tuple[int | None, int | None]:
        """What was found and what is wanted with these data (0 where there are none), if they say it."""
        known = Substitution(
            [(one, z3.BitVecVal(named.get(one.decl().name(), 0), one.sort())) for one in self.data]
        )
        both = [z3.simplify(known(term)) for term in (self.found, self.wanted)]
        found, wanted = (one.as_long() if z3.is_bv_value(one) else None for one in both)
        return found, wanted


@dataclass(frozen=True, eq=False)
class Remaining:
    """Neighbouring elements of a result that are proved together."""

    elements: tuple[Element, ...]

    @property
    def claim(self) -> Claim:
        first, last = self.elements[0].place, self.elements[-1].place
        text = f"{first} to {last} are the kernel's" if self.elements[1:] else f"{first} is the kernel's"
        return Claim(first, text, z3.And(*(element.formula for element in self.elements)))


@dataclass(frozen=True)
class Played:
    """A mapping at its sizes: what is to be proved, how many elements were the same terms, what it took."""

    remaining: tuple[Remaining, ...]
    same: int
    elements: int
    commands: int
    steps: int


def play(mapped: Mapped, opaque: Collection[str] = ()) -> Played:
    """Executes a mapping on any data. Functions in `opaque` stay uninterpreted; with `PRODUCTS` among them
    the value of a function is any value. What is not equal then may be so with functions as they are.

    Raises RefutedError, and SpecError where it cannot be executed: what comes next depends on data.
    """
    bare = model_of(mapped.target, only=())
    listener = _Listener(bare)
    Player(mapped, listener, bare.kinds).part("program")
    model = model_of(mapped.target, only=listener.heard, opaque=opaque)
    player = Player(mapped, Machine(model.ila), model.kinds, opaque)
    wanted = player.part("kernel")
    for name in mapped.results:
        if not wanted.elements.get(name):
            line = next(write.line for write in writes(mapped.parts["kernel"]) if write.memory.name == name)
            sizes = ", ".join(f"{name} = {value}" for name, value in mapped.chosen.items())
            why = (
                f"kernel() writes no element of {name}{sizes and f' with {sizes}'}: there is nothing to prove"
            )
            raise SpecError([f"{mapped.place}:{line}: {why}"])
    # What the kernel read is what the program has: one set of data.
    for name, known in wanted.elements.items():
        if name not in mapped.results:
            player.inputs.elements[name] = dict(known)
    player.part("program")
    got = player.part("result")
    _of_the_device(mapped, bare)
    remaining: list[Remaining] = []
    same = total = 0
    for name in mapped.results:
        memory = mapped.tensors[name]
        open_: list[Element] = []
        for address, term in sorted(wanted.elements[name].items()):
            total += 1
            found = got.elements.get(name, {}).get(address)
            if found is None:
                raise RefutedError(f"result() says nothing of {place(memory, address)}")
            if PRODUCTS in opaque:
                found, term = _without_functions(found, term)
            if found.eq(term) or z3.is_true(z3.simplify(found == term)):
                same += 1
            else:
                open_.append(Element(place(memory, address), found, term))
        remaining += [
            Remaining(tuple(open_[begin : begin + TOGETHER])) for begin in range(0, len(open_), TOGETHER)
        ]
    return Played(tuple(remaining), same, total, player.commands, player.machine.steps)


def _of_the_device(mapped: Mapped, bare: Model) -> None:
    """Raises RefutedError for an element that says the same whatever the target's memories and registers
    hold."""
    machine = Machine(bare.ila)
    machine.state = {name: z3.Const(f"{name}@any", term.sort()) for name, term in machine.state.items()}
    player = Player(mapped, machine, bare.kinds)
    player.anything = True
    try:
        elements = player.part("result").elements
    except SpecError:  # a register says where the result is
        return
    for name, known in elements.items():
        for address, term in known.items():
            if not any(
                "@" in one.decl().name() for one in postorder([z3.simplify(term)]) if z3.is_const(one)
            ):
                said = place(mapped.tensors[name], address)
                raise RefutedError(f"{said} of result() is the same whatever the target holds")


def _without_functions(*terms: Term) -> tuple[Term, ...]:
    """The same with a constant for each value of a function: whatever it is, it is one value on both
    sides."""
    found: dict[int, Term] = {}
    stack = [*terms]
    seen: set[int] = set()
    while stack:
        one = stack.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        if one.num_args() and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[one.get_id()] = one  # what it is of does not matter any more
        else:
            stack.extend(one.children())
    pairs = [
        (one, z3.Const(f"{one.decl().name()}#{number_}", one.sort()))
        for number_, one in enumerate(found.values())
    ]
    return tuple(z3.substitute(term, *pairs) for term in terms) if pairs else terms
