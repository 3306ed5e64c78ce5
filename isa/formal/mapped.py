"""A mapping at given sizes: its commands are executed on any data, and the result is compared with the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import z3

from axiloom.errors import SpecError
from axiloom.isa.formal.ila import ModelError, Term
from axiloom.isa.formal.programs import Model, model_of
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.symbolic import Machine, Substitution, UnknownError
from axiloom.isa.formal.values import Terms, Value, number
from axiloom.isa.instructions.mappings import Command, Mapped
from axiloom.isa.instructions.tree import Expr, For, If, Lanes, Let, Memory, Range, Statement, Write

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
        bits = (size - 1).bit_length()
        # An address has a field of bits for a dim that is a power of two: `Terms.address`.
        low = address & ((1 << bits) - 1) if size & (size - 1) == 0 else address % size
        address = address >> bits if size & (size - 1) == 0 else address // size
        index.append(low)
    return f"{memory.name}[{', '.join(map(str, [address, *reversed(index)]))}]"


@dataclass
class _Terms(Terms):
    """Reads tensors, and the target's memories by known addresses."""

    tensors: Tensors | None = None
    machine: Machine | None = None

    def read(self, memory: Memory, address: z3.BitVecRef) -> z3.BitVecRef:
        assert self.tensors is not None
        at = z3.simplify(address)
        if not z3.is_bv_value(at):
            raise UnknownError(f"line {self.line}: an index of {memory.name} depends on data")
        if memory.name in self.tensors.kinds:
            return self.tensors.element(memory, at.as_long())
        assert self.machine is not None
        return self.machine.element(memory.name, at.as_long())


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


class Player:
    """Plays a mapping's parts on `machine`."""

    def __init__(self, mapped: Mapped, machine: Machine, kinds: Mapping[str, Range]) -> None:
        self.mapped, self.machine, self.kinds = mapped, machine, kinds
        self.inputs = Tensors(mapped.tensors)
        self.commands = 0

    def part(self, name: str) -> Tensors:
        """Plays a part; the tensors it leaves. Raises SpecError with the line of the mapping."""
        tensors = Tensors(
            self.mapped.tensors, {name: dict(one) for name, one in self.inputs.elements.items()}
        )
        self._block(self.mapped.parts[name], tensors, {})
        return tensors

    def _terms(self, tensors: Tensors, known: Mapping[str, Value], line: int) -> _Terms:
        def within(memory: Memory, inside: z3.BoolRef, at: int) -> None:
            if not z3.is_true(z3.simplify(inside)):
                raise SpecError([f"{self.mapped.place}:{at}: an index outside of {memory.name}"])

        state = self.machine.state
        return _Terms(self.machine.model, self.kinds, state, dict(known), within, line, tensors=tensors,
                      machine=self.machine)  # fmt: skip

    def _number(self, expr: Expr, tensors: Tensors, known: Mapping[str, Value], line: int) -> int:
        found = z3.simplify(self._terms(tensors, known, line).value(expr).term)
        if not z3.is_bv_value(found):
            raise SpecError([f"{self.mapped.place}:{line}: it must be known, and depends on data"])
        value: int = found.as_signed_long() if expr.range.signed else found.as_long()
        return value

    def _block(self, block: Sequence[Statement | Command], tensors: Tensors, known: dict[str, Value]) -> None:
        for one in block:
            try:
                self._statement(one, tensors, known)
            except ModelError as error:
                raise SpecError([f"{self.mapped.place}:{one.line}: {error}"]) from None

    def _statement(self, one: Statement | Command, tensors: Tensors, known: dict[str, Value]) -> None:
        match one:
            case Let(name=name, value=value):
                found = self._terms(tensors, known, one.line).value(value)
                known[name] = Value(z3.simplify(found.term), found.range)
            case For(iterator=iterator, low=low, high=high, body=body):
                ends = [self._number(end, tensors, known, one.line) for end in (low, high)]
                for at in range(*ends):
                    self._block(body, tensors, {**known, iterator.name: _exact(at)})
            case Lanes(iterators=iterators, body=body):
                lanes = [
                    {**known, **{name: _exact(at) for name, at in zip(iterators, places, strict=True)}}
                    for places in product(*(range(count) for count in iterators.values()))
                ]
                for statement in body:
                    written = [self._lane(statement, tensors, lane) for lane in lanes]
                    for memory, address, term in (each for each in written if each):
                        tensors.elements.setdefault(memory, {})[address] = term
            case Write():
                found_ = self._lane(one, tensors, known)
                assert found_
                tensors.elements.setdefault(found_[0], {})[found_[1]] = found_[2]
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

    def _lane(
        self, one: Statement, tensors: Tensors, known: dict[str, Value]
    ) -> tuple[str, int, Term] | None:
        terms = self._terms(tensors, known, one.line)
        if isinstance(one, Let):
            found = terms.value(one.value)
            known[one.name] = Value(z3.simplify(found.term), found.range)
            return None
        assert isinstance(one, Write)
        at = z3.simplify(terms.address(one.memory, one.index))
        if not z3.is_bv_value(at):
            raise UnknownError(f"an index of {one.memory.name} depends on data")
        value = z3.simplify(terms.value(one.value).wide(one.memory.type.bits))
        return one.memory.name, at.as_long(), value


def _exact(value: int) -> Value:
    exact = Range(value, value)
    return Value(number(value, exact.bits), exact)


@dataclass(frozen=True)
class Played:
    """A mapping at its sizes: claims that remain, how many elements were the same terms, what it took."""

    claims: tuple[Claim, ...]
    same: int
    elements: int
    commands: int
    steps: int


def play(mapped: Mapped) -> Played:
    """Executes a mapping on any data. Raises SpecError where it cannot be: what comes next depends on data."""
    bare = model_of(mapped.target, only=())
    listener = _Listener(bare)
    Player(mapped, listener, bare.kinds).part("program")
    model = model_of(mapped.target, only=listener.heard)
    player = Player(mapped, Machine(model.ila), model.kinds)
    wanted = player.part("kernel")
    # What the kernel read is what the program has: one set of data.
    for name, known in wanted.elements.items():
        if name not in mapped.results:
            player.inputs.elements[name] = dict(known)
    player.part("program")
    got = player.part("result")
    claims: list[Claim] = []
    same = total = 0
    for name in mapped.results:
        memory = mapped.tensors[name]
        open_: list[tuple[int, z3.BoolRef]] = []
        for address, term in sorted(wanted.elements[name].items()):
            total += 1
            found = got.elements.get(name, {}).get(address)
            if found is None:
                raise SpecError([f"{mapped.place}: result() says nothing of {place(memory, address)}"])
            if found.eq(term):
                same += 1
            else:
                open_.append((address, found == term))
        claims += _claims(memory, open_)
    return Played(tuple(claims), same, total, player.commands, player.machine.steps)


def _claims(memory: Memory, elements: Sequence[tuple[int, z3.BoolRef]]) -> Iterator[Claim]:
    for begin in range(0, len(elements), TOGETHER):
        part = elements[begin : begin + TOGETHER]
        first, last = (place(memory, address) for address, _ in (part[0], part[-1]))
        text = f"{first} to {last} are the kernel's" if len(part) > 1 else f"{first} is the kernel's"
        yield Claim(f"{first}", text, z3.And(*(formula for _, formula in part)))
