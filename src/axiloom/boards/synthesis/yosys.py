"""Yosys, ABC and nextpnr of the Python environment, the same programs on every machine."""

from __future__ import annotations

import importlib.metadata
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from axiloom.base import extras, processes
from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files import yosys

_ZEROS = re.compile(
    r"^ *initial begin : \w+_at_start\n *integer i;\n *for .*\[i\] = \d+'[dh]0+;\n *end\n", re.MULTILINE
)

_ASKED_S = 0.5

_REWRITTEN = -7
"""SIGBUS. YoWASP maps its program from a file in the user's cache. The first processes on a machine each
write that file, and each takes it away from those that began before. The second attempt finds it whole."""


def version(package: str = yosys.PACKAGE) -> str:
    """Version of an installed package. Raises :exc:`BuildError` with the command that brings it."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(f"{package} is not installed: {extras.install('synth')}") from None


def without_zeros(verilog: str) -> str:
    """Memories are zero after configuration without being told; telling costs Yosys minutes."""
    return _ZEROS.sub("", verilog)


def in_their_folder(theirs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """A user's files under other paths than any of ours."""
    return tuple((f"user/{name}", text) for name, text in theirs)


def read_theirs(theirs: Sequence[tuple[str, str]]) -> str:
    """The lines of a script that read them."""
    return "".join(
        f"read_verilog {'-sv ' if name.endswith('.sv') else ''}user/{name}\n" for name, _ in theirs
    )


def run(script: str, folder: Path, purpose: str) -> None:
    """Run a Yosys script in `folder`. Raises :exc:`BuildError` with what Yosys says."""
    (folder / "script.ys").write_text(script, encoding="utf-8")
    code, output, errors = _ran(yosys.command("script.ys"), folder)
    _check(code, output, errors, f"Yosys could not {purpose}")


def abc(script: str, folder: Path, stop: Callable[[], bool] = lambda: False, *, cpu_s: int = 0) -> None:
    """Run the file `script` of ABC's commands in `folder`, until `stop` says so.

    Raises :exc:`BuildError` if ABC ends badly, or has used `cpu_s` seconds of CPU; :exc:`StoppedError`.
    """
    command = [str(yosys.folder() / "yosys-abc"), "-s", "-f", script]
    if cpu_s:
        command = ["sh", "-c", f'ulimit -S -t {cpu_s}; exec "$@"', "sh", *command]
    code, output, errors = _ran(command, folder, stop)
    _check(code, output, errors, "ABC ended")


class StoppedError(Exception):
    """A program was stopped as it was asked to be."""


def call(
    module: str,
    function: str,
    arguments: Sequence[str],
    folder: Path,
    failure: str,
    stop: Callable[[], bool] = lambda: False,
    *,
    cpu_s: int,
) -> None:
    """Call a program of YoWASP in `folder`, until `stop` says so, asked every few seconds, or until it has
    used `cpu_s` seconds of CPU.

    Raises :exc:`BuildError`: `failure`, and its last line that says why; :exc:`StoppedError`.
    """
    # In a process of its own: it is WebAssembly, and keeps its memory.
    program = (
        f"import resource, sys, {module}; resource.setrlimit(resource.RLIMIT_CPU, ({cpu_s}, {cpu_s + 1})); "
        f"sys.exit({module}.{function}(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, *arguments]
    code, output, errors = _ran(command, folder, stop)
    if code == _REWRITTEN:
        code, output, errors = _ran(command, folder, stop)
    if code == -signal.SIGXCPU:
        raise StoppedError
    _check(code, output, errors, failure)


def _check(code: int, output: str, errors: str, failure: str) -> None:
    if code == 0:
        return
    lines = [line for line in (errors + output).splitlines() if line.strip()]
    reasons = [line for line in lines if "ERROR" in line or "Error" in line]
    raise BuildError(f"{failure}: {(reasons or lines or [f'exit code {code}'])[-1].strip()}")


def _ran(
    command: Sequence[str], folder: Path, stop: Callable[[], bool] = lambda: False
) -> tuple[int, str, str]:
    """Exit code and what it wrote to both of its outputs."""
    running = processes.start(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, errors = _ended(running, stop)
    finally:
        processes.stop(running)
    return running.returncode, output, errors


def _ended(running: subprocess.Popen[str], stop: Callable[[], bool]) -> tuple[str, str]:
    while True:
        try:
            return running.communicate(timeout=_ASKED_S)
        except subprocess.TimeoutExpired:
            if stop():
                raise StoppedError from None
