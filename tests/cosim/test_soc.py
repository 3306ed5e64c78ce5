"""The simulated SoC as an object: runs, counters, resets, hangs, crashes. Drivers by hand, for v3_4."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards, isa
from axiloom.base import cache
from axiloom.base.errors import DriverError, HangError, SimulatorError
from axiloom.cosim import core
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

SPEC = isa.builtin("v3_4")
OURS = Path(__file__).parent / "drivers"
SHARED = Path(__file__).parents[1] / "system" / "drivers"
RNG = np.random.default_rng(11)
A, B = RNG.integers(-(2**31), 2**31, (2, 4, 4), np.int64).astype(np.int32)
OUTPUTS = {"C": ((4, 4), "int32")}
PARTS = ("compute", "load", "store", "dma_wait", "idle")


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile a driver: its file and macros."""
    folder = tmp_path_factory.mktemp("elf")

    def build(source: Path, **defines: int) -> Path:
        out = folder / f"{source.stem}{'_'.join(f'{k}{v}' for k, v in defines.items())}.elf"
        board = boards.load(boards.DEFAULT)
        return compile_bare([source], out, board=board, include=[SHARED], defines=defines)

    return build


@pytest.fixture(scope="module")
def soc() -> Soc:
    made = Soc(System(SPEC, watchdog_cycles=20_000))
    made.build()
    return made


def right(elf: Callable[..., Path], **options: object) -> Job:
    return Job(elf(SHARED / "right.c"), {"A": A, "B": B}, OUTPUTS, **options)  # type: ignore[arg-type]


def check(result: Result) -> None:
    assert (result.outputs["C"] == A @ B).all()
    assert result.exit_code == 0
    assert result.stale == []
    assert sum(result.fabric[part] for part in PARTS) == result.fabric["cycles"]


def test_a_run_gives_result_and_counters(soc: Soc, elf: Callable[..., Path]) -> None:
    job = right(elf)
    result = soc.run(job.elf, job.inputs, job.outputs)
    check(result)
    fabric = result.fabric
    assert (
        fabric["words_in"] == 17 + 17 + 1 + 1 == fabric["load"]
    )  # the stream never overlaps one block's compute
    assert fabric["words_out"] == 16 == fabric["store"]
    assert fabric["compute"] == 4 * 4 * 4 / SPEC.macs
    assert (fabric["transfers_in"], fabric["transfers_out"]) == (4, 1)
    # dma_init resets and starts (3 writes); a send writes status, address and length, or fewer of them.
    assert 3 + 2 * 5 <= fabric["mmio_writes"] <= 3 + 3 * 5 + 2
    assert fabric["polls"] < fabric["mmio_reads"]
    # The CPU's clock and the fabric's are one time.
    board = soc.system.profile
    seconds = fabric["cycles"] / board.fabric_hz
    assert result.counters["cpu-cycles"] / board.cpu_hz == pytest.approx(seconds, rel=0.01)
    assert result.simulation["rtl_share"] + result.simulation["cpu_share"] <= 1.001


def test_runs_repeat_to_the_bit(soc: Soc, elf: Callable[..., Path]) -> None:
    """In one process with a reset between, without a reset, and in another process."""
    first, again, unreset = soc.run_many([right(elf), right(elf), right(elf, reset=False)])
    (other,) = soc.run_many([right(elf)])
    for result in (first, again, unreset, other):
        check(result)
        assert result.counters == first.counters
        assert result.fabric == first.fabric


def test_hardware_keeps_its_state_unless_reset(soc: Soc, elf: Callable[..., Path]) -> None:
    half = Job(elf(OURS / "half.c"), {"A": A})
    rest = elf(OURS / "resume.c")
    resume = Job(rest, {"A": A, "B": B}, OUTPUTS, reset=False)
    check(soc.run_many([half, resume])[1])
    check(soc.run_many([half, right(elf)])[1])  # reset in the middle of a payload
    check(
        soc.run_many([half, right(elf, reset=False)])[1]
    )  # reset by the driver: dma_init resets what it feeds


@pytest.mark.slow
def test_parallel_runs_do_not_disturb_each_other(soc: Soc, elf: Callable[..., Path]) -> None:
    inputs = [RNG.integers(-1000, 1000, (2, 4, 4), np.int32) for _ in range(3)]
    driver = elf(SHARED / "right.c")
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda ab: soc.run(driver, {"A": ab[0], "B": ab[1]}, OUTPUTS), inputs))
    for (a, b), result in zip(inputs, results, strict=True):
        assert (result.outputs["C"] == a @ b).all()


def test_a_sleeping_driver_is_woken(soc: Soc, elf: Callable[..., Path]) -> None:
    result = soc.run(elf(OURS / "interrupt.c", WAITS=1))
    assert result.fabric["words_in"] == 17
    assert result.fabric["polls"] <= 2  # of dma_init; the wait itself costs no access


def test_a_driver_that_sleeps_for_ever_is_woken_by_the_watchdog(soc: Soc, elf: Callable[..., Path]) -> None:
    with pytest.raises(HangError) as hang:
        soc.run(elf(OURS / "interrupt.c", WAITS=2))
    assert "waits for an interrupt and nothing in flight can raise one" in str(hang.value)
    assert "main" in str(hang.value)


@pytest.mark.slow
def test_a_driver_that_computes_for_ever_is_stopped(
    soc: Soc, elf: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(HangError, match=r"did not end within 2\.5 s of wall time .*no stream stalls.*main"):
        soc.run(elf(OURS / "busy.c"), timeout_s=2.5, progress=True)
    assert " fabric cycles, 0 words" in capfd.readouterr().err


def test_a_bad_job_is_one_line(soc: Soc, elf: Callable[..., Path], tmp_path: Path) -> None:
    driver = elf(SHARED / "right.c")
    with pytest.raises(DriverError, match="no symbol 'nothing'; its objects are"):
        soc.run(driver, {"nothing": A})
    (tmp_path / "text.elf").write_text("no program")
    with pytest.raises(DriverError, match=r"text\.elf: not an ELF file"):
        soc.run(tmp_path / "text.elf")


def test_a_simulator_that_dies_is_reported(
    soc: Soc, elf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests before this one removed entries that this process had used.
    monkeypatch.setattr(cache, "damaged", list)
    monkeypatch.setattr(soc, "_command", ["sh", "-c", "echo out of ideas; kill -SEGV $$"])
    with pytest.raises(SimulatorError) as error:
        soc.run_many([right(elf)])
    assert str(error.value) == (
        "job 1 of 1 (right.elf): the simulator was killed by SIGSEGV; its last line: out of ideas"
    )


def test_a_simulator_that_is_damaged_while_we_run_is_built_again(
    elf: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in cache.cache_root().iterdir():
        if kind.name != "icarus":
            (tmp_path / kind.name).symlink_to(kind)
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    soc = Soc(System(SPEC, sim="icarus"))
    soc.build()
    (program,) = (tmp_path / "icarus").glob("*/simulation.vvp")
    text = program.read_bytes()
    program.write_bytes(text[: len(text) // 2])
    check(soc.run_many([right(elf)])[0])
    assert cache.is_whole(program.parent, again=True)


def test_a_run_has_one_core_whatever_is_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process keeps what it found first, and a simulator takes what it is linked with."""
    first = core.library()
    monkeypatch.setattr(core, "NATIVE", tmp_path)
    assert core.library(print) == first
    monkeypatch.setenv(core.USED, str(tmp_path / core.LIBRARY))
    assert core.library() == tmp_path / core.LIBRARY
