"""Values of z3's terms on arrays of inputs: an array a node. It shares nothing with isa/formal/code.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.values import Terms, Value
from axiloom.isa.instructions.tree import Function

Array = npt.NDArray[Any]
U = np.uint64
BLOCK = 1 << 14
"""Inputs at once: what a cache holds."""


def function_term(function: Function) -> z3.BitVecRef:
    """A function of a text as a term of its parameters."""
    known = {name: Value(z3.BitVec(name, kind.bits), kind) for name, kind in function.parameters.items()}
    terms = Terms(Ila(function.name), {}, {}, known, lambda *_: None)
    for let in function.lets:
        terms.locals[let.name] = terms.value(let.value)
    assert function.value is not None
    term: z3.BitVecRef = z3.simplify(terms.value(function.value).wide(function.result.bits))
    return term


def evaluate(term: z3.BitVecRef, *, signed: bool, **inputs: Array) -> Array:
    """The term on inputs, integers with or without sign."""
    nodes = [(node, [child.get_id() for child in node.children()]) for node in _postorder(term)]
    given = np.broadcast_arrays(*(np.atleast_1d(one) for one in inputs.values()))
    made = []
    for begin in range(0, len(given[0]), BLOCK):
        part = {name: one[begin : begin + BLOCK] for name, one in zip(inputs, given, strict=True)}
        known: dict[int, Array] = {}
        for node, children in nodes:
            known[node.get_id()] = _node(node, [known[child] for child in children], part)
        found = known[term.get_id()]
        found = as_signed(found, term.size()) if signed else found.astype(np.int64)
        made.append(np.broadcast_to(found, part[next(iter(part))].shape))
    return np.concatenate(made)


def _postorder(term: z3.BitVecRef) -> list[Any]:
    """Every node once, children first. z3's numbers are of living terms: the list keeps them."""
    found: dict[int, Any] = {}
    stack: list[tuple[Any, bool]] = [(term, False)]
    while stack:
        one, ready = stack.pop()
        if one.get_id() in found:
            continue
        if ready:
            found[one.get_id()] = one
        else:
            stack += [(one, True), *((child, False) for child in one.children())]
    return [*found.values()]


def as_signed(x: Array, bits: int) -> Array:
    return (x << U(64 - bits)).view(np.int64) >> (64 - bits)


def _low(x: Array, bits: int) -> Array:
    return x & U((1 << bits) - 1)


def _node(term: Any, given: list[Array], inputs: Mapping[str, Array]) -> Array:
    if z3.is_bv_value(term):
        return np.array([term.as_long()], U)
    if z3.is_true(term) or z3.is_false(term):
        return np.array([z3.is_true(term)])
    if z3.is_const(term):
        assert term.size() <= 64
        return _low(np.atleast_1d(np.asarray(inputs[term.decl().name()], np.int64)).view(U), term.size())
    bits = term.size() if z3.is_bv(term) else 0
    if bits > 64 or any(z3.is_bv(child) and child.size() > 64 for child in term.children()):
        raise AssertionError(f"{bits} bits: {term.decl()}")
    made = _RULES[term.decl().kind()](term, *given)
    return _low(made, bits) if bits else made


def _all(rule: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def made(_term: Any, first: Array, *more: Array) -> Array:
        for one in more:
            first = rule(first, one)
        return first

    return made


def _on_signed(rule: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def made(term: Any, a: Array, b: Array) -> Array:
        bits = term.arg(0).size()
        return rule(as_signed(a, bits), as_signed(b, bits))

    return made


def _shifted(rule: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """NumPy shifts by up to 63; further away nothing is left."""

    def made(_term: Any, a: Array, by: Array) -> Array:
        return np.where(by < U(64), rule(a, np.minimum(by, U(63))), U(0))

    return made


def _arithmetic(term: Any, a: Array, by: Array) -> Array:
    return (as_signed(a, term.size()) >> np.minimum(by, U(63)).astype(np.int64)).view(U)


def _joined(term: Any, *parts: Array) -> Array:
    made, bits = np.array([0], U), 0
    for child, part in zip(reversed(term.children()), reversed(parts), strict=True):
        made, bits = made | part << U(bits), bits + child.size()
    return made


def _over(a: Array, b: Array) -> Array:
    ones = U((1 << 64) - 1)
    return np.where(b == 0, ones, a // np.maximum(b, U(1)))


_RULES: Mapping[int, Callable[..., Array]] = {
    z3.Z3_OP_BADD: _all(np.add),
    z3.Z3_OP_BSUB: _all(np.subtract),
    z3.Z3_OP_BMUL: _all(np.multiply),
    z3.Z3_OP_BNEG: lambda _t, a: U(0) - a,
    z3.Z3_OP_BNOT: lambda _t, a: ~a,
    z3.Z3_OP_BAND: _all(np.bitwise_and),
    z3.Z3_OP_BOR: _all(np.bitwise_or),
    z3.Z3_OP_BXOR: _all(np.bitwise_xor),
    z3.Z3_OP_BUDIV: lambda _t, a, b: _over(a, b),
    z3.Z3_OP_BUDIV_I: lambda _t, a, b: _over(a, b),
    z3.Z3_OP_BSHL: _shifted(np.left_shift),
    z3.Z3_OP_BLSHR: _shifted(np.right_shift),
    z3.Z3_OP_BASHR: _arithmetic,
    z3.Z3_OP_EXTRACT: lambda t, a: a >> U(t.params()[1]),
    z3.Z3_OP_CONCAT: _joined,
    z3.Z3_OP_ZERO_EXT: lambda _t, a: a,
    z3.Z3_OP_SIGN_EXT: lambda t, a: as_signed(a, t.arg(0).size()).view(U),
    z3.Z3_OP_EQ: lambda _t, a, b: a == b,
    z3.Z3_OP_ULEQ: lambda _t, a, b: a <= b,
    z3.Z3_OP_ULT: lambda _t, a, b: a < b,
    z3.Z3_OP_SLEQ: _on_signed(np.less_equal),
    z3.Z3_OP_SLT: _on_signed(np.less),
    z3.Z3_OP_SGEQ: _on_signed(np.greater_equal),
    z3.Z3_OP_SGT: _on_signed(np.greater),
    z3.Z3_OP_AND: _all(np.logical_and),
    z3.Z3_OP_OR: _all(np.logical_or),
    z3.Z3_OP_NOT: lambda _t, a: ~a,
    z3.Z3_OP_ITE: lambda _t, c, a, b: np.where(c, a, b),
}
