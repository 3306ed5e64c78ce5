"""A change of an instruction set: time until model, rules, allocation, driver, RTL and proofs stand again.

The change makes of QKV its second variant: a memory more, a transpose, and gemm takes its right factor from
there. Before it, in a cache of its own, attention has run on the first variant, so compilers and what does
not change are there. After it come three commands, one after the other: attention on the new text (model,
rules, selection, allocation, driver, RTL, simulation, results), the proof of its text, and that of its RTL.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "selection" / "attention.mlir"
BEFORE, AFTER = "qkv", "qkv_double"
SMALL = ("-D", "N=8", "-D", "D0=256", "--lanes", "8", "--commands", "1")
"""Of the RTL's proof: rows of eight elements, one command of each instruction."""
ASKED_S = 60.0


@dataclass(frozen=True)
class Took:
    """Seconds of a command: by the clock, and of CPU with all that it started."""

    clock: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.clock:6.1f} s ({self.cpu:.1f} of CPU)"


def spent() -> float:
    """Seconds of CPU of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(words: Sequence[str], folder: Path) -> tuple[Took, str]:
    """What a command took, and the line of its output that says what came of it."""
    begun, before = time.perf_counter(), spent()
    done = subprocess.run(
        [sys.executable, "-m", "axiloom", *words],
        cwd=folder,
        env={**os.environ, "AXILOOM_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    took = Took(time.perf_counter() - begun, spent() - before)
    if done.returncode:
        raise SystemExit(f"axiloom {' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = done.stdout.splitlines()
    return took, next(line for line in lines if line.startswith("Result: ") or " properties: " in line)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="axiloom-change-") as temporary:
        folder = Path(temporary)
        text = EXAMPLE.read_text(encoding="utf-8").replace("32x", "64x")  # of the size that QKV computes
        (folder / EXAMPLE.name).write_text(text, encoding="utf-8")
        run = ("run", EXAMPLE.name, "--accel")
        took, said = timed([*run, BEFORE], folder)
        print(f"{took}  before the change: axiloom {' '.join(run)} {BEFORE}: {said}", flush=True)
        clock = cpu = 0.0
        for words in (
            [*run, AFTER],
            ["prove", "spec", "--isa", AFTER],
            ["prove", "rtl", "--isa", AFTER, *SMALL],
        ):
            took, said = timed(words, folder)
            clock, cpu = clock + took.clock, cpu + took.cpu
            print(f"{took}  axiloom {' '.join(words)}: {said}", flush=True)
    print(f"{Took(clock, cpu)}  in all, {ASKED_S:.0f} s asked")
