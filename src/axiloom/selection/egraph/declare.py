"""Rules as egglog's text: it joins patterns and merges classes; conditions and types are computed here.

A value is a class of sort ``T``. ``(V i)`` names the class that was numbered i first; ``id`` is the least
number of a class, ``ty`` the number of its type: it has no merge, so egglog stops where two types meet. All
attributes of a node are one number. ``p_OP`` takes nodes to insert, ``u`` classes to join, ``m_i`` gives the
matches of left side i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from axiloom.selection.rules.rule import Pattern, Rule, Term, Var, terms, variables

HEAD = """(sort T)
(constructor V (i64) T)
(function id (T) i64 :merge (min old new))
(function ty (T) i64 :no-merge)
(relation u (i64 i64))
(relation leaf (i64 i64))
(ruleset insert)
(ruleset match)
(rule ((leaf i t)) ((let v (V i)) (set (id v) i) (set (ty v) t)) :ruleset insert)
(rule ((u i j)) ((union (V i) (V j))) :ruleset insert)"""


@dataclass(frozen=True)
class Left:
    """A left side: where rules that share it find its matches."""

    table: str
    tensors: tuple[str, ...]
    """Names of the columns after the root's."""
    terms: tuple[Term, ...]
    """Then a column of attributes for each."""


def constructor(op: str, arity: int) -> str:
    return f"o_{op}_{arity}"


def of_operation(op: str, arity: int) -> str:
    """Declares an operation of so many operands."""
    name = constructor(op, arity)
    operands = [f"x{i}" for i in range(arity)]
    columns = " ".join(["i64"] * (arity + 3))
    leaves = " ".join(f"(V {operand})" for operand in operands)
    return "\n".join(
        [
            f"(constructor {name} ({' '.join(['T'] * arity)} i64) T)",
            f"(relation p_{name} ({columns}))",
            f"(rule ((p_{name} i t a {' '.join(operands)})) ((let e ({name} {leaves} a)) (let v (V i)) "
            "(union v e) (set (id v) i) (set (ty v) t)) :ruleset insert)",
        ]
    )


def operations(rules: Iterable[Rule]) -> tuple[tuple[str, int], ...]:
    """Operations with their operands that left sides speak of."""
    return tuple(sorted({(term.op, len(term.operands)) for rule in rules for term in terms(rule.old)}))


def of_left(number: int, rule: Rule) -> tuple[Left, str]:
    """Declares the matches of a rule's left side."""
    tensors, inner = variables(rule.old), tuple(terms(rule.old))
    columns = 1 + len(tensors) + len(inner)
    left = Left(f"m_{number}", tensors, inner)
    names: dict[Pattern, str] = {term: f"n{i}" for i, term in enumerate(inner)}
    facts = [f"(= {names[term]} {_call(term, names, i)})" for i, term in enumerate(inner)]
    facts += [f"(= i_{name} (id v_{name}))" for name in tensors]
    facts.append(f"(= root (id {names[rule.old]}))")
    row = " ".join(["root", *(f"i_{name}" for name in tensors), *(f"a{i}" for i in range(len(inner)))])
    return left, "\n".join(
        [
            f"(relation {left.table} ({' '.join(['i64'] * columns)}))",
            f"(rule ({' '.join(facts)}) (({left.table} {row})) :ruleset match)",
        ]
    )


def _call(term: Term, names: dict[Pattern, str], number: int) -> str:
    operands = [
        f"v_{operand.name}" if isinstance(operand, Var) else names[operand] for operand in term.operands
    ]
    return f"({constructor(term.op, len(operands))} {' '.join([*operands, f'a{number}'])})"


def shape_of(rule: Rule) -> tuple[object, ...]:
    """Rules with equal ones have the same matches."""
    number: dict[object, int] = {}

    def walk(pattern: Pattern) -> object:
        if isinstance(pattern, Var):
            return number.setdefault(pattern.name, len(number))
        return (pattern.op, tuple(map(walk, pattern.operands)))

    shared: Sequence[Term] = tuple(terms(rule.old))
    return (walk(rule.old), len(shared))
