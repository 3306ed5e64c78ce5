"""Programs and temporary folders end with the process that made them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from axiloom.base import processes

PARENT = """
import sys, time
from pathlib import Path
from axiloom.base import processes
from axiloom.cli import guarded

def command():
    with processes.scratch(place=Path(sys.argv[1])):
        # A shell that starts another program, as compilers do.
        processes.run(["sh", "-c", "touch $TMPDIR/cc1.s; sleep 60; true"])

sys.exit(guarded(command))
"""
STUCK = """
import sys, time
from axiloom.base import processes
from axiloom.cli import guarded
own = processes._GUARD
processes._GUARD = own.replace(f"time.monotonic() + {processes.PATIENCE_S}", "time.monotonic() + 1")
assert processes._GUARD != own

def command():
    while True:  # as code in C, which no signal interrupts
        try:
            print("here", flush=True)
            for _ in range(200):
                time.sleep(0.3)
                with processes.scratch():  # what the guard is told meanwhile changes nothing
                    pass
        except BaseException:
            pass

sys.exit(guarded(command))
"""


def alive(group: str) -> list[str]:
    """Command lines of the processes whose environment has the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"MARK={group}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [one for one in found if one]


def until(check: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("blow", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_is_left_behind(tmp_path: Path, blow: str) -> None:
    mark = str(tmp_path)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        env={**os.environ, "MARK": mark, "TMPDIR": mark},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # `nohup pytest` ignores it
    )
    assert until(lambda: any(one.startswith("sleep 60") for one in alive(mark)))
    assert [*tmp_path.glob("*/cc1.s")]
    number = signal.Signals[blow]
    os.kill(parent.pid, number)  # the process alone, not its group
    _, errors = parent.communicate(timeout=20)
    expected = {"SIGINT": "axiloom: interrupted\n", "SIGKILL": ""}
    assert errors == expected.get(blow, f"axiloom: ended by {blow}\n")
    assert parent.returncode == (-9 if blow == "SIGKILL" else 128 + number)
    assert until(lambda: not alive(mark)), alive(mark)
    assert not [*tmp_path.iterdir()]


def test_code_that_is_not_interrupted_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "here\n"
    parent.send_signal(signal.SIGTERM)
    parent.communicate(timeout=10)
    assert parent.returncode == -signal.SIGKILL


def test_one_that_fails_ends_the_others() -> None:
    begun = time.monotonic()

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        processes.all_of([partial(processes.run, ["sleep", "60"]), fail], 2)
    assert time.monotonic() - begun < 10


def test_what_runs_beside_a_block_that_fails_is_killed() -> None:
    ended = threading.Event()

    def job() -> None:
        with suppress(Exception):
            assert processes.run(["sleep", "60"]).returncode == -signal.SIGKILL
            ended.set()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(processes.start, ["sleep", "60"]).result()
    with pytest.raises(ZeroDivisionError), processes.meanwhile(job):
        raise ZeroDivisionError
    assert ended.is_set()
    assert other.poll() is None
    processes.kill(other)


def test_a_time_limit_ends_what_the_program_started() -> None:
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run(["sh", "-c", "sleep 60; true"], timeout=0.2)
    assert time.monotonic() - begun < 10


IMPORTING = """
import os, sys
class Blow:
    def find_spec(self, name, *_):
        if name == "axiloom.cli":
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Blow())
from axiloom.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("blow", "says"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "ended by SIGTERM")]
)
def test_a_signal_while_python_imports(blow: signal.Signals, says: str) -> None:
    command = [sys.executable, "-c", IMPORTING, str(int(blow)), "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + blow, f"axiloom: {says}\n")


EXECUTED = """
import os, signal, sys
from axiloom.cli import guarded
sys.exit(guarded(lambda: exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)")))
"""


def test_an_interrupt_in_a_text_that_is_executed(tmp_path: Path) -> None:
    """Python itself would end a module by the signal."""
    (tmp_path / "executed.py").write_text(EXECUTED)
    command = [sys.executable, "-m", "executed"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "axiloom: interrupted\n")
