"""Expressions on small rows64: one program against one call an operator, on RTL, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from tests.accelerators.qkv.rtl.device_bench import small, text_of

from axiloom.device.programs import Executed, execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.read import parse
from axiloom.selection.compile.graphs import compile_graph
from axiloom.selection.compile.target import Target
from axiloom.selection.machine.derive import meanings_of
from axiloom.selection.validate import validate

pytestmark = pytest.mark.slow

N = 16
TILE = Type((N, N), "bfloat16")


@cache
def rtl() -> DeviceRtl:
    return device(parse(small(text_of("rows64"), N), "rows64.isa", "rows64"), 4, rows=4)


class Expression:
    """A graph, by Python's operators."""

    def __init__(self, builder: Builder, node: Node) -> None:
        self.builder, self.node = builder, node

    def __add__(self, other: Expression) -> Expression:
        return Expression(self.builder, self.builder.op("add", self.node, other.node))

    def __matmul__(self, other: Expression) -> Expression:
        return Expression(self.builder, self.builder.op(
            "dot_general", self.node, other.node, lhs_batch=(), rhs_batch=(), lhs_contracting=(1,),
            rhs_contracting=(0,), number=TILE.number,
        ))  # fmt: skip


def executed(
    names: str, made: Callable[..., Expression], values: dict[str, np.ndarray]
) -> tuple[list[str], Executed]:
    builder = Builder()
    leaves = [builder.leaf("parameter", name, TILE) for name in names]
    graph = Graph("composite", tuple(leaves), (made(*(Expression(builder, one) for one in leaves)).node,))
    meanings = meanings_of(rtl().isa)
    program = compile_graph(graph, Target(rtl().isa, meanings)).program
    assert validate(program, graph, rtl().isa).exact
    found = execute(rtl(), program, {name: values[name] for name in names})
    assert found.cycles == found.foretold
    return [one.instruction for one in program.commands], found


@cache
def given() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(1)
    return {name: number(TILE.number).encode(dice.standard_normal(TILE.shape)) for name in "abcd"}


def test_a_sum_of_products() -> None:
    names, whole = executed("abcd", lambda a, b, c, d: a @ b + c @ d, given())
    assert sorted(names) == sorted([*["load_1"] * 4, "gemm", "gemm_add", "store_2"])
    values = dict(given())
    moved = 0
    for operands, result, made in (
        ("ab", "x", Expression.__matmul__),
        ("cd", "z", Expression.__matmul__),
        ("xz", "y", Expression.__add__),
    ):
        _, one = executed(operands, made, values)
        values[result] = one.results["y"]
        moved += one.bytes_in + one.bytes_out
    assert np.array_equal(whole.results["y"], values["y"])
    assert whole.bytes_in + whole.bytes_out < 0.6 * moved


def test_a_sum_stays_where_it_is_added_up() -> None:
    names, whole = executed("abc", lambda a, b, c: a + b + c, given())
    assert len(names) == 6
    decode, encode = number(TILE.number).decode, number(TILE.number).encode
    a, b, c = (decode(given()[name]) for name in "abc")
    expected = encode(decode(encode(a + b)) + c)
    assert np.array_equal(whole.results["y"], expected)
