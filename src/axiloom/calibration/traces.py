"""Simulating the measured runs. A trace is cached under a hash of all that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from axiloom import isa
from axiloom.base import processes
from axiloom.base.cache import NotCachedError, content_hash, keep, value
from axiloom.base.errors import DriverError, StaleDataError
from axiloom.boards import Board
from axiloom.calibration import programs
from axiloom.calibration.measurements import Point
from axiloom.cosim import core
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

Trace = dict[str, int]
"""perf's counters, the cost model's events and the fabric's, by name."""

Progress = Callable[[int, int, Point], None]
"""Called after each trace: how many are done, of how many, which."""

KIND = "traces"
_UNUSED = ("name", "description", "part", "resources", "fidelity")


def simulate(point: Point, board: Board) -> Trace:
    """The trace of one run on `board`. DriverError if C is wrong or a cache was not maintained."""
    spec = programs.accelerator(point)
    with processes.scratch("axiloom-calibrate-") as folder:
        elf = programs.build(point, board, Path(folder) / "program.elf")
        key = _key(elf, board, spec)
        with suppress(NotCachedError):
            kept: Trace = value(KIND, key)
            return kept
        outputs = {"C": ((point.m, point.n), "int32")}
        trace: Trace
        if spec is None:
            alone = core.run_cpu(elf, {}, outputs, board)
            trace, c = alone.events | alone.counters, alone.outputs["C"]
        else:
            run = Soc(System(spec, board)).run(elf, {}, outputs)
            if run.stale:
                raise StaleDataError(f"{point}: {run.stale[0]}")
            trace, c = run.events | run.fabric | run.counters, run.outputs["C"]
        if not (c == programs.expected(point)).all():
            raise DriverError(f"{point}: C is wrong")
    keep(KIND, key, trace)
    return trace


def simulate_all(
    work: Sequence[tuple[Point, Board]], jobs: int = 1, progress: Progress | None = None
) -> list[Trace]:
    """Traces in the order of `work`, `jobs` at a time. What is done when it is interrupted stays done."""
    traces: dict[int, Trace] = {}
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        waiting = {pool.submit(simulate, point, board): index for index, (point, board) in enumerate(work)}
        try:
            for done in as_completed(waiting):
                index = waiting[done]
                traces[index] = done.result()
                if progress:
                    progress(len(traces), len(work), work[index][0])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [traces[index] for index in range(len(work))]


def _key(elf: Path, board: Board, spec: isa.AcceleratorSpec | None) -> str:
    used = {name: value for name, value in asdict(board).items() if name not in _UNUSED}
    described = isa.dumps(spec) if spec else ""
    return content_hash(elf.read_bytes(), used, described, _hardware(described))


@cache
def _hardware(described: str) -> list[str]:
    """Names of the builds that the run uses; they are hashes of what went into them."""
    library = core.library().parent.name
    if not described:
        return [library]
    with processes.scratch("axiloom-spec-") as folder:
        path = Path(folder) / "spec.json"
        path.write_text(described)
        soc = Soc(System(isa.load(path)))
    return [library, soc.build_id]
