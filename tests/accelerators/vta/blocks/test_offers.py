"""Layers that blocks of commands compute: `offers.py`, `match.py`, `sums.py`, `block.py`; `compile_graph`
with them; and their validation, `by_text.py`, `polynomials.py`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom.accelerators.vta.blocks.block import Block
from axiloom.accelerators.vta.blocks.offers import offers
from axiloom.base.errors import CompileError
from axiloom.cli import main
from axiloom.graph import Graph, Type
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Node
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.library import target, targets
from axiloom.isa.instructions.read import read
from axiloom.read import read as read_graph
from axiloom.selection.compile.cover import Made
from axiloom.selection.compile.graphs import Compiled, compile_graph
from axiloom.selection.compile.target import Target
from axiloom.selection.drive.execute import execute
from axiloom.selection.egraph.saturated import SaturationError
from axiloom.selection.machine.derive import Meanings
from axiloom.selection.program.program import Command, Program
from axiloom.selection.validate import ProgramFaultError, by_text
from axiloom.selection.validate.by_text import compare_polynomials
from axiloom.selection.validate.polynomials import Polynomials

ROOT = Path(__file__).parents[4]
pytest.importorskip("egglog")
pytest.importorskip("ortools")


@cache
def vta() -> Target:
    isa = read(targets()["vta"])
    return Target(isa, Meanings(isa), None, offers(isa))


class Layers:
    """Of one application: its weights are constants."""

    def __init__(self, seed: int = 0) -> None:
        self.b, self.random = Builder(), np.random.default_rng(seed)
        self.parameters: list[Node] = []
        self.constants: dict[str, Any] = {}

    def given(self, name: str, number: str, *shape: int) -> Node:
        self.parameters.append(self.b.leaf("parameter", name, Type(shape, number)))
        return self.parameters[-1]

    def weights(self, *shape: int) -> Node:
        name = f"w{len(self.constants)}"
        self.constants[name] = self.random.integers(-128, 128, shape).astype(np.int8)
        return self.b.leaf("constant", name, Type(shape, "int8"))

    def product(self, x: Node, w: Node, over: int = 0) -> Node:
        contracting = (len(x.type.shape) - 1,)
        return self.b.op(
            "dot_general", x, w, lhs_batch=(), rhs_batch=(), lhs_contracting=contracting,
            rhs_contracting=(over,), number="int32",
        )  # fmt: skip

    def convolution(
        self, x: Node, w: Node, stride: int = 1, pads: int = 1, dims: str = "b01f_01io->b01f"
    ) -> Node:
        return self.b.op(
            "convolution", x, w, dims=dims, strides=(stride, stride), padding=(pads,) * 4,
            lhs_dilation=(1, 1),
            rhs_dilation=(1, 1), feature_group_count=1, number="int32",
        )  # fmt: skip

    def all_(self, like: Node, value: int) -> Node:
        return self.b.op("splat", shape=like.type.shape, number="int32", value=str(value))

    def biased(self, x: Node, bias: Node) -> Node:
        shape = x.type.shape
        return self.b.op(
            "add", x, self.b.op("broadcast_in_dim", bias, shape=shape, dimensions=(len(shape) - 1,))
        )

    def bytes_(self, x: Node, shift: int, low: int, high: int) -> Node:
        x = self.b.op("shift_right_arithmetic", x, self.all_(x, shift))
        return self.byte(self.b.op("clamp", self.all_(x, low), x, self.all_(x, high)))

    def byte(self, x: Node) -> Node:
        return self.b.op("convert", x, number="int8")

    def graph(self, *results: Node) -> Graph:
        return Graph("layers", tuple(self.parameters), results, self.constants)


def compiled(graph: Graph) -> Compiled:
    """Compiled and validated."""
    made = compile_graph(graph, vta())
    by_text(made.program, graph, vta().isa)
    return made


def blocks(made: Compiled) -> list[Block]:
    ways = [way.meaning for way in made.cover.ways.values() if isinstance(way, Made)]
    assert all(isinstance(one, Block) for one in ways)
    return ways  # type: ignore[return-value]


def small_product(seed: int = 0) -> Graph:
    """4 rows, 16 columns, sums of 32."""
    a = Layers(seed)
    x, bias = a.given("x", "int8", 4, 32), a.given("bias", "int32", 16)
    return a.graph(a.bytes_(a.biased(a.product(x, a.weights(32, 16)), bias), 9, -100, 127))


@pytest.mark.slow
def test_a_product_is_proved_for_all_inputs() -> None:
    graph = small_product()
    made = compile_graph(graph, vta())
    verdict = by_text(made.program, graph, vta().isa)
    assert verdict.exact
    assert str(verdict) == "proved equal for all inputs, bit-identical on random ones and at edges"


def test_a_convolution_is_proved_for_all_inputs() -> None:
    a = Layers()
    x = a.given("x", "int8", 1, 3, 3, 16)
    graph = a.graph(a.byte(a.convolution(x, a.weights(3, 3, 16, 16), stride=2)))
    assert by_text(compile_graph(graph, vta()).program, graph, vta().isa).exact


MUTANTS = {
    "no load of weights": lambda c: [one for one in c if one.instruction != "load_wgt"],
    "sums are not cleared": lambda c: [one for one in c if not one.fields.get("reset")],
    "another shift": lambda c: [_with(one, constant=8) if one.fields.get("op") == 3 else one for one in c],
    "no upper end": lambda c: [one for one in c if (one.instruction, one.fields.get("op")) != ("alu", 0)],
    "bias of nobody": lambda c: [
        _with(one, base=one.fields["base"] + 1) if one.instruction == "load_acc" else one for one in c
    ],
    "a row less": lambda c: [_with(one, outer=3) if one.instruction == "gemm" else one for one in c],
}  # fmt: skip


def _with(one: Command, **fields: int) -> Command:
    return replace(one, fields={**one.fields, **fields})


@pytest.mark.slow
def test_the_example_is_proved_for_all_inputs() -> None:
    graph = read_graph(ROOT / "examples/selection/layer.mlir", None)
    assert by_text(compile_graph(graph, vta()).program, graph, vta().isa).exact


@pytest.mark.slow
def test_the_example_on_the_soc(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["run", str(ROOT / "examples/selection/layer.mlir"), "--select", "egraph", "--accel", "vta"])
        == 0
    )
    said = capsys.readouterr().out
    assert "equal to the application, evaluated with NumPy" in said
    assert "Validated: proved equal for all inputs" in said


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_faults_are_found(name: str) -> None:
    graph = small_product()
    made = compile_graph(graph, vta()).program
    mutant = replace(made, commands=tuple(MUTANTS[name](made.commands)))
    with pytest.raises(ProgramFaultError, match=r"y\[\d+, \d+\] is another value"):
        compare_polynomials(mutant, graph, vta().isa)


def test_a_fault_in_a_large_program_is_found_on_numbers() -> None:
    a = Layers()
    graph = a.graph(a.bytes_(a.product(a.given("x", "int8", 64, 64), a.weights(64, 64)), 9, 0, 127))
    made = compile_graph(graph, vta()).program
    assert by_text(made, graph, vta().isa).sampled
    with pytest.raises(ProgramFaultError, match="another number"):
        by_text(replace(made, commands=tuple(MUTANTS["another shift"](made.commands))), graph, vta().isa)


def test_two_layers_follow_each_other() -> None:
    a = Layers()
    x, first, second = a.given("x", "int8", 20, 32), a.given("b0", "int32", 48), a.given("b1", "int32", 16)
    hidden = a.bytes_(a.biased(a.product(x, a.weights(32, 48)), first), 7, 0, 127)
    made = compiled(
        a.graph(a.bytes_(a.biased(a.product(hidden, a.weights(16, 48), 1), second), 8, -128, 127))
    )
    assert len(blocks(made)) == 2
    assert made.program.commands[-1].instruction == "finish"
    assert [one.role for one in made.program.arrays].count("constant") == 4


def test_blocks_are_what_they_say() -> None:
    """Their programs against their values, on numbers."""
    a = Layers()
    x, bias = a.given("x", "int8", 1, 5, 7, 32), a.given("bias", "int32", 16)
    (block,) = blocks(
        compiled(a.graph(a.bytes_(a.biased(a.convolution(x, a.weights(3, 3, 32, 16)), bias), 8, 0, 99)))
    )
    values = {
        name: a.random.integers(-100, 100, one.type.shape).astype(one.type.number)
        for name, one in zip(block.names, block.operands, strict=True)
    }
    given = {str(i): values[name] for i, name in enumerate(block.names)}
    whole = Graph("block", (), (block.value,))
    leaves = tuple(one for one in whole.nodes() if one.op == "parameter")
    (expected,) = evaluate(replace(whole, parameters=leaves), given)
    found = execute(block.own, vta().isa, values)["y"]
    assert np.array_equal(found.reshape(expected.shape), expected)
    assert len(np.unique(found)) > 50


FORMS = (
    "plain",
    "relu before",
    "min of max",
    "wide factors",
    "rows in three dimensions",
    "no clip",
    "no shift",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_layer(form: str) -> None:
    a = Layers()
    x, w = a.given("x", "int8", *((2, 3, 32) if form.startswith("rows") else (6, 32))), a.weights(32, 16)
    if form == "wide factors":
        x, w = (a.b.op("convert", one, number="int32") for one in (x, w))
    y = a.product(x, w)
    if form == "relu before":
        y = a.b.op("maximum", y, a.all_(y, 0))
    if form != "no shift":
        y = a.b.op("shift_right_arithmetic", y, a.all_(y, 7))
    if form == "min of max":
        y = a.b.op("minimum", a.all_(y, 90), a.b.op("maximum", a.all_(y, -90), y))
    elif form != "no clip":
        y = a.b.op("clamp", a.all_(y, -128), y, a.all_(y, 127))
    (block,) = blocks(compiled(a.graph(a.byte(y))))
    alus = [one.fields["constant"] for one in block.commands if one.instruction == "alu"]
    wanted = {"relu before": [7, 127, 0], "min of max": [7, 90, -90], "no clip": [7], "no shift": [127, -128]}
    assert alus == wanted.get(form, [7, 127, -128])


@pytest.mark.slow
def test_what_is_refused() -> None:
    a = Layers()
    x, w = a.given("x", "int8", 6, 32), a.given("w", "int8", 32, 16)
    with pytest.raises(
        SaturationError, match=r"vta has nothing that makes dot_general.*; dot_general: its right factor"
    ):
        compile_graph(a.graph(a.byte(a.product(x, w))), vta())
    a = Layers()
    with pytest.raises(SaturationError, match="; dot_general: 24 channels or columns: blocks have 16"):
        compile_graph(a.graph(a.byte(a.product(a.given("x", "int8", 6, 32), a.weights(32, 24)))), vta())
    a = Layers()
    made = a.convolution(a.given("x", "int8", 1, 16, 4, 4), a.weights(16, 16, 3, 3), dims="bf01_oi01->bf01")
    with pytest.raises(SaturationError, match="; convolution: pictures as bf01_oi01->bf01: channels last"):
        compile_graph(a.graph(a.byte(made)), vta())
    a = Layers()
    with pytest.raises(SaturationError, match="vta has nothing that makes tanh"):
        compile_graph(a.graph(a.b.op("tanh", a.given("x", "float32", 4, 4))), vta())
    assert offers(target("qkv")) is None


def test_polynomials() -> None:
    p = Polynomials()
    x, y = (p.symbol((name,), -128, 127) for name in "xy")
    big = p.symbol(("b",), -(1 << 31), (1 << 31) - 1)

    def wrap(value: Any) -> Any:
        return p.wrapped(value, 32, signed=True)

    assert wrap(x * y + 3) == x * y + 3  # nothing wraps
    assert wrap(wrap(big + x * y) + y) == wrap(y + big + y * x)
    assert wrap(wrap(big + 1) - 1) == big
    assert wrap(big + x) != wrap(big + y)
    assert p.clipped(p.clipped(x, 0, None), None, 100) == p.clipped(p.clipped(x, None, 100), 0, None)
    assert p.clipped(x, -128, 127) == x
    assert p.shifted(p.clipped(x, 0, None), 2) == p.clipped(p.shifted(x, 2), 0, None)
    assert p.shifted(x * 4, 2) != x  # not found, and so never said
    assert p.cat([(p.bits(big, 8 * i, 8), 8) for i in range(4)]) == p.bits(big, 0, 32)
    assert wrap(p.bits(big, 0, 32)) == big


def test_the_same_weights_and_steps_are_there_once() -> None:
    a = Layers()
    x, w = a.given("x", "int8", 4, 16), a.weights(16, 16)
    once = a.bytes_(a.product(x, w), 5, -128, 127)
    made: Program = compiled(a.graph(a.bytes_(a.product(once, w), 5, -128, 127))).program
    assert [one.role for one in made.arrays].count("constant") == 2


def test_an_endless_layer_says_how_much_memory_it_takes() -> None:
    a = Layers()
    with pytest.raises(CompileError, match="give the constant that is its size at least"):
        compile_graph(a.graph(a.byte(a.product(a.given("x", "int8", 40000, 32), a.weights(32, 16)))), vta())


def layer(folder: Path, behind: str) -> Graph:
    """A layer on VTA; `behind` has what is done to %p, its sums, and gives %y."""
    sums = "tensor<4x16xi32>"
    text = f"""module @m {{
  func.func public @main(%x: tensor<4x16xi8>) -> (tensor<4x16xi8>) {{
    %w = stablehlo.constant dense<3> : tensor<16x16xi8>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
        (tensor<4x16xi8>, tensor<16x16xi8>) -> {sums}
    %b = stablehlo.constant dense<{[*range(16)]}> : tensor<16xi32>
    %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xi32>) -> {sums}
    {behind.replace(": S", f": {sums}")}
    %z = stablehlo.convert %y : ({sums}) -> tensor<4x16xi8>
    return %z : tensor<4x16xi8>
  }}
}}"""
    (folder / "layer.mlir").write_text(text, encoding="utf-8")
    return read_graph(folder / "layer.mlir")


def test_biases_one_after_the_other(tmp_path: Path) -> None:
    """They are one: sums wrap. Three are, too."""
    behind = """%q = stablehlo.add %p, %c : S
    %r = stablehlo.add %c, %q : S
    %y = stablehlo.add %r, %c : S"""
    made = compiled(layer(tmp_path, behind))
    assert sum(isinstance(way, Made) for way in made.cover.ways.values()) == 1


@pytest.mark.slow
def test_what_is_not_found_is_named(tmp_path: Path) -> None:
    """The product is what the device makes: what is done behind is not."""
    behind = "%q = stablehlo.add %p, %c : S\n    %y = stablehlo.multiply %q, %q : S"
    with pytest.raises(SaturationError, match=r"line 9: vta has nothing that makes multiply"):
        compiled(layer(tmp_path, behind))
