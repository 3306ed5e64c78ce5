"""The MLIR of the integer graph, by the compiler's own reference, against the graph in NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.quantise import Graph, emit, execute
from axiloom.quantise.emit.places import groups
from axiloom.quantise.graph.graph import (
    Concat,
    Constant,
    Input,
    Linear,
    Node,
    Reshape,
    Shift,
    Slice,
    Transpose,
)
from axiloom.read.context.model import Model
from axiloom.read.mlir.model import read

FOLDER = Path(__file__).parents[1] / "fixtures" / "quantised"


def by_compiler(model: Model, inputs: list[np.ndarray]) -> np.ndarray:  # type: ignore[type-arg]
    function = only_function(parse(model.mlir, model.name), model.name)
    (result,) = evaluate(function, [*inputs, *model.weights.values()])
    return result


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda path: path.stem)
def test_the_compilers_reference_agrees(path: Path) -> None:
    with np.load(path.with_suffix(".npz")) as stored:
        inputs = [stored[name] for name in sorted(stored) if name.startswith("input")]
        output = stored["output0"]
    np.testing.assert_array_equal(by_compiler(read(path), inputs), output)


def test_places_and_constants() -> None:
    rng = np.random.default_rng(2)
    known = rng.integers(-9, 9, (3, 4)).astype(np.int8)
    nodes: list[Node] = [
        Input(name="x", shape=(2, 3, 4), scale=0.5),
        Constant(name="known", shape=(3, 4), data=known),
        Reshape(name="one", shape=(1, 3, 4), inputs=("known",)),
        Concat(name="all", shape=(3, 3, 4), inputs=("x", "one"), axis=0),
        Transpose(name="turned", shape=(4, 3, 3), inputs=("all",), permutation=(2, 0, 1)),
        Slice(name="cut", shape=(2, 3, 2), inputs=("turned",), offsets=(1, 0, 1), strides=(2, 1, 1)),
        Reshape(name="flat", shape=(4, 3), inputs=("cut",)),  # neither an expansion nor a collapse
    ]
    graph = Graph("places", nodes, ["flat"])
    x = rng.integers(-9, 9, (2, 3, 4)).astype(np.int8)
    (want,) = execute(graph, {"x": x}).values()
    whole = np.concatenate([x, known[None]]).transpose(2, 0, 1)
    np.testing.assert_array_equal(want, whole[1:4:2, :, 1:3].reshape(4, 3))
    np.testing.assert_array_equal(by_compiler(emit(graph), [x]), want)


def test_sums_that_are_shifted_alone() -> None:
    rng = np.random.default_rng(5)
    weight, bias = (
        rng.integers(-128, 128, (6, 5)).astype(np.int8),
        rng.integers(-999, 999, 5).astype(np.int32),
    )
    nodes: list[Node] = [
        Input(name="x", shape=(3, 6), scale=0.5),
        Linear(name="sums", shape=(3, 5), inputs=("x",), dtype="int32", weight=weight),
        Shift(name="y", shape=(3, 5), inputs=("sums",), axis=1, bias=bias, shift=7, lo=-128, hi=100),
    ]
    graph = Graph("shifted", nodes, ["y"])
    x = rng.integers(-128, 128, (3, 6)).astype(np.int8)
    (want,) = execute(graph, {"x": x}).values()
    sums = x.astype(np.int32) @ weight.astype(np.int32) + bias
    np.testing.assert_array_equal(want, np.clip(sums >> 7, -128, 100))
    np.testing.assert_array_equal(by_compiler(emit(graph), [x]), want)


@pytest.mark.parametrize(
    ("long", "short", "want"),
    [
        ((2, 3, 4), (6, 4), [[0, 1], [2]]),
        ((1, 8, 1, 1), (1, 8), [[0], [1, 2, 3]]),
        ((2, 3, 4), (3, 8), None),
        ((4, 1), (4,), [[0, 1]]),
        ((2, 2), (1, 4), None),
    ],
)
def test_groups(long: tuple[int, ...], short: tuple[int, ...], want: list[list[int]] | None) -> None:
    assert groups(long, short) == want


def test_weights_are_found_again(tmp_path: Path) -> None:
    model = read(FOLDER / "digits_mlp.mlir")
    model.write(tmp_path / "again.mlir")
    again = read(tmp_path / "again.mlir")
    assert again.mlir == model.mlir
    assert list(again.weights) == list(model.weights)
    for name, array in model.weights.items():
        np.testing.assert_array_equal(again.weights[name], array)
