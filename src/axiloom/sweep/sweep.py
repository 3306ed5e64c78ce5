"""Many points, each run once: on local processes or on Dask, interrupted and resumed at will.

::

    outcomes = sweep(points, worker, Path("results.jsonl"))

A point is a JSON-able dict; its content hash is its key. What is finished is in the file
(:mod:`axiloom.sweep.store`) and is never run again. Ctrl-C, SIGTERM, a worker that is killed: only what was
running is lost, and the same call goes on from there. A point that fails is recorded with its error, and
the others go on.

`worker` takes a batch, a list of points, and returns a result for each, in order: points on the same
hardware share one simulator process that way (:func:`axiloom.sweep.points.simulate` is such a worker). It
runs in
another process: by name if it can be imported, else by value.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import cloudpickle
import loky
from loky.process_executor import BrokenProcessPool
from tqdm import tqdm

from axiloom.base import extras
from axiloom.base.errors import AxiloomError, BuildError, DriverError, UsageError
from axiloom.sweep.store import Point, Record, Store, canonical, key

Worker = Callable[[list[Any]], Sequence[Any]]
Batch = list[dict[str, Any]]

DASK_TIMEOUT_S = 10.0
BATCH = 8
"""Points a simulator process takes by default: what an interruption can lose of one worker's time."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one point: `result`, or `error` (``class``, ``exit_code``, ``message``)."""

    point: dict[str, Any]
    result: Any = None
    error: dict[str, Any] | None = None

    def __str__(self) -> str:
        what = ", ".join(
            f"{name} {value}" for name, value in self.point.items() if not isinstance(value, dict)
        )
        return f"{what}: {self.error['class']}: {self.error['message']}" if self.error else what


def sweep(
    points: Iterable[Point],
    worker: Worker,
    store: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    group: Callable[[dict[str, Any]], Hashable] | None = None,
    batch: int = BATCH,
    retry_failed: bool = False,
    title: str = "sweep",
) -> list[Outcome]:
    """Run every point that `store` does not have, and return the outcome of each, in the order of `points`.

    `jobs` local processes (default: one a core), or the Dask scheduler at address `dask`. Points with an
    equal `group` go to the worker together, at most `batch` at once; without `group` each goes alone.
    `progress`: a bar with the time left on standard error (default: if that is a terminal). Failures of
    an earlier call stand unless `retry_failed`.

    Raises UsageError for a store that is in use or not ours, and KeyboardInterrupt or SystemExit where the
    process was told to stop; the store then has all that was finished.
    """
    wanted = {key(point): canonical(point) for point in points}
    with Store(store) as opened, _terminates_as_exit():
        done = {
            k for k in wanted if k in opened.records and not (retry_failed and "error" in opened.records[k])
        }
        todo = {k: point for k, point in wanted.items() if k not in done}
        disable = None if progress is None else not progress  # None: tqdm asks whether there is a terminal
        with tqdm(total=len(wanted), initial=len(done), desc=title, unit="point", disable=disable) as bar:
            for record in _records(todo, worker, jobs, dask, group, batch):
                opened.append(record)
                bar.update()
        return [
            Outcome(point, opened.records[k].get("result"), opened.records[k].get("error"))
            for k, point in wanted.items()
        ]


def failures(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those of `outcomes` that failed."""
    return [outcome for outcome in outcomes if outcome.error]


def exit_code(outcomes: Iterable[Outcome]) -> int:
    """What a command returns after a sweep: 0, or the exit code of the first point that failed."""
    return next((int(outcome.error["exit_code"]) for outcome in outcomes if outcome.error), 0)


# --- batches -----------------------------------------------------------------------------------------


def _records(
    todo: dict[str, dict[str, Any]],
    worker: Worker,
    jobs: int | None,
    dask: str | None,
    group: Callable[[dict[str, Any]], Hashable] | None,
    batch: int,
) -> Iterator[Record]:
    """The record of each point, as they finish."""
    if not todo:
        return
    pool = _Dask(dask) if dask else _Local(jobs or os.cpu_count() or 1)
    try:
        # Short sweeps get smaller batches, so that no worker idles while another has a long one.
        largest = max(1, min(batch, len(todo) // (4 * pool.width)))
        pickled = cloudpickle.dumps(worker)
        for points, results in _run(_batches(todo.values(), group, largest), pickled, pool):
            for point, result in zip(points, results, strict=True):
                yield {"key": key(point), "point": point, **result}
    finally:
        pool.close()


def _batches(
    points: Iterable[dict[str, Any]], group: Callable[[dict[str, Any]], Hashable] | None, largest: int
) -> list[Batch]:
    if group is None:
        return [[point] for point in points]
    groups: dict[Hashable, Batch] = {}
    for point in points:
        groups.setdefault(group(point), []).append(point)
    return [
        together[start : start + largest]
        for together in groups.values()
        for start in range(0, len(together), largest)
    ]


def _run(batches: list[Batch], worker: bytes, pool: _Pool) -> Iterator[tuple[Batch, list[Record]]]:
    """Keep the pool busy. What ran when a worker died runs again point by point, to know which one kills."""
    suspects: Batch = []
    for batch, results in _together(batches, worker, pool):
        if results is None:
            suspects += batch
        else:
            yield batch, results
    for point in suspects:
        for batch, results in _together([[point]], worker, pool):
            yield batch, results or [_error(DriverError("the worker process died"))]


def _together(
    batches: list[Batch], worker: bytes, pool: _Pool
) -> Iterator[tuple[Batch, list[Record] | None]]:
    """The records of each batch; None if a worker died meanwhile that may have been running it."""
    todo = deque(batches)
    running: dict[Future[list[Record]], Batch] = {}
    while todo or running:
        try:
            while todo and len(running) <= pool.width:  # one waits, so that no worker does
                running[pool.submit(run_batch, worker, todo[0])] = todo[0]
                todo.popleft()
            done = wait(running, return_when=FIRST_COMPLETED).done
        except pool.died:  # while nothing was submitted: not yet seen by the futures
            done = set(running)
        died = any(isinstance(future.exception(), pool.died) for future in done)
        if died and pool.dies_whole:
            done = wait(running).done
        for future in done:
            batch = running.pop(future)
            yield batch, None if isinstance(future.exception(), pool.died) else future.result()
        if died or not done:
            pool.restart()


def run_batch(pickled: bytes, points: Batch) -> list[Record]:
    """In the worker's process: ``{"result": ...}`` or ``{"error": ...}`` of each point.

    If a batch fails, its points run again one by one: the others must not fail with one. Raises UsageError
    if there is no such worker here.
    """
    try:
        worker: Worker = cloudpickle.loads(pickled)
    except Exception as error:
        raise UsageError(f"the worker of a sweep cannot be loaded in its process: {_line(error)}") from None
    return _try_batch(worker, points)


def _try_batch(worker: Worker, points: Batch) -> list[Record]:
    try:
        results = list(worker(points))
        if len(results) != len(points):
            raise TypeError(f"the worker returned {len(results)} results for {len(points)} points")
        return [{"result": canonical({"": result})[""]} for result in results]
    except Exception as error:
        if len(points) == 1:
            return [_error(error)]
    return [_try_batch(worker, [point])[0] for point in points]


def _error(error: Exception) -> Record:
    code = error.exit_code if isinstance(error, AxiloomError) else AxiloomError.exit_code
    return {"error": {"class": type(error).__name__, "exit_code": code, "message": _line(error)}}


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


# --- where it runs -----------------------------------------------------------------------------------


class _Pool:
    """Workers of some kind."""

    executor: Any
    """A `concurrent.futures.Executor`."""
    died: type[BaseException]
    """What the future of a batch raises if its worker died."""
    dies_whole: bool
    """One dead worker takes all futures of the executor with it."""

    @property
    def width(self) -> int:
        """How many batches can run at once."""
        raise NotImplementedError

    def submit(self, function: Callable[..., list[Record]], *args: Any) -> Future[list[Record]]:
        future: Future[list[Record]] = self.executor.submit(function, *args)
        return future

    def restart(self) -> None:
        """After a worker died."""

    def close(self) -> None:
        """Stop at once, whatever is running."""
        raise NotImplementedError


class _Local(_Pool):
    """Processes of this machine, started afresh (not forked: threads and locks would come along)."""

    died = BrokenProcessPool
    dies_whole = True

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise UsageError(f"a sweep needs at least one process, not {jobs}")
        self._jobs = jobs
        # Workers may be killed at any moment; what they leave in temporary folders goes with this one.
        self._scratch = tempfile.TemporaryDirectory(prefix="axiloom-sweep-", ignore_cleanup_errors=True)
        self._start()

    @property
    def width(self) -> int:
        return self._jobs

    def _start(self) -> None:
        self.executor = loky.ProcessPoolExecutor(
            self._jobs, initializer=_prepare, initargs=(self._scratch.name, os.getpid()), timeout=None
        )

    def restart(self) -> None:
        self.executor.shutdown(wait=True, kill_workers=True)
        self._start()

    def close(self) -> None:
        self.executor.shutdown(wait=True, kill_workers=True)
        self._scratch.cleanup()


def _prepare(scratch: str, parent: int) -> None:
    """In a new worker: Ctrl-C is for the process that started it, and temporary files go to `scratch`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TMPDIR"] = tempfile.tempdir = scratch

    def watch() -> None:
        """A parent that was killed cannot stop its workers."""
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="watch parent", daemon=True).start()


class _Dask(_Pool):
    """A Dask cluster that somebody else started; workers may come and go."""

    dies_whole = False  # the scheduler gives a batch to other workers first

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise BuildError(f"--dask needs Dask: {extras.install('dask')}") from None
        self.died = distributed.scheduler.KilledWorker
        try:
            self._client: Any = distributed.Client(address, timeout=DASK_TIMEOUT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address}: {_line(error)}") from None
        self.executor = self._client.get_executor(pure=False)

    @property
    def width(self) -> int:
        return max(1, sum(map(int, self._client.nthreads().values())))

    def close(self) -> None:
        self.executor.shutdown(wait=False)
        self._client.close()


@contextmanager
def _terminates_as_exit() -> Iterator[None]:
    """SIGTERM unwinds the stack as Ctrl-C does, so that workers are stopped and the store is closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
