"""Drivers on a RISC-V soft core: the same work for the accelerator as on a Cortex-A9."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards, isa
from axiloom.base.errors import StaleDataError, UsageError
from axiloom.boards import Board
from axiloom.cli import main
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.compare import compare
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate_cpu

RISCV = "nexys-video-rv32"
SPEC = isa.builtin("v3_4")
QUEUED = SPEC.replace(dma=replace(SPEC.link.dma, scatter_gather=True))
WORK = ("compute", "words_in", "words_out", "transfers_in", "transfers_out")


def simulated(run: ProblemRun, folder: Path, board: Board, edit: tuple[str, str] = ("", "")) -> Result:
    """With `edit` one text of the driver replaced by another. What is wrong by stale data may be."""
    assert edit[0] in run.driver.c
    driver = replace(run.driver, c=run.driver.c.replace(*edit)) if edit[0] else run.driver
    elf = run.build_elf(driver, folder)
    (result,) = Soc(System(run.spec, board=board)).run_many([Job(elf, run.inputs, run.outputs)], check=False)
    assert result.stale or (not result.failed and compare(result, run.expected)["matches"])
    return result


def on(
    board: str, problem: str, spec: AcceleratorSpec, schedule: Schedule = DEFAULTS, wait: str = "poll"
) -> ProblemRun:
    return ProblemRun(Workload.of(problem), System(spec, board, wait=wait), schedule)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("spec", "pipeline", "wait"),
    [
        (SPEC, "published", "poll"),
        (SPEC, "copying", "poll"),
        (QUEUED, "all", "poll"),
        (QUEUED, "copying", "irq"),
    ],
    ids=["published", "copying", "queues", "asleep"],
)
def test_the_accelerator_does_the_same(
    tmp_path: Path, spec: AcceleratorSpec, pipeline: str, wait: str
) -> None:
    """Bit-exact, and word for word what it does for a Cortex-A9; no cache is maintained for the windows."""
    results = {}
    for name in (RISCV, "pynq-z2"):
        run = on(name, "matmul:13x10x9", spec, Schedule("Cs", pipeline=pipeline), wait)
        results[name] = simulated(run, tmp_path / name, boards.load(name))
        assert results[name].stale == []
    ours, theirs = results[RISCV].fabric, results["pynq-z2"].fabric
    assert {name: ours[name] for name in WORK} == {name: theirs[name] for name in WORK}
    in_place = pipeline == "all"
    assert (results[RISCV].events["maintenance"] > 0) == in_place
    assert results[RISCV].events["uncached_stores"] > 0
    assert results[RISCV].counters.keys() == results["pynq-z2"].counters.keys()
    assert results[RISCV].counters["l2-references"] == 0


@pytest.mark.slow
def test_convolution(tmp_path: Path) -> None:
    run = on(RISCV, "conv:7_4_3_4_1:int8", isa.builtin("conv_v4", None, "int8"))
    assert simulated(run, tmp_path, boards.load(RISCV)).stale == []


def cached_windows() -> Board:
    """The same SoC, with windows that the core caches: only descriptors are not."""
    board = boards.load(RISCV)
    (region,) = board.uncached_memory
    return replace(
        board,
        uncached_memory=(replace(region, bytes=1 << 20),),
        simulation=replace(board.simulation, dma_buffers="cached"),
    )


PROFILE = Path(boards.__file__).parent / RISCV / "profile.toml"


@pytest.fixture
def cached(tmp_path: Path) -> str:
    """Path of the profile of `cached_windows`."""
    text = PROFILE.read_text().replace('dma_buffers = "uncached"', 'dma_buffers = "cached"')
    path = tmp_path / "cached.toml"
    path.write_text(text.replace("bytes = 0x0110_0000", "bytes = 0x0010_0000"))
    assert boards.load(path) == cached_windows()
    return str(path)


@pytest.mark.slow
def test_windows_may_be_cached(tmp_path: Path, cached: str) -> None:
    run = on(cached, "matmul:13x10x9", SPEC, Schedule("Cs", pipeline="copying"))
    result = simulated(run, tmp_path, cached_windows())
    assert result.stale == []
    assert result.events["maintenance"] > 0
    assert result.counters["cache-misses"] > 0


@pytest.mark.slow
def test_a_missing_clean_is_diagnosed(tmp_path: Path, cached: str) -> None:
    run = on(cached, "matmul:16x16x16", SPEC, Schedule("Cs", pipeline="copying"))
    clean = next(line for line in run.driver.c.splitlines() if "dma_packet_clean(" in line)
    result = simulated(run, tmp_path, cached_windows(), (clean, ""))
    assert result.stale
    assert all(line.startswith("missing flush: the DMA") for line in result.stale)


@pytest.mark.slow
def test_windows_that_are_cached_by_mistake_are_diagnosed(tmp_path: Path) -> None:
    """The driver takes them for uncached; the core was built to cache them."""
    board = replace(cached_windows(), simulation=boards.load(RISCV).simulation)
    run = on(RISCV, "matmul:16x16x16", SPEC, Schedule("Cs", pipeline="copying"))
    result = simulated(run, tmp_path, board)
    assert any(line.startswith("missing flush") for line in result.stale)
    elf = run.build_elf(run.driver, tmp_path)
    with pytest.raises(StaleDataError, match=r"missing flush: the DMA, started by .* read old"):
        Soc(System(SPEC, board=board)).run_many([Job(elf, run.inputs, run.outputs, strict=True)])


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--os", "linux"], "no Linux programs run on RV32IM soft core (riscv32)"),
        (["--against", "neon"], "NEON kernels do not run on RV32IM soft core (riscv32): compare with plain"),
    ],
)
def test_what_it_has_not_is_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert (
        main(["run", "matmul:4x4x4", "--accel", "v3_4", "--board", RISCV, *options]) == UsageError.exit_code
    )
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("dma", ["simple", "sg"])
def test_matmul_of_64(tmp_path: Path, dma: str) -> None:
    """v3_16, flow Cs, 64x64x64: equal to NumPy; words and transfers as on a Cortex-A9."""
    base = isa.builtin("v3_16")
    spec = base.replace(dma=replace(base.link.dma, scatter_gather=dma == "sg"))
    fabric = []
    for name in (RISCV, "pynq-z2"):
        run = on(name, "matmul:64x64x64", spec, Schedule("Cs"))
        fabric.append(simulated(run, tmp_path / name, boards.load(name)).fabric)
    assert [fabric[0][name] for name in WORK] == [fabric[1][name] for name in WORK]


@pytest.mark.slow
def test_kernel_on_the_cpu(tmp_path: Path) -> None:
    run = on(RISCV, "matmul:16x16x16", SPEC)
    assert simulate_cpu(run, "loops")["result"]["matches"]
    with pytest.raises(UsageError, match="NEON kernels do not run"):
        simulate_cpu(run, "neon")
