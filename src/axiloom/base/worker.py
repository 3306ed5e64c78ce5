"""A process of its own for functions of ours that call what cannot be interrupted: it can be killed.

It is started when it is first asked, stays warm, and ends with this process, however that ends.

    with Worker() as worker:
        proof = worker.ask(judge, rule, seconds=20)

Both ends are the same program of the same user, so they exchange pickles.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, TypeVar

from axiloom.base import processes

T = TypeVar("T")
PATIENCE = 10
"""A second of its limit may take so many by the clock: on a busy machine it gets a part of a core."""


class NoAnswerError(Exception):
    """The worker did not answer in time (`late`), or it died."""

    def __init__(self, late: bool) -> None:
        self.late = late
        super().__init__("no answer in time" if late else "the process ended by itself")


class Worker:
    """One such process. A new one is started after it was killed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[Any] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, function: Callable[..., T], *arguments: Any, seconds: float) -> T:
        """What ``function(*arguments)`` returns there; a function of a module.

        Raises NoAnswerError if that takes more of the processor's time, or of the clock's `PATIENCE` times as
        much, or if it dies; it is killed then, and after every other exception here.
        """
        with self._lock:
            self.send(function, *arguments)
            answer: T = self.receive(seconds)
            return answer

    def send(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask without waiting; :meth:`receive` gives the answer, or each that a generator yields."""
        if self.process is not None and self.process.poll() is not None:
            self.stop()
        with self._killed_by_errors():
            self._started().send((function, arguments))

    def receive(self, seconds: float) -> Any:
        """The next answer. Raises NoAnswerError, as :meth:`ask` does."""
        with self._killed_by_errors():
            connection, begun = self._started(), time.monotonic()
            worked = self._worked()
            while not connection.poll(max(0.01, left := seconds - (self._worked() - worked))):
                if left <= 0 or time.monotonic() - begun > PATIENCE * seconds:
                    raise NoAnswerError(late=True)
            return connection.recv()

    def _worked(self) -> float:
        """Seconds of the processor that the process has had; by the clock where nobody says that."""
        assert self.process is not None
        try:
            stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return time.monotonic()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    @contextmanager
    def _killed_by_errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError):
            self.stop()
            raise NoAnswerError(late=False) from None
        except BaseException:
            self.stop()
            raise

    def fileno(self) -> int:
        """For :func:`multiprocessing.connection.wait`."""
        return self._started().fileno()

    def _started(self) -> Connection[Any, Any]:
        if self._connection is None:
            self._connection, theirs = Pipe()
            with theirs:
                # The channel is not standard output: what a library prints goes to the errors.
                self.process = processes.start(
                    [sys.executable, "-m", __name__, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=2,
                )
        return self._connection

    def stop(self) -> None:
        """Kill it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self.process is not None:
            processes.stop(self.process)
            self.process = None


def main(descriptor: int) -> None:
    """The other end: questions come until it is closed."""
    with Connection(descriptor) as connection:
        while True:
            try:
                function, arguments = connection.recv()
            except EOFError:
                return
            answer = function(*arguments)
            for value in answer if isinstance(answer, Iterator) else [answer]:
                connection.send(value)


if __name__ == "__main__":
    main(int(sys.argv[1]))
