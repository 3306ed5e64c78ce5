"""``axiloom quantize`` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main
from axiloom.read.mlir.model import read as read_model

pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

MODEL = """
import torch

def build():
    torch.manual_seed(1)
    layers = torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)
    return torch.nn.Sequential(*layers), torch.ones(2, 6)

def calibration():
    torch.manual_seed(2)
    return [(torch.randn(2, 6),) for _ in range(5)]
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(MODEL)
    return path


@pytest.mark.every(3)
@pytest.mark.parametrize("command", ["quantize", "quantise"])
def test_files_and_table(
    model: Path, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.mlir"
    words = [command, f"{model}:build", "--calibration", f"{model}:calibration", "-o", str(target)]
    assert main(words) == 0
    out = capsys.readouterr().out
    for part in ("ranges over 5 samples, errors over 4", "requantise", "SQNR", "against float: cosine 0.999"):
        assert part in out
    made = read_model(target)
    assert "@out(" in made.mlir
    assert {str(array.dtype) for array in made.weights.values()} == {"int8", "int32"}
    (scale,) = (float(part.split(" :")[0]) for part in made.mlir.split("input_scales = [")[1:])
    import torch

    torch.manual_seed(2)
    largest = max(float(torch.randn(2, 6).abs().max()) for _ in range(5))
    assert 0.5 <= scale * 127 / largest <= 1 + 1e-6


def test_the_same_seed_gives_the_same_files(model: Path, tmp_path: Path) -> None:
    for seed, name in ((3, "one"), (3, "two"), (4, "other")):
        words = ["quantize", f"{model}:build", "--calibration", "4-random", "--seed", str(seed)]
        (tmp_path / name).mkdir()
        assert main([*words, "-o", str(tmp_path / name / "net.mlir")]) == 0
    texts = [(tmp_path / name / "net.mlir").read_bytes() for name in ("one", "two", "other")]
    assert texts[0] == texts[1] != texts[2]
    assert (tmp_path / "one" / "net.npz").read_bytes() == (tmp_path / "two" / "net.npz").read_bytes()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["MODEL:build", "--calibration", "16"], "expected is FILE.npz that exists"),
        (
            ["MODEL:build", "--calibration", "4-random", "-o", "net.txt"],
            "expected is a name that ends in .mlir",
        ),
        (["MODEL:none", "--calibration", "4-random"], "no such function; there are build, calibration"),
        (["net.mlir", "--calibration", "4-random"], "expected is model.py:build (torch) or model.onnx"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    model: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quantize", *(word.replace("MODEL", str(model)) for word in words)]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
