"""A debugger for a simulated program: the socket at which gdb calls. All else is ``native/debug``."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from axiloom.base.errors import UsageError
from axiloom.cosim.job import Job

HOST = "127.0.0.1"
FOR_EVER_S = 1e6
"""Wall time of a run whose time a person decides."""


def say(job: Job) -> None:
    """How to call, when the simulator is about to listen."""
    if job.gdb is None:
        return
    port = socket.fromfd(job.gdb, socket.AF_INET, socket.SOCK_STREAM).getsockname()[1]
    print(
        f"waiting for gdb: gdb-multiarch {job.elf} -ex 'target remote {HOST}:{port}'",
        file=sys.stderr,
        flush=True,
    )


def listen(port: int) -> socket.socket:
    """A socket for one debugger of this machine, at which nobody listens yet: gdb's patience is short, and
    tries again. Port 0: a free one. UsageError if it is taken."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((HOST, port))
    except OSError as error:
        server.close()
        raise UsageError(f"--gdb {port}: {error.strerror}; take another port, or 0 for a free one") from None
    return server


@contextmanager
def waiting(job: Job, port: int | None) -> Iterator[Job]:
    """`job`, held before its first instruction until gdb calls at the port; None: it just runs."""
    if port is None:
        yield job
        return
    with listen(port) as server:
        yield replace(job, gdb=server.fileno(), timeout_s=FOR_EVER_S)
