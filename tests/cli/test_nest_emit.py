"""``axiloom nest --emit``: what it prints can be read, compiled and run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.polybench import sizes
from tests.cli.commands import main
from tests.nests.affine.same import same

from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.affine.text import from_text
from axiloom.nests.read.c import read

BICG = str(sizes.source("bicg"))
SIZES = ["-D", "M=5", "-D", "N=7"]


def test_affine_text_computes_what_the_c_does(tmp_path: Path) -> None:
    schedule, output = sizes.FOLDER / "schedules" / "bicg.sched", tmp_path / "bicg.mlir"
    options = ["--emit", "affine", "--schedule", str(schedule), "-o", str(output)]
    assert main(["nest", BICG, *SIZES, *options]) == 0
    program = read(sizes.source("bicg"), "", {"M": "5", "N": "7"}).program
    arrays = random_arrays(program, np.random.default_rng(0))
    text = output.read_text()
    assert "nest.unroll" in text
    assert same(interpret(from_text(text), arrays), interpret(program, arrays))


def test_hls_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nest", BICG, *SIZES, "--emit", "hls"]) == 0
    printed = capsys.readouterr().out
    assert "void bicg(const float A[7][5]" in printed
    assert "#pragma HLS pipeline II=1" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x"], "--output: for text, with --emit, or FILE.npz"),
        (["--schedule", "x"], "--schedule: nothing is built: give --plan, --run or --emit too"),
        (["--emit", "hls", "--json", "x"], "with --emit there is only text"),
        (["--emit", "hls", "--run"], "--run: with --emit there is only text"),
        (["--plain", "--report", "x"], "--plain, --report: of a circuit: give --plan or --run too"),
        (["--plan", "--seed", "3"], "--seed: of a run: give --run too"),
        (["--plan", "--run"], "--plan: --run says all of it"),
        (["--auto", "--plan", "--pareto"], "--pareto: of the search alone: leave --plan, --run out"),
        (["--device", "xck26"], "--device: of a circuit: give --plan, --run or --auto too"),
        (["--run", "--seed", "1", "--input", "x"], "--seed: of random inputs; here --input has them"),
        ([BICG, "--emit", "hls"], "one program, not 2"),
    ],
)
def test_options_without_effect_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nest", BICG, *options]) == 2
    assert message in capsys.readouterr().err
