"""Models and their simulator, on a unit that takes the maximum of pairs in place."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from axiloom.isa.formal import code, sound
from axiloom.isa.formal.ila import Ila, ModelError
from axiloom.isa.formal.simulate import Simulator

ADDRESS = 4


def pool(*, wrong: bool = False) -> Ila:
    """Commands: 0 write, 1 set the number of pairs, 2 start."""
    m = Ila("pool")
    op, address, data = m.input("op", 2), m.input("address", ADDRESS), m.input("data", 8)
    buffer = m.memory("buffer", ADDRESS, 8)
    pairs, at, busy = m.register("pairs", ADDRESS), m.register("at", ADDRESS), m.register("busy", 1)
    larger = m.function("larger", 8, 8, 8, python=max)
    m.valid = busy == 0
    m.instruction("write", op == 0, {buffer: z3.Store(buffer, address, data)})
    m.instruction("set", op == 1, {pairs: z3.Extract(ADDRESS - 1, 0, data) & 7})
    m.instruction("start", z3.And(op == 2, pairs != 0), {busy: 1, at: 0})
    m.instruction("nothing", z3.Or(op == 3, z3.And(op == 2, pairs == 0)), {})
    run = m.child("run", busy == 1)
    last = at + 1 == pairs
    value = larger(buffer[at * 2], buffer[at * 2 + (2 if wrong else 1)])
    stored = {buffer: z3.Store(buffer, at, value)}
    run.instruction("pair", z3.Not(last), {**stored, at: at + 1})
    run.instruction("end", last, {**stored, busy: 0})
    run.measures = [~at]
    m.invariants["within"] = z3.Implies(busy == 1, z3.ULT(at, pairs))
    m.invariants["few"] = z3.ULE(pairs, 7)
    return m


@given(st.lists(st.integers(0, 255), min_size=14, max_size=14), st.integers(1, 7))
def test_simulator(values: list[int], pairs: int) -> None:
    simulator = Simulator(pool())
    for address, value in enumerate(values):
        assert simulator.command(op=0, address=address, data=value) == ["pool.write"]
    simulator.command(op=1, address=0, data=pairs)
    steps = simulator.command(op=2, address=0, data=0)
    assert steps == ["pool.start", *["pool.run.pair"] * (pairs - 1), "pool.run.end"]
    maxima = [max(values[2 * i], values[2 * i + 1]) for i in range(pairs)]
    # In place: the first results lie over pairs that were read before.
    assert [simulator.state["buffer"][i] for i in range(pairs)] == maxima


def violated(model: Ila) -> list[str]:
    found = []
    for claim in sound.claims(model):
        solver = z3.Solver()
        solver.add(z3.Not(claim.formula))
        if solver.check() == z3.sat:
            found.append(claim.name)
    return found


def test_a_sound_model() -> None:
    assert violated(pool()) == []


def test_what_is_not_sound_is_named() -> None:
    both = pool()
    op = both.inputs["op"]
    both.instruction("again", op == 0, {})
    assert "pool: write, again" in violated(both)

    missing = pool()
    missing.instructions.pop()
    assert violated(missing) == ["pool: complete"]

    endless = pool()
    endless.children[0].measures = [endless.states["at"]]
    assert violated(endless) == ["pool.run.pair: ends"]

    loose = pool()
    loose.invariants["within"] = z3.ULT(loose.states["at"], loose.states["pairs"])
    assert "within: reset" in violated(loose)
    assert "within: pool.set" in violated(loose)


def test_the_wrong_pair_is_seen_by_simulation() -> None:
    simulator = Simulator(pool(wrong=True))
    for address in range(8):
        simulator.command(op=0, address=address, data=[1, 9, 3, 4, 5, 6, 7, 8][address])
    simulator.command(op=1, address=0, data=1)
    simulator.command(op=2, address=0, data=0)
    assert simulator.state["buffer"][0] == 3


def test_refused() -> None:
    m = Ila("m")
    state = m.register("state", 4)
    with pytest.raises(ModelError, match="m: two things are called state"):
        m.input("state", 1)
    with pytest.raises(ModelError, match=r"m\.wide: state is BitVec\(4\), its update BitVec\(5\)"):
        m.instruction("wide", z3.BoolVal(True), {state: z3.BitVecVal(1, 5)})
    other = Ila("other").register("else", 4)
    with pytest.raises(ModelError, match=r"m\.far: else is no state"):
        m.instruction("far", z3.BoolVal(True), {other: 1})


WIDE = st.integers(0, 255)
A, B = z3.BitVecs("a b", 8)
TERMS = [
    *(A + B, A - B, A * B, -A, ~A, A & B, A | B, A ^ B, A << B, A >> B, z3.LShR(A, B)),
    *(z3.UDiv(A, B), z3.URem(A, B), z3.Concat(A, B), z3.Extract(6, 3, A), z3.SignExt(4, A), z3.ZeroExt(4, A)),
    *(z3.If(one, A, B) for one in (A < B, z3.ULT(A, B), z3.And(A <= B, z3.UGE(A, 3)), z3.Not(A == B))),
    *(z3.If(one, A, B) for one in (z3.Or(A > B, z3.UGT(B, 9)), z3.Distinct(A, B))),
    z3.If(z3.Implies(A >= B, z3.ULE(A, B)), A, B),
]


@given(WIDE, WIDE)
def test_terms_are_what_z3_says(a: int, b: int) -> None:
    made, values = code.lines(TERMS, lambda name: name)
    space = {"a": a, "b": b}
    exec("\n".join(made), {}, space)
    for term, value in zip(TERMS, values, strict=True):
        pairs = [(A, z3.BitVecVal(a, 8)), (B, z3.BitVecVal(b, 8))]
        assert eval(value, {}, space) == z3.simplify(z3.substitute(term, *pairs)).as_long(), term
