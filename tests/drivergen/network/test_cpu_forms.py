"""Layers of the CPU by hand: which functions they are taken for, and that their C is NumPy's in every bit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.drivergen import network_host

from axiloom import isa
from axiloom.base.errors import MismatchError
from axiloom.cosim.system import System
from axiloom.drivergen.network import compile_network, cpu
from axiloom.drivergen.network.compile import NetworkDriver
from axiloom.graph import Attribute, Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.graph.write import linalg
from axiloom.read.context.model import Model
from axiloom.run.network import Network, NetworkRun

BOARDS = ("pynq-z2", "zcu104", "nexys-video-rv32")
RNG = np.random.default_rng(5)
EXP = np.round(16384 * np.exp(-np.arange(256) / 32)).astype(np.int32)
BY_HAND = "axiloom_layers.h"
WORDS = 40
"""Rows of the table of words."""


class Layers:
    """A graph with an input and layers behind each other."""

    def __init__(self, shape: tuple[int, ...], number: str = "int8") -> None:
        self.builder = Builder(unify=False)
        self.constants: dict[str, np.ndarray] = {}
        self.parameters: list[Node] = []
        self.last = self.parameter("x", shape, number)

    def parameter(self, name: str, shape: tuple[int, ...], number: str = "int8") -> Node:
        self.parameters.append(self.builder.leaf("parameter", name, Type(shape, number), name))
        return self.parameters[-1]

    def weight(self, name: str, array: np.ndarray) -> Node:
        self.constants[name] = array
        return self.builder.leaf("constant", name, Type(array.shape, str(array.dtype)), name)

    def add(self, op: str, place: str, *others: Node, **attributes: Attribute) -> Graph:
        self.last = self.builder.op(op, self.last, *others, place=place, **attributes)
        return Graph("forms", tuple(self.parameters), (self.last,), self.constants)


def model_of(graph: Graph) -> Model:
    written = linalg(graph)
    return Model("forms", written.mlir, written.weights)


def add(
    shape: tuple[int, ...], first: int, second: int, shift: int, low: int = -128, high: int = 127
) -> Graph:
    layers = Layers(shape)
    y = layers.parameter("y", shape)
    return layers.add("add_scaled", "sum", y, first=first, second=second, shift=shift, low=low, high=high)


def pool(
    size: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Graph:
    (rows, columns), edges = padding, (0, 0, 0, 0)
    return Layers((1, 3, *size)).add(
        "reduce_window", "pool", kind="max", window=(1, 1, *kernel), strides=(1, 1, *stride),
        padding=(*edges, rows, rows, columns, columns), dilation=(1, 1, 1, 1),
    )  # fmt: skip


def rows(shape: tuple[int, ...]) -> Graph:
    """A table, a layer norm and a softmax behind each other."""
    n, layers = shape[-1], Layers(shape)
    values = RNG.permuted(np.arange(-128, 128)).astype(np.int8)
    layers.add("lookup", "table", layers.weight("values", values))
    gain, offset = (
        layers.weight(name, RNG.integers(-most, most, n).astype(np.int32))
        for name, most in (("gain", 30000), ("offset", 1 << 22))
    )
    layers.add("layer_norm_int8", "norm", gain, offset, epsilon="0.25", shift=20)
    return layers.add("softmax_int8", "soft", layers.weight("exp", EXP), numerator=127 << 16, shift=16)


def transposed(shape: tuple[int, ...], permutation: tuple[int, ...]) -> Graph:
    return Layers(shape).add("transpose", "moved", permutation=permutation)


def words(batch: int, length: int, width: int) -> Graph:
    """Rows of a table of words, each with its position."""
    layers = Layers((batch, length), "int32")
    table, places = (
        layers.weight(name, RNG.integers(-128, 128, (size, width)).astype(np.int8))
        for name, size in (("words", WORDS), ("places", length))
    )
    layers.add("embedding", "word", table)
    return layers.add("add_scaled", "sum", places, first=35051, second=59076, shift=16, low=-128, high=127)


GRAPHS = {
    "add": add((1, 3, 7, 11), 48290, 42429, 16, low=0),
    "add, even and small": add((67,), 2, 65534, 9),
    "add, largest": add((40,), 65535, 65535, 16, -100, 100),
    "pool 3x3, 2, padded": pool((35, 37), (3, 3), (2, 2), (1, 1)),
    "pool 2x2, 2": pool((8, 66), (2, 2), (2, 2), (0, 0)),
    "pool 5x3, 1, padded": pool((9, 33), (5, 3), (1, 1), (2, 1)),
    "pool 2x4, 3": pool((11, 23), (2, 4), (3, 3), (0, 2)),
    "rows of 27": rows((2, 3, 27)),
    "rows of 64": rows((5, 64)),
    "columns of 43": transposed((2, 43, 2, 37), (0, 2, 3, 1)),
    "a matrix": transposed((16, 24), (1, 0)),
    "words": words(2, 5, 37),
}


def driver_of(model: Model) -> NetworkDriver:
    return compile_network(model.mlir, None, model.weights)


def inputs(driver: NetworkDriver) -> list[np.ndarray]:
    """Random; numbers of words are rows of their table."""
    found = network_host.random_inputs([arg for arg in driver.args if arg.kind == "in"])
    return [one % WORDS if one.dtype == np.int32 else one for one in found]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", GRAPHS)
def test_each_is_taken_and_equal_in_plain_c(name: str) -> None:
    model = model_of(GRAPHS[name])
    driver = driver_of(model)
    assert "cpu.c" not in driver.sources, "some of it became loops"
    assert any(BY_HAND in text for text in driver.sources.values())
    network_host.check(model, None, inputs(driver))


def run_of(model: Model, board: str) -> NetworkRun:
    return NetworkRun(
        Network("forms", model.mlir, model.weights), System(isa.builtin("v4_16", data_type="int8"), board)
    )


def everything() -> Graph:
    """Most of the above in one network, as a program for a simulated CPU takes a second to compile."""
    layers = Layers((1,))
    results, layers.parameters = [], []
    for number, graph in enumerate(GRAPHS.values()):
        copies: dict[int, Node] = {}
        for node in graph.nodes():
            name, place = f"{node.attributes.get('name')}{number}", f"{node.place}{number}"
            if node.op == "parameter":
                copies[id(node)] = layers.parameter(name, node.type.shape, node.type.number)
            elif node.op == "constant":
                copies[id(node)] = layers.weight(name, graph.constant(node))
            else:
                operands = [copies[id(operand)] for operand in node.operands]
                copies[id(node)] = layers.builder.op(node.op, *operands, place=place, **node.attributes)
        results += [copies[id(result)] for result in graph.results]
    return Graph("forms", tuple(layers.parameters), tuple(results), layers.constants)


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
def test_equal_on_the_simulated_cpus(board: str) -> None:
    alone = run_of(model_of(everything()), board).on_cpu("loops", None)
    assert alone["result"]["matches"]


def test_a_wrong_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum with another multiplier."""
    right = cpu.add.FORM.statements

    def wrong(made):  # type: ignore[no-untyped-def]
        lines = right(made)
        return lines and [line.replace("42429", "40429") for line in lines]

    monkeypatch.setattr(cpu, "FORMS", (cpu.Form("a wrong sum", wrong),))
    with pytest.raises(MismatchError):
        run_of(model_of(GRAPHS["add"]), BOARDS[0]).on_cpu("loops", None)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(add((40,), 65535, 65535, 8), id="sums that 16 bits do not hold"),
        pytest.param(add((40,), 1, 1, 17), id="a shift that the vectors have not"),
        pytest.param(add((40,), -3, 5, 4), id="a negative multiplier"),
    ],
)
def test_others_become_loops(model: Graph) -> None:
    made = model_of(model)
    driver = driver_of(made)
    assert not any(BY_HAND in text for text in driver.sources.values())
    network_host.check(made, None, inputs(driver))


def changed(old: str, new: str, name: str) -> Model:
    model = model_of(GRAPHS[name])
    assert old in model.mlir
    return Model(model.name, model.mlir.replace(old, new), model.weights)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        pytest.param("8192", "8191", "rows of 64", id="layer norm that rounds in another way"),
        pytest.param(
            "arith.constant 127 : i32", "arith.constant 126 : i32", "rows of 64", id="another bound"
        ),
        pytest.param("-128 : i8", "-127 : i8", "pool 3x3, 2, padded", id="padding that is not the lowest"),
    ],
)
def test_what_looks_alike_is_computed_as_it_says(old: str, new: str, name: str) -> None:
    model = changed(old, new, name)
    driver = driver_of(model)
    assert "cpu.c" in driver.sources
    network_host.check(model, None, inputs(driver))
