"""Source archive and wheel, each in a fresh environment: ``python -m tools.package [PYTHON ...]``.

For each Python (default: the one that runs this) and each of the two archives it makes a virtual environment
outside the checkout, installs the archive with the versions of ``constraints.txt``, and runs there `axiloom
doctor`, an example from `axiloom example`, one run, and the example of the pytest fixture. It prints a line a
step, and exits with 1 if a step fails. It needs the package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
STEPS: tuple[tuple[str, ...], ...] = (
    ("axiloom", "doctor"),
    ("axiloom", "docs"),
    ("axiloom", "example", "soc_fixture"),
    ("axiloom", "example", "hardware"),
    ("axiloom", "run", "matmul:8x8x8", "--accel", "v3_4", "--json", "a.json"),
    (
        "axiloom",
        "run",
        "matmul:8x8x8",
        "--spec",
        "hardware/start_matmul/matmul_start.json",
        "--rtl",
        "hardware/start_matmul/matmul_start.v",
        "--top",
        "matmul_start",
        "--json",
        "b.json",
    ),
    ("axiloom", "report", "a.json", "b.json"),
    ("python", "-m", "pytest", "-q", "soc_fixture"),
)
"""Commands in the fresh environment, from an empty folder."""


def run(name: str, words: Sequence[str | Path], folder: Path) -> bool:
    """Whether the command exits with 0; if not, the end of what it wrote is printed."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    started = time.monotonic()
    done = subprocess.run([*map(str, words)], cwd=folder, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - started
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {seconds:5.0f} s  {name}", flush=True)
    if done.returncode:
        print((done.stdout + done.stderr)[-3000:])
    return done.returncode == 0


def archives(python: str, folder: Path) -> list[Path]:
    """The source archive of what is committed, and the wheel that is built from it."""
    source, environment = folder / "source", folder / "build"
    subprocess.run(
        ["git", "clone", "-q", ROOT, source], check=True
    )  # setuptools leaves files behind where it builds
    subprocess.run([python, "-m", "venv", environment], check=True)
    ours = environment / "bin" / "python"
    subprocess.run([ours, "-m", "pip", "install", "-q", "build"], check=True)
    if not run("build", [ours, "-m", "build", "--outdir", folder / "dist", source], folder):
        return []
    return sorted((folder / "dist").iterdir())


def steps(python: str, archive: Path, folder: Path) -> Iterator[bool]:
    """Whether each step went well, from the installation on."""
    kind = "wheel" if archive.suffix == ".whl" else "sdist"
    environment, place = folder / f"venv-{kind}", folder / f"work-{kind}"
    place.mkdir()
    subprocess.run([python, "-m", "venv", environment], check=True)
    binaries = environment / "bin"
    install = [
        binaries / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "-c",
        ROOT / "constraints.txt",
        archive,
        "pytest",
    ]
    installed = run(f"{kind}: pip install", install, place)
    yield installed
    if installed:
        yield from (
            run(f"{kind}: {' '.join(step)}", [binaries / step[0], *step[1:]], place) for step in STEPS
        )


def main(pythons: Sequence[str]) -> int:
    right = True
    for python in pythons or [sys.executable]:
        print(
            subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
            flush=True,
        )
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            built = archives(python, folder)
            right &= len(built) == 2
            for archive in built:
                for well in steps(python, archive, folder):  # all steps, also after one that failed
                    right &= well
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
