"""``axiloom prove mapping``: built-in mappings hold, and what is asked wrongly is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3")

from axiloom.cli import main
from axiloom.isa.instructions import library

SMALL = {
    "flexasr_maxpool": ["T=2", "V=1"],
    "hlscnn_conv": ["OC=1"],
    "vta_maxpool": ["H=1", "W=1"],
    "vta_matmul": ["M=1", "N=1", "K=1"],
}


@pytest.mark.every(6)
@pytest.mark.parametrize("name", SMALL)
def test_it_holds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [word for size in SMALL[name] for word in ("--size", size)]
    assert main(["prove", "mapping", name, *sizes]) == 0
    assert "holds" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", library.mappings())
def test_it_holds_at_its_own_sizes(name: str) -> None:
    assert main(["prove", "mapping", name]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["vta_matmul", "--size", "T=2"], "no size is called T; there are M, K, N"),
        (["vta_matmul", "--size", "M=17"], "M = 17: it is 1 to 16, a multiple of 1"),
        (["vta_matmull"], "did you mean `vta_matmul`?"),
        (["--list", "--size", "M=1"], "--size: --list names the mappings and proves nothing"),
    ],
)
def test_what_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mapping", *words]) != 0
    assert said in capsys.readouterr().err


def test_scratch_is_the_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = library.mappings()["vta_conv"].read_text()
    file = tmp_path / "mine.mapping"
    file.write_text(text.replace("y[i, j, o] = int8(dram", "sums[o] = int8(dram"))
    assert main(["prove", "mapping", str(file)]) != 0
    assert "result writes sums: scratch is kernel's" in capsys.readouterr().err
