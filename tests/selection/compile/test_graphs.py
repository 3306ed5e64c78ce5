"""Applications as programs: how many commands, that they are right, and why others are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.accelerators.qkv.attention import attention as by_hand
from tests.graph import graphs as any_graphs
from tests.selection.compile.graphs import attention, product, random_graph, softmax, tile
from tests.selection.compile.machines import NAMES, N, machine

from axiloom.base.errors import CompileError
from axiloom.graph import Graph, Type
from axiloom.graph.ops import Builder
from axiloom.selection.compile.graphs import SECONDS, Compiled, compile_graph, instructions_of
from axiloom.selection.compile.layout import HostMemoryError
from axiloom.selection.egraph.saturated import SaturationError
from axiloom.selection.program.file import read, write
from axiloom.selection.validate import validate

pytest.importorskip("egglog")
pytest.importorskip("ortools")


def compiled(graph: Graph, name: str = "qkv", seconds: float = SECONDS) -> Compiled:
    """Compiled, and validated."""
    target = machine(name)
    made = compile_graph(graph, target, seconds=seconds)
    verdict = validate(made.program, graph, target.isa)
    assert verdict.exact or made.reals
    return made


@pytest.mark.every(3)
@pytest.mark.parametrize(("depth", "commands"), [(1, 9), (2, 16), (8, 58)])
def test_chained_attention(depth: int, commands: int) -> None:
    """As many commands as by hand; nothing is faster, if each value is made once."""
    made = compiled(attention(depth, N), seconds=20.0)
    assert len(made.program.commands) == commands == len(by_hand("qkv", depth).commands)
    assert made.placement.bound == made.cycles
    assert made.cover.bound == made.cover.cost


def test_second_variant_without_an_edit() -> None:
    assert len(compiled(attention(1, N), "qkv_double").program.commands) <= 10


def test_shared_operands_do_not_fit_and_are_loaded_again() -> None:
    """Two attentions with the same K and V: 14 instructions are chosen, and two loads come twice: d1 has
    room for two matrices, and four are wanted."""
    made = compiled(attention(2, N, shared=True), seconds=20.0)
    assert len(instructions_of(made.cover)) == 14
    assert len(made.program.commands) == 16
    assert made.placement.bound == made.cycles


@pytest.mark.slow
def test_softmax_alone_needs_a_product_with_an_identity() -> None:
    """Only the product writes d2: what is the same in real numbers alone is said."""
    builder = Builder()
    x = builder.leaf("parameter", "x", tile(N))
    made = compiled(Graph("softmax", (x,), (softmax(builder, x),)))
    assert made.reals
    assert [one.instruction for one in made.program.commands].count("gemm") == 1
    assert [one.role for one in made.program.arrays].count("constant") == 1


def test_parts_of_rows_are_views() -> None:
    """Halves of one array, and a result of two halves: nothing moves on the host."""
    builder = Builder()
    both = builder.leaf("parameter", "both", Type((2 * N, N), "bfloat16"))
    w = builder.leaf("parameter", "w", tile(N))
    parts = [builder.op("slice", both, start=(at, 0), limit=(at + N, N), strides=(1, 1)) for at in (0, N)]
    result = builder.op("concatenate", *(product(builder, one, w) for one in parts), dimension=0)
    made = compiled(Graph("rows", (both, w), (result,)))
    assert [(one.name, one.role) for one in made.program.arrays] == [
        ("both", "in"),
        ("w", "in"),
        ("y", "out"),
    ]


def test_constants_are_computed_here() -> None:
    builder = Builder()
    x = builder.leaf("parameter", "x", tile(N))
    two = builder.op("splat", shape=(N, N), number="bfloat16", value="2.0")
    turned = builder.op("transpose", builder.op("add", two, two), permutation=(1, 0))
    made = compiled(Graph("constants", (x,), (product(builder, x, turned),)))
    (values,) = made.program.constants.values()
    assert (values == 0x4080).all()


@pytest.mark.slow
def test_the_same_graph_has_the_same_program() -> None:
    first, second = (compile_graph(random_graph(11, N), machine("qkv")).program for _ in range(2))
    assert write(first) == write(second)


def test_a_program_is_a_file(tmp_path: Path) -> None:
    made = compiled(attention(1, N))
    file = tmp_path / "a.program"
    file.write_text(write(made.program))
    assert read(file).commands == made.program.commands


SEEDS = [
    *range(5),
    103,  # an operand has to leave
    197,  # factors in the other order
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 60)),
]


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(name: str, seed: int) -> None:
    compiled(random_graph(seed, N), name)


@pytest.mark.slow
def test_values_are_put_aside_where_memories_are_small() -> None:
    made = [compile_graph(random_graph(seed, N), machine("qkv")) for seed in range(12)]
    assert any(one.placement.refused for one in made)
    for one in made:
        if one.placement.refused:
            assert len(one.program.commands) >= len(instructions_of(one.cover))


@pytest.mark.parametrize("seed", range(20))
def test_other_graphs_are_right_or_refused_by_name(seed: int) -> None:
    graph = any_graphs.random_graph(seed)
    said = ""
    try:
        compiled(graph)
    except (SaturationError, CompileError) as error:
        said = str(error)
    assert not said or "qkv" in said


def test_what_nothing_makes_is_named() -> None:
    builder = Builder()
    x = builder.leaf("parameter", "x", tile(N))
    graph = Graph("tanh", (x,), (builder.op("tanh", x),))
    with pytest.raises(SaturationError, match=r"qkv has nothing that makes tanh\(8x8xbfloat16\)"):
        compile_graph(graph, machine("qkv"))


def test_a_result_that_is_a_parameter_needs_a_copy() -> None:
    builder = Builder()
    x = builder.leaf("parameter", "x", tile(N))
    with pytest.raises(CompileError, match="share bytes"):
        compile_graph(Graph("same", (x,), (x,)), machine("qkv"))


def test_more_bytes_than_the_text_has() -> None:
    target = machine("qkv")
    memories = dict(target.isa.memories)
    memories["d0"] = replace(memories["d0"], shape=(256,))
    small = replace(target, isa=replace(target.isa, memories=memories))
    with pytest.raises(HostMemoryError, match=r"512 bytes in d0, and the text says 256"):
        compile_graph(attention(1, N), small)


def test_rolled_rows_are_named() -> None:
    """Two parts of a parameter the other way around would need a copy."""
    builder = Builder()
    x = builder.leaf("parameter", "x", Type((N, N), "bfloat16"))
    parts = [
        builder.op("slice", x, start=(low, 0), limit=(high, N), strides=(1, 1))
        for low, high in ((2, N), (0, 2))
    ]
    rolled = builder.op("concatenate", *parts, dimension=0, place="line 7")
    with pytest.raises(CompileError, match=r"line 7: concatenate: a value of .* two places"):
        compile_graph(Graph("rolled", (x,), (rolled,)), machine("qkv"))
