"""That each index lies within its memory, said in whole numbers.

Bit vectors make this hard where an index is a product, ``base + y * width + x``: solvers multiply bit by bit.
Trees have no overflow, so that the same is a formula of integers, and there products are known to grow.

An index is looked at where it stands: fields and requirements of its instruction hold; so do the bounds of
loops and the conditions around it. An element of a memory is any number of its range; so is a register that
was written in a loop or under a condition. A register that every instruction keeps in a smaller range than
its type's is in that range: :func:`kept` finds such ranges, and that they are kept is claimed too.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import z3

from axiloom.isa.formal import limited
from axiloom.isa.formal.sound import Claim
from axiloom.isa.instructions.text import text_of
from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Choice,
    Const,
    Expr,
    Fold,
    For,
    If,
    Instruction,
    InstructionSet,
    Lanes,
    Let,
    Lookup,
    Memory,
    Name,
    Range,
    Read,
    Requirement,
    SetRegister,
    Statement,
    Wrapped,
    Write,
    unsigned,
)  # fmt: skip
from axiloom.isa.instructions.walk import everywhere, names, parts, written


def claims(source: InstructionSet, ranges: Mapping[str, Range] | None = None) -> list[Claim]:
    """Of each instruction, memory and line with an index that may leave its memory by its range alone, and of
    each register that is kept in one of `ranges` (:func:`kept`)."""
    found: list[Claim] = []
    ranges = kept(source) if ranges is None else ranges
    for one in source.instructions.values():
        walk = Walk(source, ranges)
        walk.instruction(one)
        for (memory, line), index in walk.indices.items():
            name = f"{source.name}.{one.name}: {memory}, line {line}"
            text = f"every index of {memory} lies within it"
            if free := sorted(walk.taken.keys() - ranges.keys()):
                text += (
                    f" (of {', '.join(free)} no range is known: no smaller one is kept by all instructions)"
                )
            found.append(Claim(name, text, z3.And(*index), "indices"))
        for (register, line), each in walk.sets.items():
            kind = ranges[register]
            name = f"{source.name}.{one.name}: {register}, line {line}"
            found.append(Claim(name, f"it stays in {kind}, as from reset on", z3.And(*each), "invariants"))
    return found


def effects(source: InstructionSet, ranges: Mapping[str, Range]) -> Iterator[Claim]:
    """Covers: each instruction whose text writes something does so in some command."""
    for instruction in source.instructions.values():
        walk = Walk(source, ranges)
        walk.instruction(instruction)
        if walk.writes:
            never = z3.And(*(z3.Implies(z3.And(*known), z3.BoolVal(False)) for known in walk.writes))
            name, text = f"{source.name}.{instruction.name}: it writes", "some command of it writes something"
            yield Claim(name, text, never, "covers", cover=True)


def impossible(source: InstructionSet) -> Iterator[str]:
    """A line for each instruction that no command is, or none legally, with the condition that says so.

    What takes long is left to the covers of ``prove spec``.
    """
    for instruction in source.instructions.values():
        walk = Walk(source, {})
        for expr, line in walk.conditions(instruction):
            if _quickly(z3.Not(z3.And(*walk.ranges, *walk.point.facts))):
                why = f"`{text_of(expr)}` is false for all commands that come to it"
                yield f"{source.place}:{line}: {instruction.name} can never be legal: {why}"
                break


def kept(source: InstructionSet) -> dict[str, Range]:
    """Ranges of the registers that instructions with indices read: see :func:`kept_of`."""
    needed: set[str] = set()
    for instruction in source.instructions.values():
        walk = Walk(source, {})
        walk.instruction(instruction)
        needed |= walk.taken.keys() if walk.indices else set()
    return kept_of(source, needed)


def required(source: InstructionSet) -> dict[str, Range]:
    """Ranges of the registers that decide whether an instruction is legal: see :func:`kept_of`."""
    conditions = [
        expr
        for instruction in source.instructions.values()
        for expr in (instruction.when, *(p.condition for p in instruction.legal))
    ]
    return kept_of(source, {name for expr in conditions for name in names(expr)})


def kept_of(source: InstructionSet, needed: Collection[str]) -> dict[str, Range]:
    """Smaller ranges than the types' that these registers have from reset on, by induction over all
    instructions.

    Ends are numbers of the text: the least ones are tried first, and those that an instruction leaves give
    way to the next. Who uses a range claims that it is kept.
    """
    ends = sorted({part.value + more for part in _constants(source) for more in (-1, 0, 1)})
    tried: dict[str, list[Range]] = {}
    for name, register in source.registers.items():
        kind, init = register.type, register.init
        if name in needed and init is not None:
            highs = [end for end in (*ends, kind.high) if init <= end <= kind.high]
            low = 0 if init >= 0 and kind.signed else kind.low
            tried[name] = [Range(low, high) for high in dict.fromkeys(highs)]
            tried[name] += [kind] if kind not in tried[name] else []
    until = time.monotonic() + MOST_S
    while tried and time.monotonic() < until:
        now = {name: ranges[0] for name, ranges in tried.items()}
        left = set()
        for instruction in source.instructions.values():
            walk = Walk(source, now)
            walk.instruction(instruction)
            left |= {
                name
                for (name, _), each in walk.sets.items()
                if name not in left and not _quickly(z3.And(*each))
            }
        if not left:
            return {name: kind for name, kind in now.items() if kind != source.registers[name].type}
        for name in left:
            tried[name] = tried[name][1:] or [source.registers[name].type]
            if len(tried[name]) == 1:
                del tried[name]
    return {}


MOST_S = 10.0
"""For ranges of registers."""
_QUICK_S = 0.3


def _quickly(formula: z3.BoolRef) -> bool:
    solver = limited.solver(_QUICK_S)
    solver.add(z3.Not(formula))
    return bool(solver.check() == z3.unsat)


def _constants(source: InstructionSet) -> Iterator[Const]:
    for instruction in source.instructions.values():
        exprs = [*(let.value for let in instruction.fields), *(part.condition for part in instruction.legal)]
        for expr in [*exprs, *everywhere(instruction.body)]:
            yield from (part for part in parts(expr) if isinstance(part, Const))
    for memory in source.memories.values():
        yield from map(Const, memory.shape)


@dataclass
class Point:
    """What is known at one place of an instruction: names, and facts about them."""

    known: Mapping[str, z3.ArithRef]
    facts: tuple[z3.BoolRef, ...] = ()

    def but(self, *facts: z3.BoolRef) -> Point:
        return replace(self, facts=(*self.facts, *facts))

    def knowing(self, more: Mapping[str, z3.ArithRef]) -> Point:
        return replace(self, known={**self.known, **more})


@dataclass
class Walk:
    source: InstructionSet
    kept: Mapping[str, Range]
    given: Sequence[Expr] = ()
    """What is known of registers; with it, sizes and products of them are whole numbers (`whole`)."""
    sets: dict[tuple[str, int], list[z3.BoolRef]] = field(default_factory=dict)
    """That what is written to a register, by its line, lies in the range in which it is kept."""
    indices: dict[tuple[str, int], list[z3.BoolRef]] = field(default_factory=dict)
    writes: list[tuple[z3.BoolRef, ...]] = field(default_factory=list)
    """What is known where something is written."""
    line: int = 0
    ranges: list[z3.BoolRef] = field(default_factory=list)
    """Of the integers that stand for something unknown."""
    taken: dict[str, z3.ArithRef] = field(default_factory=dict)
    """Registers as they were when the command came."""
    pieces: dict[str, list[tuple[int, z3.ArithRef]]] = field(default_factory=dict)
    """An input's bits between two places where some field begins or ends: from which bit on."""
    names: dict[str, int] = field(default_factory=dict)
    whole: list[z3.BoolRef] = field(default_factory=list)
    """With `given` facts: that nothing is cut off."""
    point: Point = field(default_factory=lambda: Point({}))
    """Of the conditions so far."""

    def instruction(self, one: Instruction) -> None:
        for _ in self.conditions(one):
            pass
        self._block(one.body, self.point)

    def conditions(self, instruction: Instruction) -> Iterator[tuple[Expr, int]]:
        """The conditions of a command, each with its line, once its truth is a fact of ``point``."""
        self.line, self.point = instruction.line, Point({})
        self._cut(instruction)
        self.point = self.point.but(self._truth(instruction.when, self.point))
        yield instruction.when, instruction.line
        for let in instruction.fields:
            self.point = self._let(let, self.point)
        for part in instruction.legal:
            self.line = part.line
            self.point = self.point.but(self._truth(part.condition, self.point))
            yield part.condition, part.line

    def _cut(self, instruction: Instruction) -> None:
        """Inputs in pieces: fields that overlap share some, and no field is a quotient."""
        exprs = [
            instruction.when,
            *(let.value for let in instruction.fields),
            *(part.condition for part in instruction.legal),
        ]
        ends: dict[str, set[int]] = {name: {0, own.bits} for name, own in self.source.inputs.items()}
        for part in (inner for expr in [*exprs, *everywhere(instruction.body)] for inner in parts(expr)):
            match part:
                case Bits(value=Name(name=name), low=Const(value=low), width=width) if name in ends:
                    ends[name] |= {low, low + width}
        for name, places in ends.items():
            cuts = sorted(places)
            self.pieces[name] = [
                (low, self._any(unsigned(high - low), f"{name}[{low}:{high}]"))
                for low, high in pairwise(cuts)
            ]

    def _any(self, kind: Range, what: str) -> z3.ArithRef:
        """A number that nothing is known of but its range; `what` is for counter-examples."""
        turn = self.names[what] = self.names.get(what, 0) + 1
        made = z3.Int(what if turn == 1 else f"{what} ({turn})")
        self.ranges.append(z3.And(made >= kind.low, made <= kind.high))
        return made

    # --- statements ---------------------------------------------------------------------------------------

    def _let(self, let: Let, point: Point) -> Point:
        self.line = let.line
        return point.knowing({let.name: self._value(let.value, point)})

    def _changed(self, point: Point, block: Sequence[Statement]) -> Point:
        """After statements that may have been executed: the registers that they write are any number."""
        registers = self.source.registers
        return point.knowing(
            {one: self._any(self.kept.get(one, registers[one].type), one) for one in written(block)}
        )

    def _block(self, statements: Sequence[Statement], point: Point) -> None:
        for statement in statements:
            self.line = statement.line
            if isinstance(statement, SetRegister | Write):
                self.writes.append((*self.ranges, *point.facts))
            match statement:
                case Let():
                    point = self._let(statement, point)
                case SetRegister(register=register, value=value):
                    found = self._value(value, point)
                    if (kind := self.kept.get(register.name)) is not None:
                        within = z3.And(found >= kind.low, found <= kind.high)
                        claim = z3.Implies(z3.And(*self.ranges, *point.facts), within)
                        self.sets.setdefault((register.name, statement.line), []).append(claim)
                    point = point.knowing({register.name: found})
                case Write(memory=memory, index=index, value=value):
                    self._value(value, point)
                    self._index(memory, index, point)
                case If(condition=condition, then=then, other=other):
                    holds = self._truth(condition, point)
                    self._block(then, point.but(holds))
                    self._block(other, point.but(z3.Not(holds)))
                    point = self._changed(point, (*then, *other))
                case For(iterator=iterator, low=low, high=high, body=body):
                    least, end, at = (
                        self._value(low, point),
                        self._value(high, point),
                        self._any(iterator.range, iterator.name),
                    )
                    point = self._changed(point, body)
                    self._block(body, point.knowing({iterator.name: at}).but(at >= least, at < end))
                    point = self._changed(point, body)
                case Requirement(condition=condition):
                    point = point.but(self._truth(condition, point))
                case Lanes(iterators=iterators, body=body):
                    lanes = {name: self._any(Range(0, many - 1), name) for name, many in iterators.items()}
                    self._block(body, point.knowing(lanes))

    def _index(self, memory: Memory, index: Sequence[Expr], point: Point) -> None:
        for expr, size in zip(index, memory.shape, strict=True):
            at = self._value(expr, point)
            if not (expr.range.low >= 0 and expr.range.high < size):
                claim = z3.Implies(z3.And(*self.ranges, *point.facts), z3.And(at >= 0, at < size))
                self.indices.setdefault((memory.name, self.line), []).append(claim)

    # --- expressions --------------------------------------------------------------------------------------

    def number(self, expr: Expr) -> z3.ArithRef:
        """Of registers and names that stand for any number, where the facts hold."""
        if not self.point.facts:
            self.point = Point({}).but(*(self._truth(fact, Point({})) for fact in self.given))
        return self._value(expr, self.point)

    @property
    def known(self) -> z3.BoolRef:
        """The ranges of all numbers so far, and the facts."""
        return z3.And(*self.ranges, *self.point.facts)

    def _truth(self, expr: Expr, point: Point) -> z3.BoolRef:
        """Of a second operand of `and` and `or` the first one is a condition, as in Python."""
        match expr:
            case Apply(operation="and", arguments=(left, right)):
                first = self._truth(left, point)
                return z3.And(first, self._truth(right, point.but(first)))
            case Apply(operation="or", arguments=(left, right)):
                first = self._truth(left, point)
                return z3.Or(first, self._truth(right, point.but(z3.Not(first))))
            case Apply(operation="not", arguments=(one,)):
                return z3.Not(self._truth(one, point))
            case Apply(operation="eq" | "ne" | "lt" | "le" as operation, arguments=(left, right)):
                a, b = self._value(left, point), self._value(right, point)
                found: z3.BoolRef = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b}[operation]
                return found
        return self._value(expr, point) != 0

    def _value(self, expr: Expr, point: Point) -> z3.ArithRef:
        match expr:
            case Const(value=value):
                return z3.IntVal(value)
            case Name(name=name, range=kind):
                return self._named(name, kind, point)
            case Read(memory=memory, index=index):
                self._index(memory, index, point)
                return self._any(expr.range, f"{memory.name}[...]")
            case Apply(operation="and" | "or" | "not" | "eq" | "ne" | "lt" | "le"):
                return z3.If(self._truth(expr, point), z3.IntVal(1), z3.IntVal(0))
            case Apply():
                return self._applied(expr, [self._value(one, point) for one in expr.arguments])
            case Bits(value=whole, low=low, width=width):
                return self._bits(expr, whole, low, width, point)
            case Wrapped(value=inner, range=kind):
                value = self._value(inner, point)
                if not self.given or kind.signed or any(isinstance(part, Read) for part in parts(inner)):
                    return self._wrapped(value, inner.range, kind)
                within = z3.And(value >= kind.low, value <= kind.high)
                self.whole.append(z3.Implies(z3.And(*self.ranges, *point.facts), within))
                return value
            case Choice(condition=condition, yes=yes, no=no):
                holds = self._truth(condition, point)
                first = self._value(yes, point.but(holds))
                return z3.If(holds, first, self._value(no, point.but(z3.Not(holds))))
            case Lookup(index=at):
                self._value(at, point)
            case Call(arguments=arguments):
                for argument in arguments:
                    self._value(argument, point)
            case Fold(iterator=iterator, count=many, body=body):
                at = self._any(Range(0, many - 1), iterator)
                self._value(body, point.knowing({iterator: at}))
        return self._any(expr.range, type(expr).__name__.lower())

    def _named(self, name: str, kind: Range, point: Point) -> z3.ArithRef:
        if name in point.known:
            return point.known[name]
        if name in self.pieces:
            return z3.Sum([piece * (1 << low) for low, piece in self.pieces[name]])
        if name not in self.taken:
            self.taken[name] = self._any(self.kept.get(name, kind), name)
        return self.taken[name]

    def _bits(self, expr: Expr, whole: Expr, low: Expr, width: int, point: Point) -> z3.ArithRef:
        if isinstance(whole, Name) and whole.name in self.source.inputs and isinstance(low, Const):
            pieces = [
                (at - low.value, piece)
                for at, piece in self.pieces[whole.name]
                if low.value <= at < low.value + width
            ]
            return z3.Sum([piece * (1 << place) for place, piece in pieces])
        value = self._value(whole, point)
        if not isinstance(low, Const):
            self._value(low, point)
            return self._any(unsigned(width), "bits")
        if whole.range.low >= 0 and whole.range.high >> low.value < 1 << width:
            return value / (1 << low.value)
        return value / (1 << low.value) % (1 << width)

    def _wrapped(self, value: z3.ArithRef, inner: Range, kind: Range) -> z3.ArithRef:
        if kind.holds(inner):
            return value
        low = value % (1 << kind.bits)
        return z3.If(low > kind.high, low - (1 << kind.bits), low) if kind.signed else low

    def _applied(self, expr: Apply, values: Sequence[z3.ArithRef]) -> z3.ArithRef:
        a, b = values[0], values[-1]
        constant = expr.arguments[-1].value if isinstance(expr.arguments[-1], Const) else None
        match expr.operation:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "floordiv":
                return a / b  # both round down: the divisor is positive
            case "mod":
                return a % b
            case "shl" if constant is not None:
                return a * (1 << constant)
            case "shr" if constant is not None:
                return a / (1 << constant)
            case "bitand" if constant is not None and constant & (constant + 1) == 0 and constant >= 0:
                return a % (constant + 1)
            case "invert":
                return -a - 1
            case "neg":
                return -a
            case "abs":
                return z3.If(a < 0, -a, a)
            case "min":
                return z3.If(a < b, a, b)
            case "max":
                return z3.If(a < b, b, a)
            case "cat":
                whole, place = z3.IntVal(0), 0
                for argument, value in zip(expr.arguments, values, strict=True):
                    whole, place = whole + value * (1 << place), place + argument.range.bits
                return whole
        return self._any(expr.range, expr.operation)
