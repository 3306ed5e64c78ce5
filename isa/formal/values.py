"""Expressions of instruction sets as terms of z3: a bit vector as wide as the expression's range needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from axiloom.isa.formal.ila import Ila, Term
from axiloom.isa.instructions import externals
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
"""Among opaque functions: products of what memories hold. Those of sizes and iterators stay exact: addresses
are made of them."""


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
                return Value(number(known, wanted.bits), wanted)
            case Name(name=name):
                return Value(self._named(name).wide(wanted.bits), wanted)
            case Read(memory=memory, index=index):
                return Value(self.read(memory, self.address(memory, index)), wanted)
            case Bits(value=whole, low=low, width=width):
                return Value(self._bits(self.value(whole), self.value(low), width), wanted)
            case Wrapped(value=inner):
                return Value(self.value(inner).wide(wanted.bits), wanted)
            case Choice(condition=condition, yes=yes, no=no):
                bits = wanted.bits
                chosen = z3.If(self.truth(condition), self.value(yes).wide(bits), self.value(no).wide(bits))
                return Value(chosen, wanted)
            case Lookup(table=table, index=index):
                at, found = self.value(index), number(table.values[-1], wanted.bits)
                for place in reversed(range(len(table.values) - 1)):
                    here = at.term == number(place, at.term.size())
                    found = z3.If(here, number(table.values[place], wanted.bits), found)
                return Value(found, wanted)
            case Fold(operation=operation, iterator=iterator, count=count, body=body):
                parts = [self.at(**{iterator: _known(place)}).value(body) for place in range(count)]
                return Value(_folded(operation, parts, wanted), wanted)
            case Call(function=function, arguments=arguments):
                return self._call(function, [self.value(one) for one in arguments])
            case Apply(operation=operation, arguments=arguments):
                if operation in _TRUTHS:
                    return Value(z3.If(self.truth(expr), number(1, 1), number(0, 1)), wanted)
                given = [self.value(one) for one in arguments]
                bits = max(wanted.bits, *(one.range.bits for one in given)) + 1
                if operation == "cat":
                    joined = z3.Concat(*(one.term for one in reversed(given))) if given[1:] else given[0].term
                    return Value(joined, wanted)
                if (
                    operation == "mul"
                    and PRODUCTS in self.opaque
                    and all(_of_memory(one.term) for one in given)
                ):
                    return Value(self._product(given[0], given[1], wanted), wanted)
                made = _RULES[operation](*(one.wide(bits) for one in given))
                return Value(z3.Extract(wanted.bits - 1, 0, made), wanted)
        raise AssertionError(expr)

    def truth(self, expr: Expr) -> z3.BoolRef:
        """A condition."""
        match expr:
            case Const(value=known):
                return z3.BoolVal(bool(known))
            case Apply(operation="and", arguments=parts):
                return z3.And(*map(self.truth, parts))
            case Apply(operation="or", arguments=parts):
                return z3.Or(*map(self.truth, parts))
            case Apply(operation="not", arguments=(part,)):
                return z3.Not(self.truth(part))
            case Apply(operation=operation, arguments=(left, right)) if operation in _COMPARED:
                one, other = self.value(left), self.value(right)
                signed = one.range.signed or other.range.signed
                bits = max(v.range.bits + (signed and not v.range.signed) for v in (one, other))
                return _COMPARED[operation](one.wide(bits), other.wide(bits), signed)
        held: z3.BoolRef = self.value(expr).term == 1
        return held

    def _product(self, a: Value, b: Value, wanted: Range) -> z3.BitVecRef:
        """Uninterpreted: a name for each pair of ranges."""
        signs = ["s" if one.range.signed else "u" for one in (a, b)]
        sizes = [one.range.bits for one in (a, b)]
        name = f"product_{signs[0]}{sizes[0]}_{signs[1]}{sizes[1]}_{wanted.bits}"
        product: z3.FuncDeclRef = z3.Function(name, *map(z3.BitVecSort, [*sizes, wanted.bits]))
        made: z3.BitVecRef = product(a.term, b.term)
        return made

    def _named(self, name: str) -> Value:
        if name in self.locals:
            return self.locals[name]
        term = self.state[name] if name in self.state else self.model.inputs[name]
        return Value(term, self.kinds[name])

    def _bits(self, value: Value, low: Value, width: int) -> z3.BitVecRef:
        at = z3.simplify(low.term)
        if z3.is_bv_value(at):
            start = at.as_long()
            wide = value.wide(max(value.term.size(), start + width))
            return z3.Extract(start + width - 1, start, wide)
        bits = max(value.term.size(), low.range.high + width, low.range.bits)
        shifted = z3.LShR(value.wide(bits), low.wide(bits))
        return z3.Extract(width - 1, 0, shifted)

    def _call(self, function: Function, given: Sequence[Value]) -> Value:
        fitted = {
            name: Value(one.wide(wanted.bits), wanted)
            for one, (name, wanted) in zip(given, function.parameters.items(), strict=True)
        }
        if function.opaque or function.name in self.opaque:
            declared = _declared(self.model, function)
            return Value(declared(*(one.term for one in fitted.values())), function.result)
        inner = Terms(self.model, {}, {}, dict(fitted), self.within, function.line, self.opaque)
        for let in function.lets:
            inner.locals[let.name] = inner.value(let.value)
        assert function.value is not None
        return Value(inner.value(function.value).wide(function.result.bits), function.result)

    # --- memories -----------------------------------------------------------------------------------------

    def read(self, memory: Memory, address: z3.BitVecRef) -> z3.BitVecRef:
        element: z3.BitVecRef = z3.Select(self.state[memory.name], address)
        return element

    def address(self, memory: Memory, index: Sequence[Expr]) -> z3.BitVecRef:
        """Where an element is. What may lie outside is told to `within`."""
        address: z3.BitVecRef | None = None
        for expr, size in zip(index, memory.shape, strict=True):
            at = self.value(expr)
            if not Range(0, size - 1).holds(at.range):
                bits = max(at.range.bits, size.bit_length()) + 1
                wide = at.wide(bits)
                self.within(memory, z3.And(wide >= 0, wide < size), self.line)
            own = at.wide(max(1, (size - 1).bit_length()))
            if address is None:
                address = own
            elif size & (size - 1) == 0:
                address = z3.Concat(address, own) if size > 1 else address
            else:
                bits = address.size() + size.bit_length()
                address = z3.ZeroExt(bits - address.size(), address) * size + z3.ZeroExt(
                    bits - own.size(), own
                )
        assert address is not None
        return Value(address, Range(0, (1 << address.size()) - 1)).wide(address_bits(memory))


def _of_memory(term: z3.ExprRef, most: int = 200) -> bool:
    """Whether an element of a memory is in it; so it is taken to be where a term is too large to look."""
    stack = [term]
    while stack and most:
        one, most = stack.pop(), most - 1
        if z3.is_select(one):
            return True
        stack.extend(one.children())
    return bool(stack)


def _known(value: int) -> Value:
    exact = Range(value, value)
    return Value(number(value, exact.bits), exact)


def _declared(model: Ila, function: Function) -> z3.FuncDeclRef:
    """An opaque function of the model: uninterpreted, with what the simulator does for it."""
    sorts = [one.bits for one in function.parameters.values()]
    if function.name not in model.functions:

        def python(*given: int) -> int:
            values = [
                one - (1 << wanted.bits) if wanted.signed and one >> wanted.bits - 1 else one
                for one, wanted in zip(given, function.parameters.values(), strict=True)
            ]
            if function.external:
                return int(externals.FUNCTIONS[function.external].python(*values))
            return evaluate(function, values)

        return model.function(function.name, *sorts, function.result.bits, python=python)
    return z3.Function(function.name, *map(z3.BitVecSort, [*sorts, function.result.bits]))


def evaluate(function: Function, given: Sequence[int]) -> int:
    """A function of the text on integers, by its terms."""
    model = Ila(function.name)
    known = {
        name: Value(number(one, wanted.bits), wanted)
        for one, (name, wanted) in zip(given, function.parameters.items(), strict=True)
    }
    terms = Terms(model, {}, {}, known, lambda *_: None)
    for let in function.lets:
        terms.locals[let.name] = terms.value(let.value)
    assert function.value is not None
    found = z3.simplify(terms.value(function.value).wide(function.result.bits))
    value: int = found.as_long()
    return value


def _folded(operation: str, parts: Sequence[Value], wanted: Range) -> z3.BitVecRef:
    bits = wanted.bits + 1
    found = parts[0].wide(bits)
    for one in parts[1:]:
        found = _RULES[operation](found, one.wide(bits))
    taken: z3.BitVecRef = z3.Extract(wanted.bits - 1, 0, found)
    return taken


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
