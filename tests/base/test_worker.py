"""A worker answers, stays warm, is killed when it is late, and never outlives the process that asked it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.base.test_processes import alive, until

from axiloom.base.worker import NoAnswerError, Worker

BUSY = """
import os, sys
from axiloom.base.worker import Worker
from tests.base.test_worker import spin
print("here", flush=True)
Worker().ask(spin, seconds=60)
"""


def spin() -> None:
    while True:
        pass


def numbers(count: int) -> Iterator[int]:
    print("what a library prints")
    yield from range(count)


def test_it_stays_warm() -> None:
    with Worker() as worker:
        assert worker.ask(pow, 2, 10, seconds=60) == 1024
        first = worker.ask(os.getpid, seconds=10)
        assert first == worker.ask(os.getpid, seconds=10) != os.getpid()
        worker.send(numbers, 3)
        assert [worker.receive(10) for _ in range(3)] == [0, 1, 2]


def test_who_is_late_is_killed() -> None:
    with Worker() as worker:
        before = worker.ask(os.getpid, seconds=60)
        with pytest.raises(NoAnswerError, match="in time"):
            worker.ask(spin, seconds=0.2)
        assert not until(lambda: Path(f"/proc/{before}").exists(), 0)
        assert worker.ask(os.getpid, seconds=60) != before


def test_who_gets_no_processor_is_waited_for() -> None:
    with Worker() as worker:
        worker.ask(os.getpid, seconds=60)
        assert worker.ask(time.sleep, 0.6, seconds=0.2) is None
        with pytest.raises(NoAnswerError, match="in time"):
            worker.ask(time.sleep, 60, seconds=0.05)


def test_who_dies_says_so() -> None:
    with Worker() as worker:
        with pytest.raises(NoAnswerError, match="ended by itself"):
            worker.ask(os._exit, 3, seconds=60)
        assert worker.ask(abs, -1, seconds=60) == 1


def test_it_ends_with_who_asked() -> None:
    mark = f"worker-{os.getpid()}-{time.time_ns()}"
    parent = subprocess.Popen(
        [sys.executable, "-c", BUSY],
        env={**os.environ, "MARK": mark},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "here\n"
    assert until(lambda: any("axiloom.base.worker" in line for line in alive(mark)))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert until(lambda: not alive(mark)), alive(mark)
