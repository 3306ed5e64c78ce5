"""Networks with real numbers at their border: ``axiloom.plan`` and ``--input``, ``--output``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import axiloom as ax
from axiloom.base.errors import UsageError
from axiloom.cli import main
from axiloom.run import scales

MLP = Path(__file__).parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir"


def scale_of(what: str) -> float:
    (text,) = re.findall(rf"{what}_scales = \[([^ ]+) : f64\]", MLP.read_text())
    return float(text)


@pytest.mark.slow
def test_floats_go_in_and_come_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = ax.plan(MLP, ax.device("v4_16", dma="simple", stream_width=32))
    shape = tuple(map(int, re.search(r"tensor<([\dx]+)xi8>", MLP.read_text())[1].split("x")))  # type: ignore[index]
    image = np.random.default_rng(1).random(shape, np.float32)
    logits = network(image)
    assert (logits.dtype, logits.shape) == (np.float32, (1, 10))
    assert network.last is not None
    assert network.last.right
    assert (network(image) == logits).all()  # again, though each layer is known
    steps = np.clip(np.rint(image / scale_of("input")), -127, 127).astype(np.int8)
    np.savez(tmp_path / "in.npz", input0=steps)
    command = ["run", str(MLP), "--accel", "v4_16", "--dma", "simple", "--stream-width", "32", "--quiet"]
    out = tmp_path / "out.npz"
    assert main([*command, "--input", str(tmp_path / "in.npz"), "--output", str(out)]) == 0
    capsys.readouterr()
    (written,) = np.load(out).values()
    assert (written == logits).all()
    whole = logits / scale_of("output")
    assert np.allclose(whole, np.rint(whole), atol=1e-3)


@pytest.mark.slow
def test_every_array_that_does_not_fit_is_named() -> None:
    network = ax.plan(MLP, ax.device("v4_16", dma="simple", stream_width=32))
    with pytest.raises(UsageError, match=r"`input0` has shape \(3,\), the network takes"):
        network(np.zeros(3, np.float32))
    with pytest.raises(UsageError, match=r"no array `.*`; it has wrong"):
        network(wrong=np.zeros(3, np.float32))


def test_what_has_no_form_in_integers_is_refused() -> None:
    assert scales.Border(0.05).given(np.array([0.26, -9.0]), "x", (2,), "int8").tolist() == [5, -127]
    with pytest.raises(UsageError, match="values that are no numbers"):
        scales.Border(0.05).given(np.array([np.nan]), "x", (1,), "int8")
    with pytest.raises(UsageError, match=r"`x` is float64 \(1,\), the network takes int32 \(1,\)"):
        scales.Border(0.0).given(np.array([1.5]), "x", (1,), "int32")
    words = scales.Border(0.0).given(np.array([0, 7]), "x", (2,), "int32")
    assert (words.dtype, words.tolist()) == (np.int32, [0, 7])
    with pytest.raises(UsageError, match="values from 0 to 2147483648, the network takes int32"):
        scales.Border(0.0).given(np.array([0, 2**31]), "x", (2,), "int32")
