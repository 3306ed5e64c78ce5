"""CP-SAT in a process of its own, kept warm: what takes longer than it may is killed."""

from __future__ import annotations

import atexit
import pickle
import select
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

GRACE_S = 10.0
"""Beyond the solver's own limit, for building the model."""


@dataclass
class Worker:
    running: subprocess.Popen[bytes] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: tuple[Any, ...], seconds: float) -> Any:
        """The answer, None if there is none in time."""
        with self.lock:
            if self.running is None or self.running.poll() is not None:
                program = [sys.executable, "-m", "axiloom.selection.allocate.worker"]
                self.running = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self.running.stdin is not None
            assert self.running.stdout is not None
            try:
                pickle.dump(request, self.running.stdin)
                self.running.stdin.flush()
                ready, _, _ = select.select([self.running.stdout], [], [], seconds + GRACE_S)
                if ready:
                    return pickle.load(self.running.stdout)
            except (BrokenPipeError, EOFError, pickle.UnpicklingError):
                pass
            except BaseException:
                self.stop()
                raise
            self.stop()
            return None

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()
            self.running = None


WORKER = Worker()
atexit.register(WORKER.stop)


def ask(request: tuple[Any, ...], seconds: float) -> Any:
    """``("solve", Ask)`` or ``("place", lives, capacity, seconds)``, answered by :mod:`exact`."""
    return WORKER.ask(request, seconds)


def warm() -> None:
    """Starts the process and imports the solver."""
    WORKER.ask(("place", (), 1, 1.0), 60.0)
