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
from axiloom.quantise.emit import emit
from axiloom.quantise.graph.graph import (
    Add,
    Constant,
    Embedding,
    Graph,
    Input,
    LayerNorm,
    MaxPool,
    Node,
    Softmax,
    Table,
    Transpose,
)
from axiloom.read.context.model import Model
from axiloom.run.network import Network, NetworkRun

BOARDS = ("pynq-z2", "zcu104", "nexys-video-rv32")
RNG = np.random.default_rng(5)
EXP = np.round(16384 * np.exp(-np.arange(256) / 32)).astype(np.int32)
BY_HAND = "axiloom_layers.h"
WORDS = 40
"""Rows of the table of words."""


def graph(*nodes: Node) -> Graph:
    """All nodes that nobody reads are results."""
    read = {name for node in nodes for name in node.inputs}
    return Graph("forms", list(nodes), [node.name for node in nodes if node.name not in read])


def image(shape: tuple[int, ...]) -> Input:
    return Input(name="x", shape=shape)


def add(shape: tuple[int, ...], first: int, second: int, shift: int, lo: int = -128, hi: int = 127) -> Graph:
    y = Input(name="y", shape=shape)
    one = Add(
        name="sum", inputs=("x", "y"), shape=shape, first=first, second=second, shift=shift, lo=lo, hi=hi
    )
    return graph(image(shape), y, one)


def pool(
    size: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Graph:
    out = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(size, kernel, stride, padding, strict=True)]
    one = MaxPool(
        name="pool", inputs=("x",), shape=(1, 3, *out), kernel=kernel, stride=stride, padding=padding
    )
    return graph(image((1, 3, *size)), one)


def rows(shape: tuple[int, ...]) -> Graph:
    """A table, a layer norm and a softmax behind each other."""
    n = shape[-1]
    table = Table(
        name="table", inputs=("x",), shape=shape, table=RNG.permuted(np.arange(-128, 128)).astype(np.int8)
    )
    norm = LayerNorm(
        name="norm",
        inputs=("table",),
        shape=shape,
        epsilon=0.25,
        gain=RNG.integers(-30000, 30000, n).astype(np.int32),
        offset=RNG.integers(-(1 << 22), 1 << 22, n).astype(np.int32),
        shift=20,
    )
    soft = Softmax(name="soft", inputs=("norm",), shape=shape, table=EXP, numerator=127 << 16, shift=16)
    return graph(image(shape), table, norm, soft)


def transposed(shape: tuple[int, ...], permutation: tuple[int, ...]) -> Graph:
    result = tuple(shape[dim] for dim in permutation)
    return graph(image(shape), Transpose(name="moved", inputs=("x",), shape=result, permutation=permutation))


def words(batch: int, length: int, width: int) -> Graph:
    """Rows of a table of words, each with its position."""
    shape = (batch, length, width)
    numbers = Input(name="x", shape=(batch, length), dtype="int32")
    table = RNG.integers(-128, 128, (WORDS, width)).astype(np.int8)
    places = RNG.integers(-128, 128, (length, width)).astype(np.int8)
    return graph(
        numbers,
        Embedding(name="word", inputs=("x",), shape=shape, table=table),
        Constant(name="place", shape=places.shape, data=places),
        Add(name="sum", inputs=("word", "place"), shape=shape, first=35051, second=59076, shift=16),
    )


GRAPHS = {
    "add": add((1, 3, 7, 11), 48290, 42429, 16, lo=0),
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
    model = emit(GRAPHS[name])
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
    nodes: list[Node] = []
    outputs: list[str] = []
    for number, one in enumerate(GRAPHS.values()):
        new = {node.name: f"{node.name}{number}" for node in one.nodes}
        for node in one.nodes:
            fields = {**vars(node), "name": new[node.name], "inputs": tuple(new[i] for i in node.inputs)}
            nodes.append(type(node)(**{k: v for k, v in fields.items() if not k.startswith("_")}))
        outputs += [new[o] for o in one.outputs]
    return Graph("forms", nodes, outputs)


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
def test_equal_on_the_simulated_cpus(board: str) -> None:
    alone = run_of(emit(everything()), board).on_cpu("loops", None)
    assert alone["result"]["matches"]


def test_a_wrong_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum with another multiplier."""
    right = cpu.add.FORM.statements

    def wrong(made):  # type: ignore[no-untyped-def]
        lines = right(made)
        return lines and [line.replace("42429", "40429") for line in lines]

    monkeypatch.setattr(cpu, "FORMS", (cpu.Form("a wrong sum", wrong),))
    with pytest.raises(MismatchError):
        run_of(emit(GRAPHS["add"]), BOARDS[0]).on_cpu("loops", None)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(add((40,), 65535, 65535, 8), id="sums that 16 bits do not hold"),
        pytest.param(add((40,), 1, 1, 17), id="a shift that the vectors have not"),
        pytest.param(add((40,), -3, 5, 4), id="a negative multiplier"),
    ],
)
def test_others_become_loops(model: Graph) -> None:
    made = emit(model)
    driver = driver_of(made)
    assert not any(BY_HAND in text for text in driver.sources.values())
    network_host.check(made, None, inputs(driver))


def changed(old: str, new: str, name: str) -> Model:
    model = emit(GRAPHS[name])
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
