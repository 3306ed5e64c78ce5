"""An instruction on memories of terms: what it reads and what it writes, for any addresses.

A field that stands in the index of a memory is an address: the slice that begins there is a tensor of its
own, which holds only if slices do not overlap unless they are the same. Other fields are sizes and have
values. What has another form (an address that is multiplied, a condition on data) is refused.

The text becomes Python's code: what follows from fields and loops is a number there, and what comes from
memories a term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from axiloom.base.errors import AxiloomError
from axiloom.isa.instructions.arithmetic import VALUES
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
    Function,
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
    Wrapped,
    Write,
)
from axiloom.isa.instructions.walk import blocks, exprs, names, parts
from axiloom.selection.machine.terms import Term, Terms

Slot: TypeAlias = tuple[str, str]
"""A memory, and the field with the address in it."""
Place: TypeAlias = tuple[int, ...]


class MeaningError(AxiloomError):
    """An instruction whose meaning as a whole is not found."""


@dataclass
class Effect:
    """`written[slot]` are terms by place, from the slice's begin; `read`: places that are looked at before
    they are written."""

    terms: Terms
    read: dict[Slot, set[Place]] = field(default_factory=dict)
    written: dict[Slot, dict[Place, Term]] = field(default_factory=dict)


def _statements(body: Sequence[Statement]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        for inner in blocks(statement):
            yield from _statements(inner)


def addresses(instruction: Instruction, isa: InstructionSet) -> dict[str, str]:
    """Fields that are addresses, with their memory. Raises MeaningError for one of two memories."""
    fields = {let.name for let in instruction.fields}
    lets = {
        statement.name: statement.value
        for statement in _statements(instruction.body)
        if isinstance(statement, Let)
    }
    memories: dict[str, str] = {}

    def note(memory: Memory, index: Sequence[Expr]) -> None:
        for expr in index:
            used = set(names(expr))
            for name in list(used & set(lets)):
                used |= names(lets[name])
            for name in sorted(used & fields):
                if memories.setdefault(name, memory.name) != memory.name:
                    why = f"{name} is an address of {memories[name]} and of {memory.name}"
                    raise MeaningError(f"{instruction.name}: {why}")

    for statement in _statements(instruction.body):
        if isinstance(statement, Write):
            note(statement.memory, statement.index)
        for expr in exprs(statement):
            for part in parts(expr):
                if isinstance(part, Read):
                    note(part.memory, part.index)
    return memories


def effect(isa: InstructionSet, instruction: Instruction, sizes: Mapping[str, int]) -> Effect:
    """Of all fields that are no addresses, `sizes` has the values. Raises MeaningError."""
    where = instruction.name
    at = addresses(instruction, isa)
    missing = [let.name for let in instruction.fields if let.name not in at and let.name not in sizes]
    if missing:
        raise MeaningError(f"{where}: no value for {', '.join(missing)}")
    result = Effect(Terms())
    writer = _Writer(where, at, result, frozenset(isa.registers))
    writer.block(instruction.body, 1, set(sizes))
    lines = [
        "def execute():",
        *(f" {name} = {value}" for name, value in {**dict.fromkeys(at, 0), **sizes}.items()),
    ]
    scope: dict[str, Any] = {**writer.scope}
    exec(compile("\n".join([*lines, *writer.lines, " pass"]), where, "exec"), scope)
    scope["execute"]()
    for slot, of in writer.memories.items():
        kept = {
            place: term for place, term in of.items() if result.terms.keys[term] != ("read", *slot, place)
        }
        if kept:
            result.written[slot] = kept
    return result


class _Writer:
    """Writes the code of an instruction. Names of locals are the text's own; ours are capitals."""

    def __init__(self, where: str, at: Mapping[str, str], effect: Effect, registers: frozenset[str]) -> None:
        self.where, self.at, self.made, self.registers = where, at, effect, registers
        self.lines: list[str] = []
        self.memories: dict[Slot, dict[Place, Term]] = {}
        self.numbers: dict[Slot, int] = {}
        self.turns = 0
        terms = effect.terms
        self.scope: dict[str, Any] = {
            "__builtins__": {"range": range, "min": min, "max": max, "abs": abs},
            "C": terms.const, "T": terms.make, "B": terms.bits, "CAT": terms.cat, "V": VALUES,
            "REG": _Registers(where),
            "WRAP": _wrap, "W": terms.wrap, "I": terms.integer, "CHOICE": terms.choice, "CALL": terms.ranged,
            "RANGE": Range,
        }  # fmt: skip

    def fault(self, why: str) -> MeaningError:
        return MeaningError(f"{self.where}: {why}")

    # --- statements ---------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement], deep: int, numbers: set[str]) -> None:
        """`numbers`: names that are plain numbers; others are terms."""
        here = set(numbers)
        pad = " " * deep
        for statement in statements:
            match statement:
                case Let(name=name, value=value):
                    self.let(name, value, pad, here)
                case SetRegister(register=register, value=value):
                    self.lines.append(f"{pad}REG[{register.name!r}] = {self.term(value, here)}")
                case Write():
                    self.lines.append(
                        f"{pad}{self.target(statement, here)} = {self.term(statement.value, here)}"
                    )
                case If(condition=condition, then=then, other=other):
                    self.lines.append(f"{pad}if {self.number(condition, here)}:")
                    self.block(then, deep + 1, here)
                    self.lines += [f"{pad} pass", f"{pad}else:"]
                    self.block(other, deep + 1, here)
                    self.lines.append(f"{pad} pass")
                case For(iterator=iterator, low=low, high=high, body=body):
                    ends = f"{self.number(low, here)}, {self.number(high, here)}"
                    self.lines.append(f"{pad}for {iterator.name} in range({ends}):")
                    self.block(body, deep + 1, here | {iterator.name})
                    self.lines.append(f"{pad} pass")
                case Lanes():
                    self.lanes(statement, deep, here)

    def let(self, name: str, value: Expr, pad: str, here: set[str]) -> None:
        if self.is_number(value, here):
            self.lines.append(f"{pad}{name} = {self.number(value, here)}")
            here.add(name)
        else:
            self.lines.append(f"{pad}{name} = {self.term(value, here)}")
            here.discard(name)

    def lanes(self, lanes: Lanes, deep: int, numbers: set[str]) -> None:
        """Each write of all lanes: first all values, then all places. Names are made anew for each."""
        here = numbers | set(lanes.iterators)
        lets: list[Let] = []
        for statement in lanes.body:
            if isinstance(statement, Let):
                lets.append(statement)
                continue
            assert isinstance(statement, Write)
            self.turns += 1
            list_ = f"L{self.turns}"
            self.lines.append(f"{' ' * deep}{list_} = []")
            level = deep
            for name, count in lanes.iterators.items():
                self.lines.append(f"{' ' * level}for {name} in range({count}):")
                level += 1
            inner = set(here)
            for let in lets:
                self.let(let.name, let.value, " " * level, inner)
            slot, place = self.slot(statement.memory, statement.index, inner)
            value = self.term(statement.value, inner)
            self.lines.append(f"{' ' * level}{list_}.append(({place}, {value}))")
            self.lines.append(f"{' ' * deep}M{self.numbers[slot]}.update({list_})")

    def target(self, write: Write, here: set[str]) -> str:
        slot, place = self.slot(write.memory, write.index, here)
        return f"M{self.numbers[slot]}[{place}]"

    def slot(self, memory: Memory, index: Sequence[Expr], here: set[str]) -> tuple[Slot, str]:
        """With addresses as 0: each is added once, in the first index."""
        used = [name for name, of in self.at.items() if of == memory.name and self._uses(index[0], name)]
        if len(used) > 1 or any(self._uses(expr, name) for expr in index[1:] for name in self.at):
            raise self.fault(f"an index of {memory.name} with several addresses")
        if used and not _added(index[0], used[0]):
            raise self.fault(f"{used[0]} is not added in {memory.name}[{text_of(index[0])}]")
        slot = memory.name, used[0] if used else ""
        if slot not in self.numbers:
            number = self.numbers[slot] = len(self.numbers)
            self.memories[slot] = self.scope[f"M{number}"] = {}
            self.scope[f"R{number}"] = self._reader(slot, memory.type)
        # An address is 0 here, and nowhere else a number: what is not shifted by it is no slice.
        first, *rest = (
            self.number(index[0], here | set(used)),
            *(self.number(expr, here) for expr in index[1:]),
        )
        return slot, "(" + "".join(f"{number}, " for number in (first, *rest)) + ")"

    def _uses(self, expr: Expr, name: str) -> bool:
        return name in names(expr)

    def _reader(self, slot: Slot, kind: Range) -> Callable[[Place], Term]:
        of, seen, make = self.memories[slot], self.made.read, self.made.terms.ranged

        def read(place: Place) -> Term:
            term = of.get(place)
            if term is None:
                seen.setdefault(slot, set()).add(place)
                term = of[place] = make(kind, "read", *slot, place)
            return term

        return read

    # --- expressions --------------------------------------------------------------------------------------

    def is_number(self, expr: Expr, here: set[str]) -> bool:
        """Whether it follows from fields and loops."""
        return not any(
            isinstance(part, Read) or (isinstance(part, Name) and part.name not in here) or _external(part)
            for part in parts(expr)
        )

    def number(self, expr: Expr, here: set[str]) -> str:
        if not self.is_number(expr, here):
            self.no_address(expr)
            raise self.fault(f"{text_of(expr)} depends on data")
        match expr:
            case Const(value=value):
                return str(value)
            case Name(name=name):
                return name
            case Apply(operation="and", arguments=(a, b)):
                return f"(1 if {self.number(a, here)} and {self.number(b, here)} else 0)"
            case Apply(operation="or", arguments=(a, b)):
                return f"(1 if {self.number(a, here)} or {self.number(b, here)} else 0)"
            case Apply(operation=operation, arguments=arguments) if operation in VALUES:
                texts = [self.number(argument, here) for argument in arguments]
                sign = _PYTHON.get(operation)
                return f"({f' {sign} '.join(texts)})" if sign else f"V[{operation!r}]({', '.join(texts)})"
            case Bits(value=value, low=low, width=width):
                return f"({self.number(value, here)} >> {self.number(low, here)} & {(1 << width) - 1})"
            case Wrapped(value=value, range=kind):
                return f"WRAP({self.number(value, here)}, {kind.low}, {kind.high})"
            case Choice(condition=condition, yes=yes, no=no):
                then, otherwise = self.number(yes, here), self.number(no, here)
                return f"({then} if {self.number(condition, here)} else {otherwise})"
        raise self.fault(f"{text_of(expr)} as a number")

    def no_address(self, expr: Expr) -> None:
        if used := sorted({*names(expr)} & set(self.at)):
            raise self.fault(f"{text_of(expr)} depends on the address {used[0]}")

    def term(self, expr: Expr, here: set[str]) -> str:
        if self.is_number(expr, here):
            return f"C({self.number(expr, here)})"
        match expr:
            case Name(name=name):
                self.no_address(expr)
                return f"REG[{name!r}]" if name in self.registers else name
            case Read(memory=memory, index=index):
                slot, place = self.slot(memory, index, here)
                return f"R{self.numbers[slot]}({place})"
            case Apply(operation="cat", arguments=arguments):
                pieces = ", ".join(
                    f"({self.term(argument, here)}, {argument.range.bits})" for argument in arguments
                )
                return f"CAT([{pieces}])"
            case Apply(operation=operation, arguments=arguments):
                return f"I({operation!r}, [{', '.join(self.term(argument, here) for argument in arguments)}])"
            case Fold(operation="add" | "min" | "max", iterator=iterator, count=count, body=body):
                inner = f"[{self.term(body, here | {iterator})} for {iterator} in range({count})]"
                return f"I({expr.operation!r}, {inner})"
            case Bits(value=value, low=low, width=width):
                return f"B({self.term(value, here)}, {self.number(low, here)}, {width}, {value.range.bits})"
            case Wrapped(value=value, range=kind):
                inner = self.term(value, here)
                return f"W({inner}, {kind.low}, {kind.high})"
            case Choice(condition=condition, yes=yes, no=no):
                then, otherwise = self.term(yes, here), self.term(no, here)
                if self.is_number(condition, here):
                    return f"({then} if {self.number(condition, here)} else {otherwise})"
                return f"CHOICE({self.term(condition, here)}, {then}, {otherwise})"
            case Call(function=function, arguments=arguments):
                return self.call(function, [self.term(argument, here) for argument in arguments])
        raise self.fault(f"{text_of(expr)}: {type(expr).__name__.lower()} of data")

    def call(self, function: Function, arguments: list[str]) -> str:
        name = function.external or function.name
        kind = f"RANGE({function.result.low}, {function.result.high})"
        return f"CALL({kind}, 'call', {name!r}, {', '.join(arguments)})"


_PYTHON = {"add": "+", "sub": "-", "mul": "*"}


def _external(expr: Expr) -> bool:
    return isinstance(expr, Call)


class _Registers(dict[str, Term]):
    """Of one instruction: it finds in them what it has written itself."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self._where = where

    def __missing__(self, name: str) -> Term:
        raise MeaningError(f"{self._where}: it reads {name} as another instruction left it")


def _wrap(value: int, low: int, high: int) -> int:
    return low + (value - low) % (high - low + 1)


def _added(expr: Expr, name: str) -> bool:
    """Whether `name` is added once: it stands on a path of sums alone."""
    match expr:
        case Name(name=own):
            return own == name
        case Apply(operation="add", arguments=arguments):
            with_it = [argument for argument in arguments if name in names(argument)]
            return len(with_it) == 1 and _added(with_it[0], name)
    return False
