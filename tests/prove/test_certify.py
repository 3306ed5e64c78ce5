"""Proofs checked by another solver: it takes what is one, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.prove import certify
from axiloom.prove.aiger import Aiger, Builder

pytestmark = pytest.mark.synth


def ring() -> Aiger:
    """Three registers: a one moves from the first to the second to the third; low if two are one at once."""
    made = Builder(Aiger(0, (), (1,), (), {}))
    begun, first, second = (made.latch() for _ in range(3))
    made.become(begun, 1)
    made.become(first, begun ^ 1)
    made.become(second, first)
    return made.file(made.both(first, second))


NEVER = [((0, False), (1, True)), ((0, False), (2, True)), ((1, True), (2, True))]


def test_an_invariant() -> None:
    assert certify.invariant(ring(), NEVER)


@pytest.mark.parametrize(
    "never",
    [
        [],  # says nothing of the output
        NEVER[2:],  # is not kept by a cycle
        [*NEVER, ((1, True),)],  # says too much
        [*NEVER, ((0, False),)],  # is not so at the start
    ],
)
def test_no_invariant(never: list[certify.Cube]) -> None:
    assert not certify.invariant(ring(), never)


def test_induction() -> None:
    assert not certify.induction(ring())  # it is so, but not from every state
    made = Builder(Aiger(1, (), (2,), (), {"i0": "a"}))
    once, twice = made.latch(), made.latch()
    for latch in (once, twice):
        made.become(latch, made.either(latch, 2))
    assert certify.induction(made.file(made.both(once, twice ^ 1)))
    assert not certify.induction(made.file(once))


def test_what_is_no_proof(tmp_path: Path) -> None:
    file = tmp_path / "x.pla"
    head = "{} for x\n.i 2\n.o 1\n.p 1\n.ilb r0 {}\n.ob inv\n01 1\n"
    file.write_text(head.format("# Inductive invariant", "r5"))
    assert certify.cubes(file) == [((0, False), (5, True))]
    file.write_text(head.format("# Clauses of the last timeframe", "r5"))
    assert certify.cubes(file) is None
    file.write_text(head.format("# Inductive invariant", "dut.level"))
    assert certify.cubes(file) is None
