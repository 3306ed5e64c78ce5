"""``axiloom nest``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.polybench import sizes
from tests.cli.commands import main

GEMM = str(sizes.source("gemm"))
PYTHON = """
from axiloom.nests.program.builder import Builder

def fill(n=4):
    p = Builder("fill")
    A = p.output("A", (n,))
    with p.loop("i", 0, n) as i:
        A[i] = 1.0
    return p

def wrong():
    return 3
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "loops.py"
    path.write_text(PYTHON)
    return str(path)


def test_tells_of_a_program(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    assert main(["nest", GEMM, "-D", "NI=2", "-D", "NJ=3", "-D", "NK=4", "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert f"{GEMM}: gemm: 2 statements in 1 nests, 30 instances" in out
    assert "  C      inout  float32   2x3\n" in out
    (found,) = json.loads(report.read_text())["programs"]
    assert found["operations"] == {"add float32": 24, "mul float32": 54}
    assert [each["instances"] for each in found["statements"]] == [6, 24]


def test_python_with_sizes(capsys: pytest.CaptureFixture[str], model: str) -> None:
    assert main(["nest", f"{model}:fill", "-D", "n=7"]) == 0
    assert "1 statements in 1 nests, 7 instances" in capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["nest", *words])
    return code, capsys.readouterr().err


def test_refusals(capsys: pytest.CaptureFixture[str], model: str, tmp_path: Path) -> None:
    assert refused(capsys, f"{model}:wrong") == (
        2,
        f"axiloom: {model}:wrong: returned int; it must return a Program, a Loaded or a Builder, or "
        f"(module, inputs) of PyTorch\n",
    )
    assert "no such function; there are fill, wrong" in refused(capsys, f"{model}:other")[1]
    assert "-D m: it has no parameter m; it has n" in refused(capsys, f"{model}:fill", "-D", "m=1")[1]
    assert refused(capsys, "x.txt")[0] == 2
    assert refused(capsys, str(tmp_path / "none.c"))[0] == 2
    assert "-D 3=4: write NAME=VALUE" in refused(capsys, GEMM, "-D", "3=4")[1]


def test_an_argument_as_the_flat_function(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "add.c"
    source.write_text(
        "void add(const int a[4], int add_flat[4]) { for (int i = 0; i < 4; i++) add_flat[i] = a[i]; }"
    )
    code, told = refused(capsys, "run", str(source))
    assert code == 4
    assert told.endswith("axiloom: add: `add_flat` cannot be a name in the driver in C; give it another\n")


def test_faults_are_all_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.c"
    path.write_text("void f(float A[4]) { float t[4];\nfor (int i = 0; i < 5; i++)\n A[i] = t[i]; }\n")
    code, err = refused(capsys, str(path))
    assert code == 4
    assert [line.partition(" at ")[0].removeprefix("axiloom: ") for line in err.splitlines()] == [
        "bad.c:3: S0 reads t[4]",
        "bad.c:3: S0 writes A[4]",
        "bad.c:3: S0 reads t[0]",
    ]
