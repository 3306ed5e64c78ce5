"""Terms to straight-line Python: bit vectors are integers from 0, memories are lists or dicts.

A term is a graph: each node becomes one assignment, shared where the graph shares it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from axiloom.isa.formal.graph import postorder
from axiloom.isa.formal.ila import ModelError, Term


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _signed(value: str, bits: int) -> str:
    return f"(({value}) - ((({value}) >> {bits - 1}) << {bits}))"


def _joined(sign: str) -> Callable[[Term, Sequence[str]], str]:
    return lambda _term, given: sign.join(given)


def _wrapped(sign: str) -> Callable[[Term, Sequence[str]], str]:
    return lambda term, given: f"({sign.join(given)}) & {_mask(term.size())}"


def _compared(sign: str, *, signed: bool = False) -> Callable[[Term, Sequence[str]], str]:
    def text(term: Term, given: Sequence[str]) -> str:
        bits = term.arg(0).size()
        left, right = (_signed(one, bits) for one in given) if signed else given
        return f"{left} {sign} {right}"

    return text


def _concat(term: Term, given: Sequence[str]) -> str:
    at, parts = 0, []
    for child, value in reversed(list(zip(term.children(), given, strict=True))):
        parts.append(f"({value} << {at})")
        at += child.size()
    return " | ".join(parts)


def _extract(term: Term, given: Sequence[str]) -> str:
    high, low = term.params()
    return f"({given[0]} >> {low}) & {_mask(high - low + 1)}"


def _shift_left(term: Term, given: Sequence[str]) -> str:
    bits = term.size()
    return f"({given[0]} << {given[1]}) & {_mask(bits)} if {given[1]} < {bits} else 0"


def _shift_signed(term: Term, given: Sequence[str]) -> str:
    bits = term.size()
    return f"({_signed(given[0], bits)} >> min({given[1]}, {bits})) & {_mask(bits)}"


def _divided(sign: str, by_zero: str) -> Callable[[Term, Sequence[str]], str]:
    def text(term: Term, given: Sequence[str]) -> str:
        a, b = given
        return f"{a} {sign} {b} if {b} else {by_zero.format(ones=_mask(term.size()), a=a)}"

    return text


_RULES: dict[int, Callable[[Term, Sequence[str]], str]] = {
    z3.Z3_OP_BADD: _wrapped(" + "),
    z3.Z3_OP_BSUB: _wrapped(" - "),
    z3.Z3_OP_BMUL: _wrapped(" * "),
    z3.Z3_OP_BNEG: lambda term, given: f"(-{given[0]}) & {_mask(term.size())}",
    z3.Z3_OP_BUDIV: _divided("//", "{ones}"),
    z3.Z3_OP_BUREM: _divided("%", "{a}"),
    z3.Z3_OP_BUDIV_I: _divided("//", "{ones}"),
    z3.Z3_OP_BUREM_I: _divided("%", "{a}"),
    z3.Z3_OP_BAND: _joined(" & "),
    z3.Z3_OP_BOR: _joined(" | "),
    z3.Z3_OP_BXOR: _joined(" ^ "),
    z3.Z3_OP_BNOT: lambda term, given: f"{given[0]} ^ {_mask(term.size())}",
    z3.Z3_OP_BSHL: _shift_left,
    z3.Z3_OP_BLSHR: lambda term, given: f"{given[0]} >> min({given[1]}, {term.size()})",
    z3.Z3_OP_BASHR: _shift_signed,
    z3.Z3_OP_EXTRACT: _extract,
    z3.Z3_OP_CONCAT: _concat,
    z3.Z3_OP_ZERO_EXT: lambda _term, given: given[0],
    z3.Z3_OP_SIGN_EXT: lambda term, given: f"{_signed(given[0], term.arg(0).size())} & {_mask(term.size())}",
    z3.Z3_OP_EQ: lambda _term, given: f"{given[0]} == {given[1]}",
    z3.Z3_OP_DISTINCT: lambda _term, given: f"len({{{', '.join(given)}}}) == {len(given)}",
    z3.Z3_OP_ULEQ: _compared("<="),
    z3.Z3_OP_ULT: _compared("<"),
    z3.Z3_OP_UGEQ: _compared(">="),
    z3.Z3_OP_UGT: _compared(">"),
    z3.Z3_OP_SLEQ: _compared("<=", signed=True),
    z3.Z3_OP_SLT: _compared("<", signed=True),
    z3.Z3_OP_SGEQ: _compared(">=", signed=True),
    z3.Z3_OP_SGT: _compared(">", signed=True),
    z3.Z3_OP_AND: _joined(" and "),
    z3.Z3_OP_OR: _joined(" or "),
    z3.Z3_OP_NOT: lambda _term, given: f"not {given[0]}",
    z3.Z3_OP_IMPLIES: lambda _term, given: f"(not {given[0]}) or {given[1]}",
    z3.Z3_OP_ITE: lambda _term, given: f"{given[1]} if {given[0]} else {given[2]}",
    z3.Z3_OP_SELECT: lambda _term, given: f"{given[0]}[{given[1]}]",
    z3.Z3_OP_STORE: lambda _term, given: f"Stored({', '.join(given)})",
    z3.Z3_OP_CONST_ARRAY: lambda _term, given: f"Memory(default={given[0]})",
}
"""Kind of an application to its text, from those of its arguments. Division by zero: as SMT-LIB has it."""


def lines(terms: Sequence[Term], leaf: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Assignments ``t0 = ...``, and what each of `terms` is then. `leaf`: the text of a constant's name.

    Raises ModelError for an operation that has no text.
    """
    made: list[str] = []
    known: dict[int, str] = {}
    # z3 gives the number of a term that is gone to another one: `terms` keep all of theirs alive.
    for term in postorder(terms):
        children = term.children()
        text = _text(term, [known[child.get_id()] for child in children], leaf)
        if children:
            made.append(f"t{len(made)} = {text}")
            text = f"t{len(made) - 1}"
        known[term.get_id()] = text
    return made, [known[term.get_id()] for term in terms]


def _text(term: Term, given: Sequence[str], leaf: Callable[[str], str]) -> str:
    if z3.is_bv_value(term):
        return str(term.as_long())
    if z3.is_true(term) or z3.is_false(term):
        return str(z3.is_true(term))
    kind = term.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        name = term.decl().name()
        return f"F[{name!r}]({', '.join(given)}) & {_mask(term.size())}" if given else leaf(name)
    if kind not in _RULES:
        raise ModelError(f"{term.decl().name()}: no text in Python")
    return _RULES[kind](term, given)
