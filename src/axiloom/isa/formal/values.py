"""Expressions of instruction sets as terms of z3: a bit vector as wide as the expression's range needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import z3

from axiloom.isa.formal.ila import Ila, Term
from axiloom.isa.instructions import externals
from axiloom.isa.instructions.arithmetic import VALUES
from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Choice,
    Const,
    Expr,
    Fold,
    Function,
    Lookup,
    Memory,
    Name,
    Range,
    Read,
    Wrapped,
)  # fmt: skip

PRODUCTS = "*"
"""Among opaque functions: products and sums over what memories hold. Those of sizes and iterators stay exact:
addresses are made of them."""


@dataclass(frozen=True)
class Value:
    """A bit vector of `range.bits` bits, two's complement where the range is signed."""

    term: z3.BitVecRef
    range: Range

    def wide(self, bits: int) -> z3.BitVecRef:
        """In `bits` bits: extended, or the low ones."""
        more = bits - self.term.size()
        if more > 0:
            extended: z3.BitVecRef = (z3.SignExt if self.range.signed else z3.ZeroExt)(more, self.term)
            return extended
        taken: z3.BitVecRef = self.term if more == 0 else z3.Extract(bits - 1, 0, self.term)
        return taken


class Known(Value):
    """A number that is known: computed with in Python, and a term where it meets one."""

    def __init__(self, value: int, kind: Range) -> None:
        object.__setattr__(self, "number", value)
        object.__setattr__(self, "range", kind)

    number: int

    @cached_property
    def term(self) -> z3.BitVecRef:
        return number(self.number, self.range.bits)

    def wide(self, bits: int) -> z3.BitVecRef:
        return number(self.number, bits)


def exact(value: int) -> Known:
    """A value that is this number."""
    return Known(value, Range(value, value))


def simplified(value: Value) -> Value:
    """With its term as z3 simplifies it; known, if that is a number."""
    if isinstance(value, Known):
        return value
    term = z3.simplify(value.term)
    if not z3.is_bv_value(term):
        return Value(term, value.range)
    return Known(term.as_signed_long() if value.range.signed else term.as_long(), value.range)


def number(value: int, bits: int) -> z3.BitVecRef:
    return z3.BitVecVal(value, bits)


def address_bits(memory: Memory) -> int:
    """Of an element's address: row major, a field of bits for each dim that is a power of two."""
    total = 1
    for size in memory.shape:
        total *= size
    return max(1, (total - 1).bit_length())


@dataclass
class Terms:
    """Makes terms at one point of a step: `state` and `locals` are what is known there, `kinds` the ranges of
    registers and inputs.

    `within` is told of each index that may leave its memory: the memory, the condition that it does not.
    """

    model: Ila
    kinds: Mapping[str, Range]
    state: Mapping[str, Term]
    locals: dict[str, Value]
    within: Callable[[Memory, z3.BoolRef, int], None]
    line: int = 0
    opaque: Collection[str] = ()
    """Functions that proofs know by name alone, besides those that are declared so."""

    def at(self, **more: Value) -> Terms:
        return replace(self, locals={**self.locals, **more})

    # --- values -------------------------------------------------------------------------------------------

    def value(self, expr: Expr) -> Value:
        """The expression, in as many bits as its range needs."""
        wanted = expr.range
        match expr:
            case Const(value=known):
                return Known(known, wanted)
            case Name(name=name):
                return _fitted(self._named(name), wanted)
            case Read(memory=memory, index=index):
                return self.element(memory, index)
            case Bits(value=whole, low=low, width=width):
                return self._bits(self.value(whole), self.value(low), width)
            case Wrapped(value=inner):
                return _fitted(self.value(inner), wanted)
            case Choice(condition=condition, yes=yes, no=no):
                holds = self.truth(condition)
                if z3.is_true(holds) or z3.is_false(holds):
                    return _fitted(self.value(yes if z3.is_true(holds) else no), wanted)
                bits = wanted.bits
                return Value(z3.If(holds, self.value(yes).wide(bits), self.value(no).wide(bits)), wanted)
            case Lookup(table=table, index=index):
                at, found = self.value(index), number(table.values[-1], wanted.bits)
                if isinstance(at, Known):
                    return Known(table.values[at.number], wanted)
                for place in reversed(range(len(table.values) - 1)):
                    here = at.term == number(place, at.term.size())
                    found = z3.If(here, number(table.values[place], wanted.bits), found)
                return Value(found, wanted)
            case Fold(operation=operation, iterator=iterator, count=count, body=body):
                parts = [self.at(**{iterator: exact(place)}).value(body) for place in range(count)]
                if PRODUCTS in self.opaque and self.is_data(parts[0]):
                    return Value(_opaque(operation, parts, wanted), wanted)
                return _folded(operation, parts, wanted)
            case Call(function=function, arguments=arguments):
                return self._call(function, [self.value(argument) for argument in arguments])
            case Apply(operation=operation, arguments=arguments):
                if operation in _TRUTHS:
                    holds = self.truth(expr)
                    if z3.is_true(holds) or z3.is_false(holds):
                        return Known(int(z3.is_true(holds)), wanted)
                    return Value(z3.If(holds, number(1, 1), number(0, 1)), wanted)
                given = [self.value(argument) for argument in arguments]
                if (numbers := _numbers(given)) is not None:
                    return Known(_computed(operation, numbers, given), wanted)
                bits = max(wanted.bits, *(one.range.bits for one in given)) + 1
                if operation == "cat":
                    joined = z3.Concat(*(one.term for one in reversed(given))) if given[1:] else given[0].term
                    return Value(joined, wanted)
                if operation == "mul" and PRODUCTS in self.opaque and all(map(self.is_data, given)):
                    return Value(_opaque(operation, given, wanted), wanted)
                made = _RULES[operation](*(one.wide(bits) for one in given))
                return Value(z3.Extract(wanted.bits - 1, 0, made), wanted)
        raise AssertionError(expr)

    def truth(self, expr: Expr) -> z3.BoolRef:
        """A condition."""
        match expr:
            case Const(value=known):
                return z3.BoolVal(bool(known))
            case Apply(operation="and", arguments=parts):
                found = [self.truth(part) for part in parts]
                if any(map(z3.is_false, found)):
                    return z3.BoolVal(False)
                left_ = [one for one in found if not z3.is_true(one)]
                return z3.And(*left_) if left_ else z3.BoolVal(True)
            case Apply(operation="or", arguments=parts):
                found = [self.truth(part) for part in parts]
                if any(map(z3.is_true, found)):
                    return z3.BoolVal(True)
                left_ = [one for one in found if not z3.is_false(one)]
                return z3.Or(*left_) if left_ else z3.BoolVal(False)
            case Apply(operation="not", arguments=(part,)):
                inner = self.truth(part)
                if z3.is_true(inner) or z3.is_false(inner):
                    return z3.BoolVal(z3.is_false(inner))
                return z3.Not(inner)
            case Apply(operation=operation, arguments=(left, right)) if operation in _COMPARED:
                one, other = self.value(left), self.value(right)
                if isinstance(one, Known) and isinstance(other, Known):
                    return z3.BoolVal(bool(VALUES[operation](one.number, other.number)))
                signed = one.range.signed or other.range.signed
                bits = max(v.range.bits + (signed and not v.range.signed) for v in (one, other))
                return _COMPARED[operation](one.wide(bits), other.wide(bits), signed)
        value = self.value(expr)
        if isinstance(value, Known):
            return z3.BoolVal(value.number == 1)
        held: z3.BoolRef = value.term == 1
        return held

    def is_data(self, value: Value) -> bool:
        """Whether it is made of what a memory holds, and not of sizes and iterators alone."""
        return not isinstance(value, Known) and _of_memory(value.term)

    def _named(self, name: str) -> Value:
        if name in self.locals:
            return self.locals[name]
        term = self.state[name] if name in self.state else self.model.inputs[name]
        return Value(term, self.kinds[name])

    def _bits(self, value: Value, low: Value, width: int) -> Value:
        low, kind = simplified(low), Range(0, (1 << width) - 1)
        if isinstance(low, Known):
            start = low.number
            if isinstance(value, Known):
                return Known(value.number >> start & (1 << width) - 1, kind)
            wide = value.wide(max(value.term.size(), start + width))
            return Value(z3.Extract(start + width - 1, start, wide), kind)
        bits = max(value.range.bits, low.range.high + width, low.range.bits)
        shifted = z3.LShR(value.wide(bits), low.wide(bits))
        return Value(z3.Extract(width - 1, 0, shifted), kind)

    def _call(self, function: Function, values: Sequence[Value]) -> Value:
        fitted = {
            name: _fitted(value, wanted)
            for value, (name, wanted) in zip(values, function.parameters.items(), strict=True)
        }
        if function.opaque or function.name in self.opaque:
            declared = _declared(self.model, function)
            return Value(declared(*(one.term for one in fitted.values())), function.result)
        inner = Terms(self.model, {}, {}, dict(fitted), self.within, function.line, self.opaque)
        for let in function.lets:
            inner.locals[let.name] = inner.value(let.value)
        assert function.value is not None
        return _fitted(inner.value(function.value), function.result)

    # --- memories -----------------------------------------------------------------------------------------

    def read(self, memory: Memory, address: z3.BitVecRef) -> z3.BitVecRef:
        element: z3.BitVecRef = z3.Select(self.state[memory.name], address)
        return element

    def element(self, memory: Memory, index: Sequence[Expr]) -> Value:
        """What is read there."""
        return Value(self.read(memory, self.address(memory, index)), memory.type)

    def address(self, memory: Memory, index: Sequence[Expr]) -> z3.BitVecRef:
        """Where an element is. What may lie outside is told to `within`."""
        return self.place(memory, index).term

    def place(self, memory: Memory, index: Sequence[Expr]) -> Value:
        """Where an element is. What may lie outside is told to `within`."""
        address: Value | None = None
        for expr, size in zip(index, memory.shape, strict=True):
            at = self.value(expr)
            self._inside(memory, at, size)
            own = _fitted(at, Range(0, (1 << max(1, (size - 1).bit_length())) - 1))
            address = own if address is None else _row_major(address, own, size)
        assert address is not None
        return _fitted(address, Range(0, (1 << address_bits(memory)) - 1))

    def _inside(self, memory: Memory, at: Value, size: int) -> None:
        if isinstance(at, Known):
            if not 0 <= at.number < size:
                self.within(memory, z3.BoolVal(False), self.line)
        elif not Range(0, size - 1).holds(at.range):
            bits = max(at.range.bits, size.bit_length()) + 1
            wide = at.wide(bits)
            self.within(memory, z3.And(wide >= 0, wide < size), self.line)


def _row_major(address: Value, own: Value, size: int) -> Value:
    """A field of bits for a dim that is a power of two."""
    power = size & (size - 1) == 0
    if power and size == 1:
        return address
    bits = address.range.bits + (own.range.bits if power else size.bit_length())
    kind = Range(0, (1 << bits) - 1)
    if isinstance(address, Known) and isinstance(own, Known):
        return Known(address.number * (1 << own.range.bits if power else size) + own.number, kind)
    if power:
        return Value(z3.Concat(address.term, own.term), kind)
    return Value(address.wide(bits) * size + own.wide(bits), kind)


def _fitted(value: Value, wanted: Range) -> Value:
    """In the bits of `wanted`, read as one of it: what does not fit loses its upper bits."""
    if not isinstance(value, Known):
        return Value(value.wide(wanted.bits), wanted)
    if wanted.low <= value.number <= wanted.high:
        return Known(value.number, wanted)
    low = value.number & (1 << wanted.bits) - 1
    return Known(low - (1 << wanted.bits) if wanted.signed and low >> wanted.bits - 1 else low, wanted)


def _numbers(values: Sequence[Value]) -> list[int] | None:
    """All of them, if all are known."""
    found = [value.number for value in values if isinstance(value, Known)]
    return found if len(found) == len(values) else None


def _computed(operation: str, numbers: Sequence[int], values: Sequence[Value]) -> int:
    if operation != "cat":
        return VALUES[operation](*numbers)
    whole = place = 0
    for number, value in zip(numbers, values, strict=True):
        whole |= number << place
        place += value.range.bits
    return whole


def _opaque(operation: str, given: Sequence[Value], wanted: Range) -> z3.BitVecRef:
    """Uninterpreted: a function for each operation and the ranges of what it is given."""
    kinds = "_".join(f"{'s' if one.range.signed else 'u'}{one.range.bits}" for one in given)
    sorts = [z3.BitVecSort(one.term.size()) for one in given]
    function = z3.Function(f"{operation}_{wanted.bits}_of_{kinds}", *sorts, z3.BitVecSort(wanted.bits))
    made: z3.BitVecRef = function(*(one.term for one in given))
    return made


def _of_memory(term: z3.ExprRef, most: int = 200) -> bool:
    """Whether an element of a memory is in it; so it is taken to be where a term is too large to look."""
    stack = [term]
    while stack and most:
        one, most = stack.pop(), most - 1
        if z3.is_select(one):
            return True
        stack.extend(one.children())
    return bool(stack)


def _declared(model: Ila, function: Function) -> z3.FuncDeclRef:
    """An opaque function of the model: uninterpreted, with what the simulator does for it."""
    sorts = [parameter.bits for parameter in function.parameters.values()]
    if function.name not in model.functions:
        if function.external and not any(parameter.signed for parameter in function.parameters.values()):
            own = externals.function(function.external).scalar
            return model.function(function.name, *sorts, function.result.bits, python=own)

        def python(*given: int) -> int:
            values = [
                one - (1 << wanted.bits) if wanted.signed and one >> wanted.bits - 1 else one
                for one, wanted in zip(given, function.parameters.values(), strict=True)
            ]
            if function.external:
                return externals.function(function.external).scalar(*values)
            return evaluate(function, values)

        return model.function(function.name, *sorts, function.result.bits, python=python)
    return z3.Function(function.name, *map(z3.BitVecSort, [*sorts, function.result.bits]))


def evaluate(function: Function, given: Sequence[int]) -> int:
    """A function of the text on integers, by its terms."""
    model = Ila(function.name)
    known: dict[str, Value] = {
        name: Known(one, wanted)
        for one, (name, wanted) in zip(given, function.parameters.items(), strict=True)
    }
    terms = Terms(model, {}, {}, known, lambda *_: None)
    for let in function.lets:
        terms.locals[let.name] = terms.value(let.value)
    assert function.value is not None
    found = z3.simplify(terms.value(function.value).wide(function.result.bits))
    value: int = found.as_long()
    return value


def _folded(operation: str, parts: Sequence[Value], wanted: Range) -> Value:
    if (numbers := _numbers(parts)) is not None:
        return Known(reduce(VALUES[operation], numbers), wanted)
    bits = wanted.bits + 1
    found = parts[0].wide(bits)
    for part in parts[1:]:
        found = _RULES[operation](found, part.wide(bits))
    return Value(z3.Extract(wanted.bits - 1, 0, found), wanted)


def _floor_divided(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    return z3.If(a >= 0, z3.UDiv(a, b), -z3.UDiv(b - 1 - a, b))


_RULES: Mapping[str, Callable[..., z3.BitVecRef]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": _floor_divided,
    "mod": lambda a, b: a - _floor_divided(a, b) * b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "invert": lambda a: ~a,
    "neg": lambda a: -a,
    "abs": lambda a: z3.If(a < 0, -a, a),
    "min": lambda a, b: z3.If(a < b, a, b),
    "max": lambda a, b: z3.If(a > b, a, b),
}
"""On bit vectors with a bit to spare, so that all of them are signed."""
_COMPARED: Mapping[str, Callable[[z3.BitVecRef, z3.BitVecRef, bool], z3.BoolRef]] = {
    "eq": lambda a, b, _signed: a == b,
    "ne": lambda a, b, _signed: a != b,
    "lt": lambda a, b, signed: a < b if signed else z3.ULT(a, b),
    "le": lambda a, b, signed: a <= b if signed else z3.ULE(a, b),
}
_TRUTHS = {*_COMPARED, "and", "or", "not"}
