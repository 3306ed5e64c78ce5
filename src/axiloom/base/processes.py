"""Programs that Axiloom starts end with it, however it ends, and leave no temporary folder behind.

Each program runs in a session of its own, with a place for its temporary files: a compiler that is killed
leaves them. A guard, one small process, is told of these and of the folders of half-made things. When this
process is gone (killed, crashed, or ended), the guard kills what still runs and removes the folders. When
this process gets a signal and does not end within `PATIENCE_S`, as code in C is not interrupted, the guard
kills it.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from axiloom.base.errors import UsageError

T = TypeVar("T")

PATIENCE_S = 15
"""After a signal; the guard kills a process that goes on for longer."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends a command."""

_GUARD = f"""
import json, os, select, shutil, signal, sys, time
for number in {tuple(map(int, SIGNALS))}:
    signal.signal(number, signal.SIG_IGN)
groups, paths, rest, parent, end = set(), set(), b"", int(sys.argv[1]), None
while True:
    if not select.select([0], [], [], end and max(0, end - time.monotonic()))[0]:
        os.kill(parent, signal.SIGKILL)
        end = None
        continue
    data = os.read(0, 65536)
    if not data:
        break
    if end is None and any(number in data for number in {tuple(map(int, SIGNALS))}):
        end = time.monotonic() + {PATIENCE_S}
    *lines, rest = (rest + data.translate(None, bytes([*range(10), *range(11, 32)]))).split(b"\\n")
    for line in filter(None, lines):
        add, group, path = json.loads(line)
        if group:
            (groups.add if add else groups.discard)(group)
        else:
            (paths.add if add else paths.discard)(path)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
for path in map(os.fsencode, paths):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            os.unlink(path)
        except OSError:
            pass
"""
"""Control characters are numbers of signals (:func:`signal.set_wakeup_fd`); all others are lines of JSON."""


class EndedError(BaseException):
    """This process was told to end by `signal`: unwinds the stack as KeyboardInterrupt does."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)
        super().__init__(self.signal.name)


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Raises EndedError (SIGALRM) inside when the time is over; None: never.

    Raises UsageError in other threads than the main one: Python has signals there alone.
    """
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("a limit of seconds works in the main thread alone")

    def end(number: int, _frame: object) -> None:
        raise EndedError(number)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class InterruptedByUserError(KeyboardInterrupt):
    """SIGINT. A class of its own: once a KeyboardInterrupt itself has left an `exec` of a text (dataclasses
    have one), Python ends a module by the signal, whatever code we return."""


class StoppedError(Exception):
    """No further program is started: this process is about to end."""


class _State:
    """Of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.guard: subprocess.Popen[bytes] | None = None
        self.running: dict[int, tuple[subprocess.Popen[Any], tuple[object, ...]]] = {}
        """By their numbers, each with the job that started it: `_JOB`."""
        """By process id; with the thread that started it."""
        self.stopping = False
        self.starting = 0
        """Programs that the main thread is just starting: a signal waits for them to be known."""
        self.waiting: signal.Signals | None = None
        self.folder: Path | None = None
        """For the temporary files of programs."""
        self.temporary: Path | None = None
        """How programs call it."""
        self.until_the_end = ExitStack()


_STATE = _State()
_JOB: ContextVar[tuple[object, ...]] = ContextVar("job", default=())
"""What runs in this thread for `all_of` and `meanwhile`, the innermost last."""


def _after_fork() -> None:
    """A forked child has programs and folders of its own; those of its parent are none of its business."""
    global _STATE
    before, _STATE = _STATE, _State()
    if before.guard is not None and before.guard.stdin is not None:
        with suppress(OSError):
            os.close(before.guard.stdin.fileno())
        before.guard.returncode = 0  # nobody waits for it here
        with suppress(ValueError):
            signal.set_wakeup_fd(-1)


os.register_at_fork(after_in_child=_after_fork)


def _guard() -> subprocess.Popen[bytes]:
    with _STATE.lock:
        if _STATE.guard is None or _STATE.guard.poll() is not None:
            _STATE.guard = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                bufsize=0,
            )
            assert _STATE.guard.stdin is not None
            os.set_blocking(_STATE.guard.stdin.fileno(), True)
        return _STATE.guard


def _tell(add: bool, group: int, path: str = "") -> None:
    line = json.dumps([add, group, path]).encode() + b"\n"
    with _STATE.lock, suppress(OSError):  # without a guard everything works, but for a kill
        pipe = _guard().stdin
        assert pipe is not None
        pipe.write(line)


def _folder() -> Path:
    with _STATE.lock:
        if _STATE.folder is None or _STATE.temporary is None or not _STATE.folder.is_dir():
            _STATE.folder = Path(tempfile.mkdtemp(prefix="axiloom-programs-"))
            _tell(True, 0, str(_STATE.folder))
            _STATE.temporary = plain(_STATE.folder, _STATE.until_the_end)
        return _STATE.temporary


def plain(folder: Path, stack: ExitStack) -> Path:
    """`folder`, by another name until `stack` is closed if programs would misread its own: zig's lists of
    dependencies end at a newline, and LLVM puts digits in the place of each ``%``."""
    if not {*"\n%"} & {*str(folder)}:
        return folder
    number = os.open(folder, os.O_PATH)
    stack.callback(os.close, number)
    return Path(f"/proc/{os.getpid()}/fd/{number}")


@atexit.register
def _remove_folder() -> None:
    if _STATE.folder is not None:
        shutil.rmtree(_STATE.folder, ignore_errors=True)


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """`path`, a file or a folder, is removed at the end of the block, and if this process is killed."""
    _tell(True, 0, str(path.absolute()))
    try:
        yield path
    finally:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        _tell(False, 0, str(path.absolute()))


@contextmanager
def scratch(prefix: str = "axiloom-", place: Path | None = None) -> Iterator[Path]:
    """A new folder for the time of the block, in `place` (default: the system's for temporary files)."""
    with temporary(Path(tempfile.mkdtemp(prefix=prefix, dir=place))) as folder:
        yield folder


# --- programs -----------------------------------------------------------------------------------------


def start(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """As ``subprocess.Popen`` with these options, in a session of its own; :func:`ended` must be called.

    Raises :exc:`StoppedError` once this process is told to end.
    """
    if _STATE.stopping:
        raise StoppedError("no further program is started")
    with suppress(OSError):  # without a place for a folder the program says so
        options["env"] = {**(options.get("env") or os.environ), "TMPDIR": str(_folder())}
    main = threading.current_thread() is threading.main_thread()
    _STATE.starting += main
    try:
        process = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
        _STATE.running[process.pid] = process, _JOB.get()
        _tell(True, process.pid)
    finally:
        _STATE.starting -= main
    if _STATE.waiting is not None and main:
        _end(_STATE.waiting)
    if _STATE.stopping:
        stop(process)
        raise StoppedError("no further program is started")
    return process


def kill(process: subprocess.Popen[Any]) -> None:
    """The program and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def ended(process: subprocess.Popen[Any]) -> None:
    """The program has ended: nothing of it is to be killed any more."""
    _STATE.running.pop(process.pid, None)
    _tell(False, process.pid)


def stop(process: subprocess.Popen[Any]) -> None:
    """Kill the program with all that it started, and wait for its end."""
    kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    ended(process)


def run(
    command: Sequence[str | Path],
    *,
    input: str | None = None,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """As ``subprocess.run`` with these options, and text taken from both outputs unless they say otherwise.

    Raises ``TimeoutExpired``; the program with all that it started is dead then, and after every other
    exception. It reads nothing that was not given as `input`.
    """
    defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    options = {**defaults, "stdin": subprocess.DEVNULL if input is None else subprocess.PIPE, **options}
    # Its messages are looked through.
    options["env"] = {**(options.get("env") or os.environ), "LC_ALL": "C.UTF-8", "LANGUAGE": ""}
    process = start(command, **options)
    try:
        output, errors = process.communicate(input, timeout)
    except BaseException:
        stop(process)
        raise
    ended(process)
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args, output, errors)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def all_of(jobs: Sequence[Callable[[], T]], width: int) -> list[T]:
    """What each of `jobs` returns, `width` at a time. If one fails, or at an interrupt, those that run are
    killed, and no other is started."""
    mine = object()

    def of_mine(job: Callable[[], T]) -> T:
        _JOB.set((*_JOB.get(), mine))
        return job()

    with ThreadPoolExecutor(width) as pool:
        waiting = [pool.submit(copy_context().run, of_mine, job) for job in jobs]
        try:
            done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
            for failed in done:
                failed.result()
            return [future.result() for future in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while any(future.running() for future in waiting):
                _kill_all(mine)
            raise


def _kill_all(job: object) -> None:
    """The programs that it started, or that a job inside it did."""
    for process, jobs in _STATE.running.copy().values():
        if job in jobs:
            kill(process)
    time.sleep(0.02)


@contextmanager
def meanwhile(job: Callable[[], object]) -> Iterator[None]:
    """`job` runs in a thread beside the block, and perhaps for longer; its error is dropped, so that whoever
    needs what it makes makes it again. If the block fails, the programs of `job` are killed."""

    mine, around = object(), _JOB.get()

    def run() -> None:
        _JOB.set((*around, mine))
        with suppress(Exception):
            job()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        while thread.is_alive():
            _kill_all(mine)
        raise


# --- signals ------------------------------------------------------------------------------------------


def _end(number: signal.Signals) -> None:
    """Kill all that runs, and unwind the stack."""
    _STATE.waiting, _STATE.stopping = None, True
    for process, _ in _STATE.running.copy().values():
        kill(process)
    if number is signal.SIGINT:
        raise InterruptedByUserError
    raise EndedError(number)


def _handle(number: int, _frame: FrameType | None) -> None:
    if _STATE.starting:
        _STATE.waiting = signal.Signals(number)
        return
    _end(signal.Signals(number))


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """A signal that ends a process unwinds the stack, with all programs killed first.

    SIGINT raises KeyboardInterrupt, the others :exc:`EndedError`. A signal that is ignored stays so (nohup).
    Only the main thread can do this; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    mine = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    pipe = _guard().stdin
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    woken = signal.set_wakeup_fd(pipe.fileno(), warn_on_full_buffer=False)
    for number in mine:
        signal.signal(number, _handle)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])
        signal.set_wakeup_fd(woken)
        os.set_blocking(pipe.fileno(), True)
        _STATE.stopping = False
