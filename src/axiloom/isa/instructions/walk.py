"""What a tree has: the parts of expressions, the blocks of statements, the names in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

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


def has_loop(statement: Statement) -> bool:
    if isinstance(statement, If):
        return any(map(has_loop, (*statement.then, *statement.other)))
    return isinstance(statement, For)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Read(index=index):
            return index
        case Apply(arguments=arguments) | Call(arguments=arguments):
            return arguments
        case Bits(value=value, low=low):
            return value, low
        case Wrapped(value=value):
            return (value,)
        case Choice(condition=condition, yes=yes, no=no):
            return condition, yes, no
        case Lookup(index=at):
            return (at,)
        case Fold(body=body):
            return (body,)
        case Const() | Name():
            return ()


def parts(expr: Expr) -> Iterator[Expr]:
    stack = [expr]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(children(part))


def names(expr: Expr) -> set[str]:
    return {part.name for part in parts(expr) if isinstance(part, Name)}


def folded(expr: Expr) -> set[str]:
    """Iterators of the sums in it."""
    return {part.iterator for part in parts(expr) if isinstance(part, Fold)}


def blocks(statement: Statement) -> tuple[Sequence[Statement], ...]:
    match statement:
        case For(body=body) | Lanes(body=body):
            return (body,)
        case If(then=then, other=other):
            return then, other
    return ()


def exprs(statement: Statement) -> tuple[Expr, ...]:
    match statement:
        case Let(value=value) | SetRegister(value=value):
            return (value,)
        case Write(index=index, value=value):
            return (*index, value)
        case For(low=low, high=high):
            return low, high
        case If(condition=condition) | Requirement(condition=condition):
            return (condition,)
    return ()


def uses(statement: Statement) -> set[str]:
    used = {name for expr in exprs(statement) for name in names(expr)}
    return used.union(*(uses(inner) for block in blocks(statement) for inner in block))


def statements(block: Iterable[Any]) -> Iterator[Any]:
    """All statements of a block, each before those in it; a mapping's commands too."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from statements(inner)


def writes(block: Iterable[Any]) -> Iterator[Write]:
    """All that write an element."""
    return (statement for statement in statements(block) if isinstance(statement, Write))


def written(block: Sequence[Statement]) -> Iterator[str]:
    return (change.register.name for change in statements(block) if isinstance(change, SetRegister))


def everywhere(block: Sequence[Statement]) -> Iterator[Expr]:
    """All expressions of statements and of the blocks in them."""
    return (expr for statement in statements(block) for expr in exprs(statement))


def loop_names(block: Sequence[Statement]) -> Iterator[str]:
    return (loop.iterator.name for loop in statements(block) if isinstance(loop, For))


def substituted(expr: Expr, known: Callable[[Name], Expr]) -> Expr:
    """The same with what `known` says in the place of each name; a sum's own iterator stays."""

    def again(expr: Expr) -> Expr:
        return substituted(expr, known)

    match expr:
        case Const():
            return expr
        case Name():
            return known(expr)
        case Read(index=index):
            return replace(expr, index=tuple(map(again, index)))
        case Apply(arguments=arguments) | Call(arguments=arguments):
            return replace(expr, arguments=tuple(map(again, arguments)))
        case Bits(value=value, low=low):
            return replace(expr, value=again(value), low=again(low))
        case Wrapped(value=value):
            return replace(expr, value=again(value))
        case Choice(condition=condition, yes=yes, no=no):
            return replace(expr, condition=again(condition), yes=again(yes), no=again(no))
        case Lookup(index=at):
            return replace(expr, index=again(at))
        case Fold(iterator=iterator, body=body):
            inner = substituted(body, lambda local: local if local.name == iterator else known(local))
            return replace(expr, body=inner)
