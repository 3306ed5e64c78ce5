"""Gives each local and iterator of an instruction a name of its own: two loops may both have an ``i``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from axiloom.isa.instructions.tree import (
    Expr,
    For,
    If,
    Instruction,
    Lanes,
    Let,
    Requirement,
    SetRegister,
    Statement,
    Write,
)
from axiloom.isa.instructions.walk import substituted


def unique(instruction: Instruction) -> Instruction:
    """The same, with ``i``, ``i_2``, ``i_3`` where a name was bound more than once."""
    taken = {let.name: 1 for let in instruction.fields}
    body, _ = _block(instruction.body, {}, taken)
    return replace(instruction, body=body)


def _new(name: str, taken: dict[str, int]) -> str:
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}_{taken[name]}"


def _block(
    block: Sequence[Statement], names: Mapping[str, str], taken: dict[str, int]
) -> tuple[tuple[Statement, ...], Mapping[str, str]]:
    known, statements = dict(names), []
    for statement in block:
        statements.append(_statement(statement, known, taken))
    return tuple(statements), known


def _statement(statement: Statement, names: dict[str, str], taken: dict[str, int]) -> Statement:
    match statement:
        case Let(name=name, value=value):
            value = renamed(value, names)
            names[name] = _new(name, taken)
            return replace(statement, name=names[name], value=value)
        case SetRegister(value=value):
            return replace(statement, value=renamed(value, names))
        case Write(index=index, value=value):
            return replace(
                statement, index=tuple(renamed(at, names) for at in index), value=renamed(value, names)
            )
        case For(iterator=iterator, low=low, high=high, body=body):
            own = _new(iterator.name, taken)
            inner, _ = _block(body, {**names, iterator.name: own}, taken)
            low, high = renamed(low, names), renamed(high, names)
            return replace(statement, iterator=replace(iterator, name=own), low=low, high=high, body=inner)
        case Lanes(iterators=iterators, body=body):
            own_names = {name: _new(name, taken) for name in iterators}
            inner, _ = _block(body, {**names, **own_names}, taken)
            return replace(
                statement, iterators={own_names[name]: count for name, count in iterators.items()}, body=inner
            )
        case Requirement(condition=condition):
            return replace(statement, condition=renamed(condition, names))
        case If(condition=condition, then=then, other=other):
            yes, _ = _block(then, names, taken)
            no, _ = _block(other, names, taken)
            return replace(statement, condition=renamed(condition, names), then=yes, other=no)


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """The same with other names."""
    return substituted(expr, lambda local: replace(local, name=names.get(local.name, local.name)))
