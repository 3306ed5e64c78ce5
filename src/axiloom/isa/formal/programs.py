"""The model of an instruction set with meaning: what needs no loop is one step, a loop is a program.

State: the text's registers and memories; `error`, 0 until something illegal comes; `step`, which loop a
program is in. A loop's head is a place: from it one step does the body up to the next head, another leaves
the loop. What a program needs of its command's words is kept in registers of its own, ``gemm.iter_out``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import z3

from axiloom.base.errors import SpecError
from axiloom.isa.formal.ila import Ila, Term
from axiloom.isa.formal.values import Terms, Value, address_bits, exact, number
from axiloom.isa.instructions.arithmetic import all_of
from axiloom.isa.instructions.tree import (
    Apply,
    Expr,
    For,
    If,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Memory,
    Name,
    Range,
    Read,
    SetRegister,
    Statement,
    Write,
)  # fmt: skip
from axiloom.isa.instructions.unique import unique
from axiloom.isa.instructions.walk import (
    folded,
    has_loop,
    loop_names,
    names,
    parts,
    uses,
    written,
)

STEP_BITS = 12
ILLEGAL, UNKNOWN = 1, 2
"""What `error` says: a requirement that does not hold, a word of no instruction."""


@dataclass
class Model:
    """An instruction set as an ILA."""

    source: InstructionSet
    ila: Ila
    kinds: dict[str, Range]
    opaque: Collection[str] = ()
    when: dict[str, z3.BoolRef] = field(default_factory=dict)
    """Of each instruction: that it is the one that comes."""
    programs: dict[str, Program] = field(default_factory=dict)


@dataclass(frozen=True)
class Loop:
    """A loop of a program: `place` is what `step` holds at its head; `chain` are the loops around it and
    it."""

    statement: For
    place: int
    register: str
    """The iterator's."""
    end: Expr
    chain: tuple[Loop, ...]

    @property
    def whole(self) -> tuple[Loop, ...]:
        return (*self.chain, self)

    @property
    def name(self) -> str:
        """Of the iterator, in the text."""
        return self.statement.iterator.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.whole)


@dataclass
class Program:
    """What an instruction with loops does after its command: `child` has its steps."""

    child: Ila
    loops: dict[int, Loop] = field(default_factory=dict)
    turns: list[z3.BitVecRef] = field(default_factory=list)
    """How many turns each loop has from where its iterator stands."""

    def around(self, names: Collection[str]) -> Loop | None:
        """The loop that, with those around it, has these iterators."""
        return next((loop for loop in self.loops.values() if set(loop.names) == set(names)), None)


# What follows a point of a text: statements, then what follows those; a loop's next turn; the end.
Following: TypeAlias = "tuple[Sequence[Statement], Following] | Loop | None"


def model_of(
    source: InstructionSet, only: Collection[str] | None = None, opaque: Collection[str] = ()
) -> Model:
    """The formal model of a text; with `only` these instructions: others are neither executed nor proved.

    Functions in `opaque` stay uninterpreted. Raises SpecError for more loops than `step` can tell apart.
    """
    ila = Ila(source.name)
    kinds: dict[str, Range] = {}
    for one in source.inputs.values():
        ila.input(one.name, one.bits)
        kinds[one.name] = one.type
    error, step = ila.register("error", 2), ila.register("step", STEP_BITS)
    for register in source.registers.values():
        init = None if register.init is None else register.init & ((1 << register.type.bits) - 1)
        ila.register(register.name, register.type.bits, init)
        kinds[register.name] = register.type
    for memory in source.memories.values():
        ila.memory(memory.name, address_bits(memory), memory.type.bits)
    ila.valid = z3.And(error == 0, step == 0)
    model = Model(source, ila, kinds, opaque)
    place = 1
    for instruction in source.instructions.values():
        builder = Builder(model, unique(instruction), place)
        model.when[instruction.name] = when = builder.when()
        if only is None or instruction.name in only:
            builder.build(when)
            place = builder.place
    if place > 1 << STEP_BITS:
        raise SpecError(
            [f"{source.place}: {place - 1} loops; a formal model has fewer than {1 << STEP_BITS}"]
        )
    unknown = z3.Not(z3.Or(*model.when.values()))
    ila.instruction("unknown", unknown, {error: UNKNOWN}, "a command of no instruction")
    ila.invariants["one thing at a time"] = z3.Or(error == 0, step == 0)
    ila.invariants["a step that there is"] = z3.ULT(step, place)
    return model


class Builder:
    """One instruction, its first place being `place`."""

    def __init__(self, model: Model, instruction: Instruction, place: int) -> None:
        self.model, self.instruction, self.place = model, instruction, place
        self.ila = model.ila
        self.program: Program | None = None
        self.written = set(written(instruction.body))
        self.looped = any(has_loop(one) for one in instruction.body)
        self.latched: dict[str, Range] = {}
        """Locals with a register of their own, by name."""
        self.inline: dict[str, Let] = {}
        """Locals that are made again where they are used, in the order of the text."""
        self.todo: list[tuple[Loop, Following]] = []
        self.places: dict[int, Loop] = {}
        """By the identity of the statement."""

    def when(self) -> z3.BoolRef:
        return self._terms(dict(self.ila.states), {}).truth(self.instruction.when)

    def build(self, when: z3.BoolRef) -> None:
        """Adds the instruction, which is the one that comes `when`."""
        one = self.instruction
        self._crossing(
            (*one.fields, *one.body), {name for part in one.legal for name in names(part.condition)}
        )
        fields: dict[str, Value] = {}
        for let in one.fields:
            terms = self._terms(dict(self.ila.states), fields, line=let.line)
            fields[let.name] = terms.value(let.value)
        terms = self._terms(dict(self.ila.states), fields)
        legal = terms.truth(all_of([part.condition for part in one.legal]))
        start = Point(dict(self.ila.states), fields, z3.And(when, legal))
        for let in one.fields:
            self._latch(start, let.name)
        self._execute(self.ila, one.name, start, (one.body, None))
        if one.legal:
            said = " or ".join(f"not {part.text}" for part in one.legal)
            refused = z3.And(when, z3.Not(legal))
            self.ila.instruction(f"{one.name}.illegal", refused, {self.ila.states["error"]: ILLEGAL}, said)
        while self.todo:
            self._loop(*self.todo.pop(0))
        if self.program:
            self._measures(self.program)
            self._invariants(self.program)

    # --- locals -------------------------------------------------------------------------------------------

    def _crossing(self, block: Sequence[Statement], needed: set[str], inside: bool = False) -> None:
        """Finds the locals that are used after a loop's head: they are kept, or made again if they are
        stable.

        `needed`: what requirements use, which invariants say again.
        """
        for number_, statement in enumerate(block):
            after = block[number_ + 1 :]
            if isinstance(statement, Let):
                used = any(statement.name in uses(later) for later in after) or statement.name in needed
                crosses = inside or any(has_loop(later) for later in after)
                if self.looped and used and crosses:
                    if self._stable(statement.value):
                        self.inline[statement.name] = statement
                    elif any(has_loop(later) for later in after) or not inside:
                        self._new_register(statement.name, statement.value.range)
            elif isinstance(statement, For):
                self._crossing(statement.body, needed)
            elif isinstance(statement, If) and has_loop(statement):
                self._crossing(statement.then, needed)
                self._crossing(statement.other, needed)

    def _new_register(self, name: str, kind: Range) -> None:
        self.latched[name] = kind
        self.ila.register(f"{self.instruction.name}.{name}", kind.bits, None)
        self.model.kinds[f"{self.instruction.name}.{name}"] = kind

    def _stable(self, expr: Expr) -> bool:
        """Whether it is the same all through the program: of constants, registers that it leaves, locals."""
        for part in parts(expr):
            if isinstance(part, Read):
                return False
            if isinstance(part, Name):
                name = part.name
                if name in self.model.source.inputs or name in self.written:
                    return False
                known = name in self.model.source.registers or name in self.latched or name in self.inline
                if not known and name not in self._iterators and name not in folded(expr):
                    return False
        return True

    @property
    def _iterators(self) -> set[str]:
        return set(loop_names(self.instruction.body))

    def _register(self, name: str) -> Term:
        return self.ila.states[f"{self.instruction.name}.{name}"]

    def _latch(self, point: Point, name: str) -> None:
        if name in self.latched:
            wide = point.locals[name].wide(self.latched[name].bits)
            point.state[f"{self.instruction.name}.{name}"] = wide

    # --- steps --------------------------------------------------------------------------------------------

    def _terms(self, state: Mapping[str, Term], known: Mapping[str, Value], line: int = 0) -> Terms:
        return Terms(self.ila, self.model.kinds, state, dict(known), anywhere, line, self.model.opaque)

    def _at(self, point: Point, line: int) -> Terms:
        return self._terms(point.state, point.locals, line)

    def _execute(self, owner: Ila, name: str, point: Point, following: Following) -> None:
        """Everything up to the next head or the end, as one instruction of `owner`, or as one for each
        way."""
        while following is not None:
            if isinstance(following, Loop):
                self._next_turn(point, following)
                self._finish(owner, name, point, following.place)
                return
            block, rest = following
            if not block:
                following = rest
                continue
            statement, following = block[0], (block[1:], rest)
            if self._at_once(owner, name, point, statement):
                continue
            if isinstance(statement, For):
                loop = self._enter(point, statement, following)
                self._finish(owner, name, point, loop.place)
                return
            if isinstance(statement, If) and has_loop(statement):
                holds = self._at(point, statement.line).truth(statement.condition)
                for branch, condition, way in (
                    (statement.then, holds, "then"),
                    (statement.other, z3.Not(holds), "else"),
                ):
                    copy = point.copy(condition)
                    self._execute(owner, f"{name}.{way}", copy, (branch, following))
                return
            self._simple(point, statement)
        self._finish(owner, name, point, 0)

    def _at_once(self, _owner: Ila, _name: str, _point: Point, _statement: Statement) -> bool:
        """Has the statement been done here, in a way of its own?"""
        return False

    def _goes_on(self, point: Point, place: int) -> None:
        """At a head, or, if `place` is 0, behind the last statement."""
        point.state["step"] = number(place, STEP_BITS)

    def _finish(self, owner: Ila, name: str, point: Point, place: int) -> None:
        self._goes_on(point, place)
        updates = {
            self.ila.states[own]: term
            for own, term in point.state.items()
            if not term.eq(self.ila.states[own])
        }
        owner.instruction(name, point.condition, updates, self.instruction.text if owner is self.ila else "")

    def _simple(self, point: Point, statement: Statement) -> None:
        terms = self._at(point, statement.line)
        match statement:
            case Let(name=name, value=value):
                point.locals[name] = terms.value(value)
                self._latch(point, name)
            case SetRegister(register=register, value=value):
                point.state[register.name] = terms.value(value).wide(register.type.bits)
            case Write():
                point.state[statement.memory.name] = _stored(
                    terms, statement, terms.state[statement.memory.name]
                )
            case Lanes(iterators=iterators, body=body):
                lanes: list[dict[str, Value]] = [
                    {name: exact(at) for name, at in zip(iterators, places, strict=True)}
                    for places in product(*(range(count) for count in iterators.values()))
                ]
                self._lanes(point, lanes, body)
            case If(condition=condition, then=then, other=other):
                holds = terms.truth(condition)
                yes, no = point.copy(holds), point.copy(z3.Not(holds))
                for branch, block in ((yes, then), (no, other)):
                    for one in block:
                        self._simple(branch, one)
                for name, term in yes.state.items():
                    same = term.eq(no.state[name])
                    point.state[name] = term if same else z3.If(holds, term, no.state[name])
            case _:
                raise AssertionError(statement)

    def _lanes(self, point: Point, lanes: Sequence[dict[str, Value]], body: Sequence[Statement]) -> None:
        """Each statement for all lanes, then the next one."""
        for statement in body:
            terms = self._at(point, statement.line)
            if isinstance(statement, Let):
                for lane in lanes:
                    lane[statement.name] = terms.at(**lane).value(statement.value)
            elif isinstance(statement, Write):
                memory = terms.state[statement.memory.name]
                for lane in lanes:
                    memory = _stored(terms.at(**lane), statement, memory)
                point.state[statement.memory.name] = memory

    # --- loops --------------------------------------------------------------------------------------------

    def _enter(self, point: Point, statement: For, following: Following) -> Loop:
        """Before a loop: its iterator and, where it may change, its end are kept; `step` will be its head."""
        terms = self._at(point, statement.line)
        first, high = terms.value(statement.low), terms.value(statement.high)
        loop = self.places.get(id(statement))
        if loop is None:
            loop = self._new_loop(statement, point.loops)
            self.todo.append((loop, following))
        register = self.model.kinds[loop.register]
        point.state[loop.register] = first.wide(register.bits)
        if isinstance(loop.end, Name) and loop.end.name == f"{statement.iterator.name}.end":
            point.state[f"{self.instruction.name}.{loop.end.name}"] = high.wide(loop.end.range.bits)
        return loop

    def _new_loop(self, statement: For, chain: tuple[Loop, ...]) -> Loop:
        name = statement.iterator.name
        counter = Range(statement.low.range.low, max(statement.low.range.high, statement.high.range.high))
        self.ila.register(f"{self.instruction.name}.{name}", counter.bits, None)
        self.model.kinds[f"{self.instruction.name}.{name}"] = counter
        end = statement.high
        if not self._stable(end):
            self._new_register(f"{name}.end", end.range)
            end = Name(f"{name}.end", end.range)
        if self.program is None:
            self.program = Program(self.ila.child(self.instruction.name, z3.BoolVal(True)))
            self.model.programs[self.instruction.name] = self.program
        loop = Loop(statement, self.place, f"{self.instruction.name}.{name}", end, chain)
        self.place += 1
        self.places[id(statement)] = self.program.loops[loop.place] = loop
        here = [self.ila.states["step"] == place for place in self.program.loops]
        self.program.child.valid = z3.And(self.ila.states["error"] == 0, z3.Or(*here))
        return loop

    def _kept(self, loop: Loop, *, inside: bool) -> dict[str, Value]:
        """What is known at a loop's head: iterators, kept locals, and locals that are made of them."""
        around = loop.whole if inside else loop.chain
        known = {
            one.name: Value(self.ila.states[one.register], self.model.kinds[one.register]) for one in around
        }
        known |= {name: Value(self._register(name), kind) for name, kind in self.latched.items()}
        for name, let in self.inline.items():
            # Of iterators that are not there it is not asked for.
            if all(
                part in known or part in self.model.kinds or part in folded(let.value)
                for part in names(let.value)
            ):
                known[name] = self._terms(dict(self.ila.states), known).value(let.value)
        return known

    def _more(self, loop: Loop, known: Mapping[str, Value]) -> z3.BoolRef:
        register = self.model.kinds[loop.register]
        at = Name("_at", register)
        less = Apply("lt", (at, loop.end), Range(0, 1))
        own = Value(self.ila.states[loop.register], register)
        return self._terms(dict(self.ila.states), {**known, "_at": own}).truth(less)

    def _loop(self, loop: Loop, following: Following) -> None:
        assert self.program is not None
        here = self.ila.states["step"] == loop.place
        outside, inside = self._kept(loop, inside=False), self._kept(loop, inside=True)
        more = self._more(loop, outside)
        name, states = loop.name, self.ila.states
        body = Point(dict(states), inside, z3.And(here, more), loop.whole)
        self._execute(self.program.child, f"{name}.body", body, (loop.statement.body, loop))
        done = Point(dict(states), outside, z3.And(here, z3.Not(more)), loop.chain)
        self._execute(self.program.child, f"{name}.done", done, following)

    def _next_turn(self, point: Point, loop: Loop) -> None:
        register = self.ila.states[loop.register]
        point.state[loop.register] = register + 1

    # --- that it ends -------------------------------------------------------------------------------------

    def _measures(self, program: Program) -> None:
        """Lexicographic, from the outermost loop: which loop of its level is to come, and its turns left."""
        deepest = max(len(one.chain) for one in program.loops.values()) + 1
        child, step = program.child, self.ila.states["step"]
        program.turns = [self._left(one) for one in program.loops.values()]
        for level in range(deepest):
            rank, left = number(self.place, STEP_BITS), number(0, 64)
            for loop in program.loops.values():
                if level < len(loop.whole):
                    one, here = loop.whole[level], step == loop.place
                    rank = z3.If(here, number(self.place - 1 - one.place, STEP_BITS), rank)
                    left = z3.If(here, self._left(one), left)
            child.measures += [rank, left]

    def _left(self, loop: Loop) -> z3.BitVecRef:
        known = self._kept(loop, inside=False)
        own = Value(self.ila.states[loop.register], self.model.kinds[loop.register])
        end = self._terms(dict(self.ila.states), known).value(loop.end)
        return z3.If(self._more(loop, known), end.wide(64) - own.wide(64), number(0, 64))

    def _invariants(self, program: Program) -> None:
        for loop, holds in self._at_heads(program):
            self.ila.invariants[f"{self.instruction.name}, {loop.name}"] = holds

    def _required_in(self, _loop: Loop) -> Iterator[Expr]:
        """What was required before a loop, and still holds in it."""
        yield from (part.condition for part in self.instruction.legal if self._stable(part.condition))

    def _at_heads(self, program: Program) -> Iterator[tuple[Loop, z3.BoolRef]]:
        """At each head: requirements hold, iterators lie in their bounds, what is kept in its range."""
        step = self.ila.states["step"]
        for loop in program.loops.values():
            here, known = step == loop.place, self._kept(loop, inside=True)
            terms = self._terms(dict(self.ila.states), known)
            holds: list[z3.BoolRef] = []
            for condition in self._required_in(loop):
                if all(one in known or one in self.model.source.registers for one in names(condition)):
                    holds.append(terms.truth(condition))
            for one in loop.whole:
                holds.append(self._bounds(one, terms, last=one is loop))
            for own, kind in self.latched.items():
                if kind.bits < 64 and (1 << kind.bits) - 1 != kind.high - kind.low:
                    value = known[own]
                    wide = value.wide(kind.bits + 1)
                    holds.append(z3.And(wide >= kind.low, wide <= kind.high))
            yield loop, z3.Implies(here, z3.And(*holds))

    def _bounds(self, loop: Loop, terms: Terms, *, last: bool) -> z3.BoolRef:
        own = Value(self.ila.states[loop.register], self.model.kinds[loop.register])
        end, bits = terms.value(loop.end), 64
        at, stop = own.wide(bits), end.wide(bits)
        if not self._stable(loop.statement.low):
            return at < stop if not last else z3.BoolVal(True)
        low = terms.value(loop.statement.low).wide(bits)
        if last:
            return z3.And(low <= at, z3.Or(at <= stop, at == low))
        return z3.And(low <= at, at < stop)


def anywhere(_memory: Memory, _inside: z3.BoolRef, _line: int) -> None:
    """Where an index lies is proved of the text: :mod:`axiloom.isa.formal.bounds`."""


@dataclass
class Point:
    """Where a step has come to: the state by then, locals, and the condition of having come this way."""

    state: dict[str, Term]
    locals: dict[str, Value]
    condition: z3.BoolRef
    loops: tuple[Loop, ...] = ()

    def copy(self, condition: z3.BoolRef) -> Point:
        return Point(dict(self.state), dict(self.locals), z3.And(self.condition, condition), self.loops)


def _stored(terms: Terms, write: Write, memory: Term) -> Term:
    value = terms.value(write.value).wide(write.memory.type.bits)
    return z3.Store(memory, terms.address(write.memory, write.index), value)
