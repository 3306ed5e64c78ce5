"""PyTorch to nests of loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.nest.loops import load
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.poly.counting import count
from axiloom.nests.program import Program

MODELS = Path(__file__).parents[2] / "benchmarks" / "streamhls" / "models.py"


def macs(program: Program) -> int:
    """Multiply-adds: instances of statements that read what they write, and multiply."""
    return sum(count(each.iterators, each.domain) for each in program.statements if len(each.iterators) > 3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("residual_block", 14_450_688), ("dws_conv", 1_705_984)])
def test_blocks_of_streamhls(name: str, expected: int) -> None:
    pytest.importorskip("torch_mlir")
    program = load(f"{MODELS}:{name}").program
    assert faults(program) == []
    assert macs(program) == expected


@pytest.mark.slow
def test_results_are_torchs(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_mlir")
    path = tmp_path / "small.py"
    path.write_text(
        MODELS.read_text().replace("channels: int = 16, size: int = 56", "channels: int = 2, size: int = 5")
    )
    loaded = load(f"{path}:residual_block")
    (argument,) = [
        each for each in loaded.program.arrays if each.role.is_given and each.name not in loaded.contents
    ]
    x = np.random.default_rng(0).uniform(-1, 1, argument.shape).astype(np.float32)
    found = interpret(loaded.program, {argument.name: x, **loaded.contents})
    first, second = (torch.from_numpy(loaded.contents[f"{each}_weight"]) for each in ("first", "second"))
    with torch.no_grad():
        inner = torch.relu(torch.nn.functional.conv2d(torch.from_numpy(x), first, padding=1))
        outer = torch.relu(torch.nn.functional.conv2d(inner, second, padding=1) + torch.from_numpy(x))
    np.testing.assert_allclose(found["result"], outer.numpy(), rtol=1e-5, atol=1e-6)
