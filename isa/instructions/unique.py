"""Names of an instruction's locals and iterators, so that none means two things: what executes or proves it may
look them up without a scope. The first one keeps its name, the next ones are ``at_2``, ``at_3``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count

from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Call,
    Choice,
    Expr,
    Fold,
    For,
    If,
    Instruction,
    Lanes,
    Let,
    Lookup,
    Name,
    Read,
    Requirement,
    SetRegister,
    Statement,
    Wrapped,
    Write,
)  # fmt: skip

Names = Mapping[str, str]


def unique(instruction: Instruction, taken: Collection[str]) -> Instruction:
    """The same instruction. `taken`: what has a name outside of it."""
    renaming = _Renaming({*taken})
    fields: list[Let] = []
    names: dict[str, str] = {}
    for let in instruction.fields:
        value = renaming.expr(let.value, names)
        names[let.name] = renaming.new(let.name)
        fields.append(replace(let, name=names[let.name], value=value))
    legal: list[Requirement] = [
        replace(one, condition=renaming.expr(one.condition, names)) for one in instruction.legal
    ]
    body = renaming.block(instruction.body, names)
    return replace(instruction, fields=tuple(fields), legal=tuple(legal), body=body)


class _Renaming:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def new(self, name: str) -> str:
        found = next(one for n in count(1) if (one := name if n == 1 else f"{name}_{n}") not in self.taken)
        self.taken.add(found)
        return found

    def block(self, statements: Sequence[Statement], outer: Names) -> tuple[Statement, ...]:
        names, made = dict(outer), []
        for one in statements:
            made.append(self.statement(one, names))
        return tuple(made)

    def statement(self, one: Statement, names: dict[str, str]) -> Statement:
        match one:
            case Let(name=name, value=value):
                found = self.expr(value, names)
                names[name] = self.new(name)
                return replace(one, name=names[name], value=found)
            case SetRegister(value=value):
                return replace(one, value=self.expr(value, names))
            case Write(index=index, value=value):
                return replace(one, index=self.exprs(index, names), value=self.expr(value, names))
            case If(condition=condition, then=then, other=other):
                chosen = self.expr(condition, names)
                return replace(one, condition=chosen, then=self.block(then, names), other=self.block(other, names))
            case For(iterator=iterator, low=low, high=high, body=body):
                ends = self.expr(low, names), self.expr(high, names)
                own = Name(self.new(iterator.name), iterator.range)
                inner = self.block(body, {**names, iterator.name: own.name})
                return replace(one, iterator=own, low=ends[0], high=ends[1], body=inner)
            case Lanes(iterators=iterators, body=body):
                own_names = {name: self.new(name) for name in iterators}
                inner = self.block(body, {**names, **own_names})
                return replace(one, iterators={own_names[name]: n for name, n in iterators.items()}, body=inner)

    def exprs(self, parts: Sequence[Expr], names: Names) -> tuple[Expr, ...]:
        return tuple(self.expr(one, names) for one in parts)

    def expr(self, one: Expr, names: Names) -> Expr:
        match one:
            case Name(name=name):
                return replace(one, name=names.get(name, name))
            case Read(index=parts):
                return replace(one, index=self.exprs(parts, names))
            case Apply(arguments=parts) | Call(arguments=parts):
                return replace(one, arguments=self.exprs(parts, names))
            case Bits(value=value, low=low):
                return replace(one, value=self.expr(value, names), low=self.expr(low, names))
            case Wrapped(value=value):
                return replace(one, value=self.expr(value, names))
            case Choice(condition=condition, yes=yes, no=no):
                chosen = self.exprs((condition, yes, no), names)
                return Choice(*chosen)
            case Lookup(index=index):
                return replace(one, index=self.expr(index, names))
            case Fold(iterator=iterator, body=body):
                own = self.new(iterator)
                return replace(one, iterator=own, body=self.expr(body, {**names, iterator: own}))
        return one
