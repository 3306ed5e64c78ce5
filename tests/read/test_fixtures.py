"""The imported files that the compiler is tested with: they parse, and still say what PyTorch computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.read.mlir.model import read

FOLDER = Path(__file__).parents[1] / "fixtures" / "imported"
FILES = sorted(FOLDER.glob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_parses_and_weights_fit_it(path: Path) -> None:
    model = read(path)
    function = only_function(parse(model.mlir, path.name), path.name)
    with np.load(path.with_suffix(".npz")) as arrays:
        given = [arrays[name].shape for name in arrays if name.startswith("input")]
    shapes = [value.type.get_shape() for value in function.body.block.args]  # type: ignore[attr-defined]
    assert shapes[: len(given)] == given
    assert len(shapes) == len(given) + len(model.weights)
    assert sorted(shapes[len(given) :]) == sorted(array.shape for array in model.weights.values())


def test_all_of_the_modules_are_there() -> None:
    pytest.importorskip("torch")
    from tests.read.modules import CASES, THROUGH_ONNX  # type: ignore[import-not-found,unused-ignore]

    assert [path.stem for path in FILES] == sorted([*CASES, *THROUGH_ONNX])
    assert len(FILES) >= 20


@pytest.mark.every(4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mlir_itself_computes_what_pytorch_did(path: Path) -> None:
    pytest.importorskip("torch_mlir")
    from tests.read import jit

    with np.load(path.with_suffix(".npz")) as stored:
        inputs = [stored[name] for name in sorted(stored) if name.startswith("input")]
        output = stored["output0"]
    got = jit.run(read(path), inputs)
    if output.dtype.kind == "i":
        np.testing.assert_array_equal(got, output)
    else:
        np.testing.assert_allclose(got, output, rtol=1e-4, atol=1e-5)
