"""Operations that commute: a program may take their operands in either order, and no other operation's.
`graphs.py`; `kernels.py`: a product that is added to what is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from axiloom.device.known import derive, known
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.library import target
from axiloom.selection.machine.derive import Meaning, Meanings
from axiloom.selection.program.program import Command, HostArray, Program
from axiloom.selection.validate import ProgramFaultError, validate

N = 8
"""Rows of the element-wise instructions: fewer than in a product."""
TILE = Type((N, 64), "bfloat16")
BASE = {"a": 0, "b": 8192, "c": 16384, "y": 24576}


@cache
def meanings() -> Meanings:
    found = known(target("rows64"))
    derive(found, [N, 64])
    return found


def program(name: str, rows: int, commands: Sequence[tuple[str, dict[str, int]]], given: str) -> Program:
    arrays = [
        HostArray(one, "out" if one == "y" else "in", (rows, 64), TILE.number, BASE[one], "d0")
        for one in (*given, "y")
    ]
    return Program("rows64", name, tuple(Command(*one) for one in commands), tuple(arrays), {})


def load(memory: int, rows: int, array: str, out: int = 0) -> tuple[str, dict[str, int]]:
    return f"load_{memory}", {"n": rows, "out": out, "base": BASE[array]}


def graph(op: str) -> Graph:
    builder = Builder()
    a, b = (builder.leaf("parameter", name, TILE) for name in "ab")
    return Graph(op, (a, b), (builder.op(op, a, b),))


def binary(op: str, first: str, second: str) -> Program:
    """`first` in d2, `second` in d1."""
    commands = [
        load(2, N, first),
        load(1, N, second),
        (f"{op.replace('_', '')}_rows", {"n": N, "row": 0, "other": 0}),
        ("store_2", {"n": N, "row": 0, "base": BASE["y"]}),
    ]
    return program(op, N, commands, "ab")


@pytest.mark.slow
@pytest.mark.parametrize("op", ["add", "multiply", "maximum"])
def test_either_order(op: str) -> None:
    for order in (("a", "b"), ("b", "a")):
        assert validate(binary(op, *order), graph(op), target("rows64")).exact


@pytest.mark.slow
def test_one_order_alone() -> None:
    assert validate(binary("subtract", "a", "b"), graph("subtract"), target("rows64")).exact
    for of, other in (
        (graph("subtract"), binary("subtract", "b", "a")),
        (graph("add"), binary("add", "a", "a")),
    ):
        with pytest.raises(ProgramFaultError, match=r"y\[0, 0\] is another value than in the application"):
            validate(other, of, target("rows64"))


def added(builder: Builder, left: str, right: str) -> Graph:
    """c + left . right"""
    named = {name: builder.leaf("parameter", name, Type((64, 64), TILE.number)) for name in "abc"}
    given: dict[str, Any] = {
        "lhs_batch": (),
        "rhs_batch": (),
        "lhs_contracting": (1,),
        "rhs_contracting": (0,),
    }
    product: Node = builder.op("dot_general", named[left], named[right], number=TILE.number, **given)
    return Graph("added", tuple(named.values()), (builder.op("add", product, named["c"]),))


@pytest.mark.slow
def test_a_product_that_is_added() -> None:
    kernels = {one.instruction: one.kernel for one in meanings().found.values() if isinstance(one, Meaning)}
    assert (kernels["gemm"], kernels["gemm_add"]) == ("product", "product added to")
    commands = [
        load(1, 64, "a"),
        load(1, 64, "b", 64),
        load(2, 64, "c", 64),
        ("gemm_add", {"a": 0, "b": 64, "out": 64}),
        ("store_2", {"n": 64, "row": 64, "base": BASE["y"]}),
    ]
    right = program("added", 64, commands, "abc")
    assert validate(right, added(Builder(), "a", "b"), target("rows64")).exact
    with pytest.raises(ProgramFaultError, match="is another value than in the application"):
        validate(right, added(Builder(), "b", "a"), target("rows64"))
    alone = dataclasses.replace(
        right,
        commands=tuple(
            Command("gemm", one.fields) if one.instruction == "gemm_add" else one for one in right.commands
        ),
    )
    with pytest.raises(ProgramFaultError, match="is another value than in the application"):
        validate(alone, added(Builder(), "a", "b"), target("rows64"))
