"""Two modules side by side in Icarus."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def first_line(folder: Path, *files: str) -> str:
    """What module `bench` of these files prints first."""
    compile_ = ["iverilog", "-g2012", "-o", "bench", "-s", "bench", *files]
    subprocess.run(compile_, cwd=folder, check=True)
    runs = shutil.which("vvp")
    assert runs
    told = subprocess.run([runs, "bench"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return told.splitlines()[0]
