"""Convolutions by hand: conv_v3's driver on the simulated SoC, and kernels for the CPU, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom import boards, isa, sw
from axiloom.base.errors import CompileError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import run_cpu
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen import ConvProblem, parse_workload

BOARD = boards.load(boards.DEFAULT)
Array = np.ndarray[Any, Any]
SMALL = {
    "a ResNet's": "conv:10_8_3_8_1",
    "pixels of no whole blocks": "conv:9_5_3_6_2",
    "one tap": "conv:7_9_1_5_2",
    "an oblong": "conv:6x11,3,2x4,7",
    "more taps than a block": "conv:5_40_3_4_1",
}


def named(text: str) -> ConvProblem:
    problem = parse_workload(text)
    assert isinstance(problem, ConvProblem)
    return problem


def build(folder: Path, source: str, problem: ConvProblem, bits: int = 32) -> Path:
    sizes = {name: problem.sizes[name] for name in ("IC", "IH", "IW", "OC", "FH", "FW", "SH", "SW")}
    macros = {**sizes, "BITS": bits}
    return compile_bare([sw.BASELINES / f"{source}.c"], folder / f"{source}.elf", board=BOARD, defines=macros)


def data(problem: ConvProblem, bits: int) -> tuple[dict[str, Array], Array]:
    """Arrays over the whole range of their type, and O mod 2^32."""
    rng = np.random.default_rng(3)
    (ih, iw), (fh, fw), (oh, ow) = problem.image, problem.taps, problem.output
    low, kind = -(2 ** (bits - 1)), f"int{bits}"
    image = rng.integers(low, -low, (problem.ic, ih, iw), np.int64).astype(kind)
    filters = rng.integers(low, -low, (problem.oc, problem.ic, fh, fw), np.int64).astype(kind)
    expected = np.zeros((problem.oc, oh, ow), np.int32)
    sh, sw_ = problem.stride
    for y in range(fh):
        for x in range(fw):
            seen = image[:, y : y + oh * sh : sh, x : x + ow * sw_ : sw_][:, :oh, :ow].astype(np.int32)
            expected += np.einsum("oc,chw->ohw", filters[:, :, y, x].astype(np.int32), seen)
    return {"I": image, "F": filters}, expected


@pytest.mark.every(5)
@pytest.mark.parametrize("bits", [32, 8])
@pytest.mark.parametrize("source", ["cpu_conv_naive", "cpu_conv_neon"])
def test_kernels_for_the_cpu(tmp_path: Path, source: str, bits: int) -> None:
    for text in SMALL.values() if source == "cpu_conv_neon" else ["conv:9_5_3_6_2"]:
        problem = named(text)
        arrays, expected = data(problem, bits)
        run = run_cpu(build(tmp_path, source, problem, bits), arrays, {"O": (expected.shape, "int32")}, BOARD)
        np.testing.assert_array_equal(run.outputs["O"], expected, err_msg=text)


def test_the_kernel_is_much_faster_than_plain_loops(tmp_path: Path) -> None:
    problem = named("conv:12_8_3_64_1")
    arrays, expected = data(problem, 32)
    cycles = []
    for source in ("cpu_conv_naive", "cpu_conv_neon"):
        run = run_cpu(build(tmp_path, source, problem), arrays, {"O": (expected.shape, "int32")}, BOARD)
        cycles.append(run.counters["cpu-cycles"])
    assert cycles[1] < cycles[0] / 1.7
    assert (
        cycles[1] < 2.35 * problem.multiply_adds
    )  # VMLA.I32 allows one a cycle, and packing is not yet little


@pytest.mark.slow
def test_conv_v3_by_hand(tmp_path: Path) -> None:
    """Windows go together in as few transfers as there is room for; a channel comes back at once."""
    problems = [named(text) for text in ("conv:10_8_3_4_1", "conv:9_5_3_3_2", "conv:12_256_3_1_1")]
    jobs, wanted = [], []
    for number, problem in enumerate(problems):
        arrays, expected = data(problem, 32)
        folder = tmp_path / str(number)
        folder.mkdir()
        elf = build(folder, "conv_v3", problem)
        jobs.append(Job(elf, arrays, {"O": (expected.shape, "int32")}))
        wanted.append(expected)
    soc = Soc(System(isa.builtin("conv_v3"), board=boards.DEFAULT))
    for problem, expected, result in zip(problems, wanted, soc.run_many(jobs), strict=True):
        np.testing.assert_array_equal(result.outputs["O"], expected)
        assert result.fabric["transfers_out"] == problem.oc
        taps, (oh, ow) = problem.ic * problem.taps[0] ** 2, problem.output
        together = (131072 // 4 - 2 * taps - 8) // (1 + taps)
        packets = -(-(oh * ow + (oh * ow % together == 0)) // together)
        assert result.fabric["transfers_in"] == 1 + problem.oc * packets
        assert result.fabric["words_in"] == 4 + problem.oc * (2 + taps + oh * ow * (1 + taps))


def test_rejected(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="this driver is for int32 and square filters"):
        build(tmp_path, "conv_v3", named("conv:9x9,1,3x2,1"))
