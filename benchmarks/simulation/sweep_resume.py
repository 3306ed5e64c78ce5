"""A sweep of 200 simulations, interrupted twice and resumed: is anything lost, does anything run twice?

The process that sweeps gets SIGINT (Ctrl-C) after about a third, the next one SIGKILL after about two
thirds, the third one finishes. First on two local processes, then on a Dask cluster of two workers. Each
simulation leaves a line in a log when it ends, and that is what is counted.

``python -m benchmarks sweep_resume``
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from axiloom import isa
from axiloom.report.types import Report
from axiloom.sweep.points import Point, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import sweep

JOBS = 2
BATCH = 4
SHAPES = [(4 + 2 * m, 4 + 3 * n, 6) for m in range(5) for n in range(5)]
INTERRUPTED = ((70, signal.SIGINT), (140, signal.SIGKILL))
"""Results there are at least when the signal is sent."""


def runs() -> list[Point]:
    """25 shapes, four flows, two pipelines on v3_4."""
    spec = isa.builtin("v3_4")
    return [
        point(f"matmul:{M}x{N}x{K}", spec, flow=flow, pipeline=pipeline)
        for M, N, K in SHAPES
        for flow in spec.flows
        for pipeline in ("published", "copying")
    ]


def child(store: Path, log: Path, dask: str | None) -> None:
    """Sweep; in a process of its own."""

    def logged(batch: list[Point]) -> list[Report]:  # nested: workers get it by value
        reports = simulate(batch)
        with log.open("a") as file:
            file.write("".join(f"{key(point)}\n" for point in batch))
        return reports

    every = runs()
    sweep(every, logged, store, jobs=JOBS, dask=dask, group=hardware, batch=BATCH, progress=False)


def stored(store: Path) -> list[str]:
    """Keys of the whole lines of a store."""
    text = store.read_text() if store.exists() else ""
    return [json.loads(line)["key"] for line in text.splitlines(keepends=True) if line.endswith("\n")]


def start(store: Path, log: Path, dask: str | None) -> subprocess.Popen[bytes]:
    arguments = [str(store), str(log), *([dask] if dask else [])]
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.simulation.sweep_resume", *arguments], stderr=subprocess.PIPE
    )


def ended(log: Path) -> Counter[str]:
    """How often the simulation of each point came to its end."""
    return Counter(log.read_text().split() if log.exists() else [])


def show(where: str, dask: str | None) -> None:
    every = {key(run) for run in runs()}
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        store, log = Path(folder) / "runs.jsonl", Path(folder) / "log"
        kept: list[tuple[set[str], Counter[str]]] = []
        begun = time.monotonic()
        for least, number in INTERRUPTED:
            process = start(store, log, dask)
            while len(stored(store)) < least and process.poll() is None:
                time.sleep(0.1)
            process.send_signal(number)
            process.communicate()
            time.sleep(3.0)  # workers whose parent was killed end by themselves
            kept.append((set(stored(store)), ended(log)))
            count = len(kept[-1][0])
            print(f"{where}: {number.name} with {count} of {len(every)} results in the store", flush=True)
        process = start(store, log, dask)
        _, errors = process.communicate()
        after, total = stored(store), ended(log)
        failed = sum('"error":' in line for line in store.read_text().splitlines())
        lost = len(every - set(after)) + sum(len(keys - set(after)) for keys, _ in kept)
        again = sum(total[point] - then[point] for keys, then in kept for point in keys)
        late = sum(total.values()) - len(every) - again
        print(
            f"{where}: then to the end, exit code {process.returncode}; "
            f"{time.monotonic() - begun:.0f} s in all"
        )
        print(f"{where}: {len(after)} results of {len(set(after))} points, {failed} failed, {lost} lost")
        print(f"{where}: {again} of those in the store ran again, {late} that were ending as it came")
        if process.returncode or lost or again or len(after) != len(every):
            sys.exit(f"{where}: not as it should be: {errors.decode()[-500:]}")


def main() -> None:
    import logging

    from distributed import LocalCluster

    show(f"{JOBS} local processes", None)
    with LocalCluster(
        n_workers=JOBS, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    ) as cluster:
        show(f"Dask, {JOBS} workers", cluster.scheduler_address)


if __name__ == "__main__":
    child(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
