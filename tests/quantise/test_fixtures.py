"""The quantised networks that the compiler is tested with: what MLIR itself computes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.read.mlir.model import read

FOLDER = Path(__file__).parents[1] / "fixtures" / "quantised"
FILES = sorted(FOLDER.glob("*.mlir"))


def test_they_are_there() -> None:
    assert {"digits_cnn", "digits_mlp", "shapes", "transformer"} <= {path.stem for path in FILES}


@pytest.mark.every(3)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mlir_itself_computes_what_the_integer_graph_did(path: Path) -> None:
    pytest.importorskip("torch_mlir")
    from tests.read import jit

    with np.load(path.with_suffix(".npz")) as stored:
        inputs = [stored[name] for name in sorted(stored) if name.startswith("input")]
        output = stored["output0"]
    np.testing.assert_array_equal(jit.run(read(path), inputs), output)
