"""What an instruction computes as a whole, derived from its steps and proved of them.

    relu: y[row + r, lane] = max(y[row + r, lane], 0) for r < rows, lane < 16; if row + rows <= 256

An instruction whose loops have one body has such a closed form if no turn writes what another one reads or
writes. That is proved, of one arbitrary element and for all sizes, from the steps of the formal model: the
form is read off the text once, and nobody writes it a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import z3

from axiloom.isa.formal.arbitrary import Arbitrary, Cover, Element
from axiloom.isa.formal.ila import Term
from axiloom.isa.formal.programs import Model
from axiloom.isa.formal.sound import Claim
from axiloom.isa.formal.values import Terms, Value, number
from axiloom.isa.instructions.text import text_of
from axiloom.isa.instructions.tree import (
    Expr,
    For,
    If,
    Instruction,
    Lanes,
    Let,
    Memory,
    Range,
    SetRegister,
    Statement,
    Write,
)
from axiloom.isa.instructions.unique import unique
from axiloom.isa.instructions.walk import names

MOST_CASES = 64
"""Lanes that are looked at one by one; more are looked at together."""


@dataclass(frozen=True)
class Form:
    """One assignment of an instruction, for all turns of its loops and all lanes at once.

    `sizes` are the fields in the loops' bounds, `addresses` those in the index of what is read or written.
    """

    instruction: Instruction
    loops: tuple[For, ...]
    lanes: Mapping[str, int]
    lets: tuple[Let, ...]
    conditions: tuple[tuple[Expr, bool], ...]
    write: Write

    @property
    def sizes(self) -> tuple[str, ...]:
        fields = [let.name for let in self.instruction.fields]
        used = {name for loop in self.loops for end in (loop.low, loop.high) for name in names(end)}
        return tuple(name for name in fields if name in used)

    @property
    def addresses(self) -> tuple[str, ...]:
        fields = [let.name for let in self.instruction.fields]
        used = {name for let in self.lets for name in names(let.value)}
        used |= {name for at in (*self.write.index, self.write.value) for name in names(at)}
        return tuple(name for name in fields if name in used and name not in self.sizes)

    def __str__(self) -> str:
        bounds = [
            f"{text_of(loop.low)} <= {loop.iterator.name} < {text_of(loop.high)}" for loop in self.loops
        ]
        bounds = [bound.removeprefix("0 <= ") for bound in bounds]
        bounds += [f"{name} < {count}" for name, count in self.lanes.items()]
        index = ", ".join(map(text_of, self.write.index))
        made = f"{self.write.memory.name}[{index}] = {text_of(self.write.value)}"
        where = [f"{let.name} = {text_of(let.value)}" for let in self.lets]
        when = [text_of(one) if yes else f"not {text_of(one)}" for one, yes in self.conditions]
        when += [one.text for one in self.instruction.legal]
        parts = [
            made,
            f"for {', '.join(bounds)}" if bounds else "",
            f"where {', '.join(where)}" if where else "",
        ]
        parts.append(f"if {' and '.join(when)}" if when else "")
        return " ".join(part for part in parts if part)


class NoFormError(Exception):
    """Why an instruction has no closed form, for the end of a sentence."""


def forms(instruction: Instruction) -> list[Form]:
    """The assignments of an instruction. Raises NoFormError."""
    one = unique(instruction)
    return list(_forms(one, one.body, (), (), ()))


def _forms(
    one: Instruction,
    block: Sequence[Statement],
    loops: tuple[For, ...],
    lets: tuple[Let, ...],
    conditions: tuple[tuple[Expr, bool], ...],
) -> Iterator[Form]:
    nests = 0
    for statement in block:
        match statement:
            case Let():
                lets = (*lets, statement)
            case SetRegister(register=register) if loops:
                raise NoFormError(f"a loop sets {register.name}")
            case SetRegister():
                pass
            case Write():
                yield Form(one, loops, {}, lets, conditions, statement)
            case Lanes(iterators=iterators, body=body):
                inner = lets
                for each in body:
                    if isinstance(each, Let):
                        inner = (*inner, each)
                    else:
                        assert isinstance(each, Write)
                        yield Form(one, loops, iterators, inner, conditions, each)
            case For(body=body):
                nests += 1
                if nests > 1:
                    raise NoFormError("it has loops one after the other")
                yield from _forms(one, body, (*loops, statement), lets, conditions)
            case If(condition=condition, then=then, other=other):
                yield from _forms(one, then, loops, lets, (*conditions, (condition, True)))
                yield from _forms(one, other, loops, lets, (*conditions, (condition, False)))


@dataclass
class Proof:
    """What is to be proved for a form to be what the instruction's steps do."""

    form: Form
    claims: list[Claim] = field(default_factory=list)
    covers: list[Cover] = field(default_factory=list)


@dataclass
class _Reading(Terms):
    """Keeps where it has read."""

    reads: list[tuple[str, z3.BitVecRef]] = field(default_factory=list)

    def read(self, memory: Memory, address: z3.BitVecRef) -> z3.BitVecRef:
        self.reads.append((memory.name, address))
        return super().read(memory, address)


def proof(model: Model, form: Form) -> Proof:
    """The claims of a form. Raises NoFormError."""
    ila, name = model.ila, form.instruction.name
    command = next((instruction for instruction in ila.instructions if instruction.name == name), None)
    if command is None:
        raise NoFormError("what its command does depends on a choice before a loop")
    state: dict[str, Term] = dict(ila.states)
    after = {**state, **dict(command.updates)}
    known: dict[str, Value] = {}

    def terms(line: int) -> _Reading:
        return _Reading(ila, model.kinds, state, known, lambda *_: None, line, model.opaque)

    for let in form.instruction.fields:
        known[let.name] = terms(let.line).value(let.value)
    given: list[z3.BoolRef] = [command.decode]
    turn: dict[str, Value] = {}
    lets = {let.name: let for let in form.lets}
    for loop in form.loops:
        kind = loop.iterator.range
        own = Value(z3.BitVec(f"{name}.{loop.iterator.name}*", kind.bits), kind)
        for needed in _needed((loop.low, loop.high), lets, known):
            known[needed] = terms(loop.line).value(lets[needed].value)
        low, high = (terms(loop.line).value(end).wide(64) for end in (loop.low, loop.high))
        given += [low <= own.wide(64), own.wide(64) < high]
        known[loop.iterator.name] = turn[loop.iterator.name] = own
    for lane, count in form.lanes.items():
        kind = Range(0, count - 1)
        known[lane] = Value(z3.BitVec(f"{name}.{lane}*", kind.bits), kind)
        given.append(z3.ULT(known[lane].wide(32), number(count, 32)))
    reading = terms(form.write.line)
    for let in form.lets:
        if let.name not in known:
            known[let.name] = reading.locals[let.name] = reading.value(let.value)
    for condition, yes in form.conditions:
        holds = reading.truth(condition)
        given.append(holds if yes else z3.Not(holds))
    value = reading.value(form.write.value).wide(form.write.memory.type.bits)
    address = reading.address(form.write.memory, form.write.index)
    goal = Element(form.write.memory.name, address, value)
    sources = [Element(own, at, z3.Select(state[own], at)) for own, at in reading.reads]
    made = Proof(form)
    program = model.programs.get(name)
    if program is None:
        text = "the element is in its place"
        made.claims.append(Claim(f"{name}: at once", text, z3.Implies(z3.And(*given), goal.there(after))))
        return made
    writer = program.around(list(turn))
    if writer is None:
        raise NoFormError("it writes outside of its innermost loop")
    invariants = z3.And(*ila.invariants.values())
    lanes = {known[lane].term: count for lane, count in form.lanes.items()}
    if prod(form.lanes.values()) > MOST_CASES:
        lanes = {}
    through = Arbitrary(model, name, writer, turn, goal, sources, z3.And(invariants, *given), lanes)
    through.prove(after, sources)
    made.claims, made.covers = through.claims, through.covers
    return made


def _needed(exprs: Sequence[Expr], lets: Mapping[str, Let], known: Mapping[str, Value]) -> Iterator[str]:
    """Locals that a bound is made of, in the order in which they can be made."""
    for expr in exprs:
        for name in sorted(names(expr)):
            if name in lets and name not in known:
                yield from _needed((lets[name].value,), lets, known)
                yield name
