"""Random ONNX models: none is misread in silence, none ends in a crash.

All of them: ``python -m benchmarks random_onnx``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_mlir")
pytest.importorskip("onnxruntime")

from tests.read import random_onnx, referee_onnx

SHARE = tuple(range(0, 4 * len(random_onnx.OPS), 13))
"""Of the numbers of models: other ops in other opsets."""


@pytest.mark.parametrize("way", ["quantised", "imported"])
def test_nothing_wrong_passes(way: str, tmp_path: Path) -> None:
    words = []
    for number in SHARE if way == "quantised" else SHARE[::2]:
        kind, proto = random_onnx.model(number, seed=1)
        path = tmp_path / "net.onnx"
        if referee_onnx.save(proto, path):
            verdict = getattr(referee_onnx, way)(path)
            assert verdict.word not in ("wrong", "crash", "caught"), f"model {number}, {kind}: {verdict}"
            words.append(verdict.word)
    assert words.count("right") > len(words) // 2
