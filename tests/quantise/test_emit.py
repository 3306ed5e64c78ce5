"""The MLIR of networks in int8, by the compiler's own reference, against the graph in NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
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


def test_weights_are_found_again(tmp_path: Path) -> None:
    model = read(FOLDER / "digits_mlp.mlir")
    model.write(tmp_path / "again.mlir")
    again = read(tmp_path / "again.mlir")
    assert again.mlir == model.mlir
    assert list(again.weights) == list(model.weights)
    for name, array in model.weights.items():
        np.testing.assert_array_equal(again.weights[name], array)
