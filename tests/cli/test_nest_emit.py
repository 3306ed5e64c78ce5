"""``axiloom nest --emit``: what it prints can be read, compiled and run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.polybench import sizes
from tests.cli.commands import main
from tests.nests.affine.same import same
from tests.nests.affine.text import from_text

from axiloom.nests.affine.interpret import interpret, random_arrays
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
        (["-o", "x"], "axiloom nest show has no option `-o`, which is of `axiloom nest emit`"),
        (["--schedule", "x"], "axiloom nest show has no option `--schedule`"),
        (["--emit", "hls", "--json", "x"], "axiloom nest emit has no option `--json`"),
        (["--emit", "hls", "--run"], "axiloom nest emit has no option `--run`"),
        (["--plain"], "axiloom nest show has no option `--plain`, which is of `axiloom nest simulate`"),
        (
            ["--plan", "--seed", "3"],
            "axiloom nest plan has no option `--seed`, which is of `axiloom nest sim",
        ),
        (["--plan", "--run"], "axiloom nest simulate has no option `--plan`"),
        (["--plan", "-o", "x"], "--output: of a search: give --auto too"),
        (["--run", "-o", "x"], "--output x: expected is FILE.npz for results"),
        (
            ["--auto", "--plan", "--pareto"],
            "nest plan has no option `--pareto`, which is of `axiloom nest search",
        ),
        (["--plan", "--budget", "dsp=3"], "--budget: of a search: give --auto too"),
        (["--auto", "--plan", "--schedule", "x"], "--auto: with --auto the schedule is what is searched for"),
        (["--device", "xck26"], "axiloom nest show has no option `--device`, which is of `axiloom nest sim"),
        (["--run", "--seed", "1", "--input", "x"], "--input: has the inputs; a --seed is of random ones"),
        ([BICG, "--emit", "hls"], "axiloom nest emit does not know what to do with"),
    ],
)
def test_options_without_effect_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nest", BICG, *options]) == 2
    assert message in capsys.readouterr().err
