# amaranth: UnusedElaboratable=no
"""Rotations: against lists for all amounts and counts; which nodes turn together; a circuit of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Const, Module, Signal, Value
from amaranth.sim import Simulator
from tests.nest.circuits import counter

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Circuit, Memory, Pipe, Place, Read, Storage, Term, Write
from axiloom.hw.nest.rotation import from_banks, to_banks, turns
from axiloom.nest.run import run

X, Y = Affine.name("i"), Affine.name("j")


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("lanes", [1, 2, 99])
def test_there_and_back(count: int, lanes: int) -> None:
    m, by = Module(), Signal(range(count))
    lanes = min(lanes, count)
    values: list[Value | None] = [Signal(4, name=f"v{x}", init=x + 1) for x in range(lanes)]
    there = to_banks(m, "there", [*values, *[None] * (count - lanes)], by)
    banks = [Const(0, 4) if each is None else each for each in there]
    back = from_banks(m, "back", banks, by, range(lanes))
    assert sorted(back) == [*range(lanes)]

    async def drive(ctx: Any) -> None:
        for amount in range(count):
            ctx.set(by, amount)
            await ctx.delay(1e-9)
            for lane in range(lanes):
                assert ctx.get(banks[(lane + amount) % count]) == lane + 1
                assert ctx.get(back[lane]) == lane + 1

    simulator = Simulator(m)
    simulator.add_testbench(drive)
    simulator.run()


def test_what_all_lanes_have_in_common_does_not_turn() -> None:
    m, same = Module(), Signal(8)
    assert to_banks(m, "x", [same] * 5, Signal(3)) == [same] * 5


def circuit(*nodes: Any, banks: int = 6, storage: Storage = Storage.BLOCK) -> Circuit:
    pipe = Pipe("p", (counter("i", 0, 11), counter("j", 0, 5)), 1, 72, nodes)
    return Circuit("c", (pipe,), (Memory("a", 8, banks, 12, storage, external=storage is Storage.BLOCK),))


def read(value: Affine, modulus: int = 6, factor: int = 1, more: int = 0, **changes: Any) -> Read:
    terms = (*([Term(Affine.of(more))] if more else []), Term(value, factor, 1, modulus))
    return Read(**{"memory": "a", "bank": terms, "address": (Term(X),), "when": (), "slot": 0, **changes})


def groups(*nodes: Any, **given: Any) -> list[int | None]:
    made = circuit(*nodes, **given)
    found = turns(made, made.pipes[0])
    return [found[n].group if n in found else None for n in range(len(nodes))]


def test_lanes_that_differ_by_constants_turn_together() -> None:
    assert groups(read(X + Y), read(X + Y + 1), read(7 * X + Y + 3)) == [0, 0, 0]
    assert groups(read(X + Y), read(X + Y * 2 + 1)) == [None, None]
    assert groups(read(X + Y), read(X + Y + 1, slot=1)) == [None, None]
    assert groups(read(X, 3, 2), read(X + 1, 3, 2), read(X, 3, 2, 1), read(X + 1, 3, 2, 1)) == [0, 0, 1, 1]
    assert groups(read(X + Y), read(X + Y + 6)) == [None, None]  # the same bank: nothing turns
    assert groups(read(X + Y), read(X + Y + 1), storage=Storage.REGISTERS) == [None, None]


def test_two_addresses_of_one_bank_need_two_groups() -> None:
    """A second port serves the other ones; those that exclude each other are one group."""
    other: dict[str, Any] = {"address": (Term(Y),)}
    four = [read(X + Y + k) for k in range(2)] + [read(X + Y + k, **other) for k in range(2)]
    assert groups(*four) == [0, 0, 1, 1]
    first, rest = {"when": (-X,)}, {"when": (X - 1,), **other}
    assert groups(
        *(read(X + Y + k, **first) for k in (0, 1)), *(read(X + Y + k, **rest) for k in (0, 1))
    ) == [*(0, 0, 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("banks", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_a_circuit_that_turns(banks: int) -> None:
    """All lanes but one of a row are moved along the diagonals of another array; negative steps too."""

    def place(form: Affine) -> Place:
        return (Term(form + banks * 12, 1, 1, banks),)

    nodes: list[Any] = []
    for lane in range(banks - 1):
        nodes.append(Read("a", place(X - Y + lane), (Term(X),), (Y - lane % 2,), 0))
        nodes.append(Write("b", place(Y - X * 2 - lane), (Term(X),), 2 * lane, (Y - lane % 2,), 1))
    pipe = Pipe("p", (counter("i", 0, 11), counter("j", 0, 4)), 1, 60, tuple(nodes))
    memories = tuple(Memory(name, 8, banks, 12, external=True) for name in "ab")
    made = Circuit("c", (pipe,), memories)
    assert len({each.group for each in turns(made, pipe).values()}) == 2
    a = np.random.default_rng(1).integers(0, 256, (banks, 12), np.uint64)
    b = np.zeros((banks, 12), np.uint64)
    found = run(made, {"a": a, "b": b}).memories["b"]
    for i in range(12):
        for j in range(5):
            for lane in range(banks - 1):
                if j >= lane % 2:
                    b[(j - i * 2 - lane) % banks, i] = a[(i - j + lane) % banks, i]
    np.testing.assert_array_equal(found, b)
