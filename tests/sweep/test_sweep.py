"""Sweeps: nothing lost, nothing run twice, whatever happens meanwhile.

The workers leave a line in a log for each point they run: that is what is counted.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from axiloom import boards, isa
from axiloom.base import files
from axiloom.base.errors import HangError, UsageError
from axiloom.sweep import networks
from axiloom.sweep.points import MEASURING, default_store, hardware, point, simulate
from axiloom.sweep.sweep import Outcome, exit_code, failures, sweep

Points = list[dict[str, Any]]

# Workers are nested functions: the processes get them by value, as they cannot import a test.


def logged(log: Path) -> Callable[[Points], list[int]]:
    def square(points: Points) -> list[int]:
        for one in points:
            with log.open("a") as file:
                file.write(f"{one['n']}\n")
        return [one["n"] ** 2 for one in points]

    return square


def counted(log: Path) -> Counter[int]:
    return Counter(map(int, log.read_text().split())) if log.exists() else Counter()


def numbers(count: int) -> Points:
    return [{"n": n} for n in range(count)]


def test_results_in_the_order_of_the_points_and_never_twice(tmp_path: Path) -> None:
    worker, store = logged(tmp_path / "log"), tmp_path / "s.jsonl"
    first = sweep(numbers(10), worker, store, jobs=2)
    assert [outcome.result for outcome in first] == [n * n for n in range(10)]
    more = sweep([*reversed(numbers(15)), {"n": 3}], worker, store, jobs=2, group=lambda _one: 0, batch=4)
    assert [outcome.point["n"] for outcome in more] == list(reversed(range(15)))
    assert counted(tmp_path / "log") == Counter(range(15))


def test_a_group_is_batched_and_never_mixed(tmp_path: Path) -> None:
    def who_else(points: Points) -> list[list[int]]:
        return [[other["n"] for other in points] for _ in points]

    outcomes = sweep(
        numbers(48), who_else, tmp_path / "s.jsonl", jobs=1, group=lambda one: one["n"] % 2, batch=5
    )
    for outcome in outcomes:
        assert len(outcome.result) <= 5
        assert {n % 2 for n in outcome.result} == {outcome.point["n"] % 2}
    assert max(len(outcome.result) for outcome in outcomes) == 5


def test_a_failing_point_is_recorded_and_the_rest_go_on(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def picky(points: Points) -> list[int]:
        for one in points:
            with log.open("a") as file:
                file.write(f"{one['n']}\n")
            if one["n"] == 3:
                raise HangError("no word\n for 1,000 cycles")
        return [one["n"] for one in points]

    store = tmp_path / "s.jsonl"
    outcomes = sweep(numbers(8), picky, store, jobs=1, group=lambda _one: 0, batch=8)
    failed = failures(outcomes)
    assert [outcome.point["n"] for outcome in failed] == [3]
    assert failed[0].error == {"class": "HangError", "exit_code": 6, "message": "no word for 1,000 cycles"}
    assert str(failed[0]) == "n 3: HangError: no word for 1,000 cycles"
    assert exit_code(outcomes) == 6
    assert exit_code([]) == 0
    assert [outcome.result for outcome in outcomes] == [0, 1, 2, None, 4, 5, 6, 7]

    before = counted(log)
    assert failures(sweep(numbers(8), picky, store, jobs=1)) == failed
    assert counted(log) == before
    good = sweep(numbers(8), logged(log), store, jobs=1, retry_failed=True)
    assert not failures(good)
    assert counted(log) == before + Counter([3])


def test_a_worker_that_dies_takes_one_point_with_it(tmp_path: Path) -> None:
    def deadly(points: Points) -> list[int]:
        for one in points:
            if one["n"] == 5:
                os.kill(os.getpid(), signal.SIGKILL)
        return [one["n"] for one in points]

    outcomes = sweep(numbers(12), deadly, tmp_path / "s.jsonl", jobs=2, group=lambda _one: 0, batch=2)
    assert [outcome.point["n"] for outcome in failures(outcomes)] == [5]
    assert outcomes[5].error == {
        "class": "DriverError",
        "exit_code": 7,
        "message": "the worker process died",
    }


def test_what_a_worker_returns_is_checked(tmp_path: Path) -> None:
    outcome = sweep([{"n": 1}], lambda _points: [], tmp_path / "s.jsonl", jobs=1)[0]
    assert outcome.error is not None
    assert outcome.error["message"] == "the worker returned 0 results for 1 points"
    with pytest.raises(UsageError, match="at least one process, not -1"):
        sweep([{"n": 2}], lambda points: points, tmp_path / "s.jsonl", jobs=-1)


def test_a_worker_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ghost.py").write_text("def worker(points): return points")
    monkeypatch.syspath_prepend(tmp_path)
    from ghost import worker  # type: ignore[import-not-found]

    monkeypatch.undo()
    with pytest.raises(UsageError, match="cannot be loaded in its process: No module named 'ghost'"):
        sweep(numbers(3), worker, tmp_path / "s.jsonl", jobs=1)
    assert (tmp_path / "s.jsonl").read_bytes() == b""


SLOW_SWEEP = """
import signal, sys, time
from pathlib import Path
from axiloom.sweep.sweep import sweep

def worker(points):
    for one in points:
        with open(one["log"], "a") as file:
            file.write(f"{one['n']}\\n")
        time.sleep(0.05)
    return [one["n"] for one in points]

if __name__ == "__main__":
    # A shell's jobs in the background ignore SIGINT, and so do their children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sweep([{"n": n, "log": sys.argv[2]} for n in range(60)], worker, Path(sys.argv[1]), jobs=2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_an_interrupted_sweep_loses_only_what_was_running(tmp_path: Path, blow: signal.Signals) -> None:
    script, store, log = tmp_path / "script.py", tmp_path / "s.jsonl", tmp_path / "log"
    script.write_text(SLOW_SWEEP)
    command = [sys.executable, str(script), str(store), str(log)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        while not store.exists() or store.read_bytes().count(b"\n") < 15:
            assert process.poll() is None
            time.sleep(0.01)
        if blow is signal.SIGINT:
            os.killpg(process.pid, blow)  # a terminal's Ctrl-C reaches the workers too
        else:
            process.send_signal(blow)
        process.wait(timeout=20)
    assert (
        process.returncode
        == {
            signal.SIGINT: -signal.SIGINT,  # Python's own end after a KeyboardInterrupt
            signal.SIGTERM: 128 + signal.SIGTERM,
            signal.SIGKILL: -signal.SIGKILL,
        }[blow]
    )
    finished = [json.loads(line)["point"]["n"] for line in store.read_text().splitlines()]
    assert 15 <= len(finished) < 60
    time.sleep(0.3)  # workers of a killed parent end with the point they are at
    lost = counted(log) - Counter(finished)
    assert lost.total() <= 4

    subprocess.run(command, check=True, capture_output=True)
    finished = [json.loads(line)["point"]["n"] for line in store.read_text().splitlines()]
    assert sorted(finished) == list(range(60))
    assert counted(log) == Counter(range(60)) + lost


# --- Dask --------------------------------------------------------------------------------------------


@pytest.fixture
def cluster() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        yield local.scheduler_address


@pytest.mark.slow
def test_dask_does_the_same(tmp_path: Path, cluster: str) -> None:
    log, store = tmp_path / "log", tmp_path / "s.jsonl"
    sweep(numbers(5), logged(log), store, jobs=1)

    worker = logged(log)

    def fails_at_7(points: Points) -> list[int]:
        if any(one["n"] == 7 for one in points):
            raise HangError("hangs")
        return worker(points)

    outcomes = sweep(numbers(20), fails_at_7, store, dask=cluster, group=lambda _one: 0, batch=3)
    assert [o.result for o in outcomes] == [None if n == 7 else n * n for n in range(20)]
    assert exit_code(outcomes) == 6
    assert counted(log) == Counter(n for n in range(20) if n != 7)


def test_a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiloom.sweep.sweep.DASK_TIMEOUT_S", 0.5)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        sweep(numbers(1), len, tmp_path / "s.jsonl", dask="tcp://127.0.0.1:1")  # type: ignore[arg-type]


# --- what a result depends on ------------------------------------------------------------------------


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of our sources, which the store is now named by."""
    copy = tmp_path / "axiloom"
    shutil.copytree(Path(files.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(files, "__file__", str(copy / "base" / "files.py"))
    files.code_hash.cache_clear()
    yield copy
    files.code_hash.cache_clear()


def test_an_edit_of_what_makes_a_result_misses_the_store(sources: Path) -> None:
    def names(file: str = "run/problem.py") -> tuple[str, ...]:
        (sources / file).write_bytes((sources / file).read_bytes() + b"\n")
        files.code_hash.cache_clear()
        networks.fingerprint.cache_clear()
        points = [point("matmul:4x4x4", isa.builtin("v3", 4), flow=flow) for flow in ("best", "Cs")]
        return default_store().name, networks.fingerprint(boards.DEFAULT), *map(str, points)

    edited = ("run/problem.py", "report/build.py", "drivergen/c/driver.py", "sw/src/dma.c", "sweep/points.py")
    every = [names(file) for file in edited]
    assert len({store for store, *_ in every}) == len({code for _, code, *_ in every}) == len(edited)
    assert len({best for *_, best, _ in every}) == 1
    # What predicts forgets no measurement, unless it has chosen the driver that was measured.
    predicting = [names(file) for file in ("drivergen/cost/constants.json", "cosim/replay/replay.cpp")]
    assert {store for store, *_ in predicting} == {every[-1][0]}
    assert len({best for *_, best, _ in (*every, *predicting)}) == 3
    assert len({fixed for *_, fixed in (*every, *predicting)}) == 1


def test_all_rooms_that_a_worker_imports_are_measured_by() -> None:
    def imported(module: str) -> set[str]:
        code = f"import sys, {module}; print(*(name for name in sys.modules if name.startswith('axiloom.')))"
        text = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        return {name.split(".")[1] for name in text.split()}

    assert imported("axiloom.sweep.points") <= {*MEASURING}
    assert imported("axiloom.sweep.networks") <= {*networks.MEASURING}


# --- simulations -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_simulations_share_a_process_and_fail_alone(tmp_path: Path) -> None:
    spec = isa.builtin("v3", 4)
    points = [point(f"matmul:{m}x4x4", spec, flow="Cs") for m in (4, 8, 12)]
    points.insert(1, point("matmul:4x4x4", spec, flow="Xs"))
    outcomes = sweep(points, simulate, tmp_path / "s.jsonl", jobs=1, group=hardware)
    assert [o.result["result"]["matches"] if o.result else None for o in outcomes] == [True, None, True, True]
    bad = failures(outcomes)
    assert len(bad) == 1
    assert bad[0].error is not None
    assert bad[0].error["class"] == "UsageError"
    assert "unknown flow `Xs`" in bad[0].error["message"]
    assert isinstance(outcomes[0], Outcome)
