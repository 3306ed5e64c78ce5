"""Source archive and wheel, and five people's ways from the wheel: ``python -m tools.package [PYTHON ...]``.

For each Python (default: the one that runs this) it builds the wheel, with the libraries of
``tools/prebuilt.py``, and the source archive. It installs each of the two in a virtual environment outside
the checkout, with the versions of ``constraints.txt``. Then five people (:data:`PEOPLE`) type their commands,
each in an empty folder, and each way ends with a result of its own. It prints a line a command, and for each
person the commands typed, the words of the pages read, the minutes, and those of a CPU. It exits with 1 if a
command fails. It needs the package index.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CI = """
import numpy as np


def test_driver(soc):
    a, b = np.random.default_rng(7).integers(-1000, 1000, (2, 64, 64), np.int32)
    result = soc("v3", size=16).run(
        "soc_fixture/driver.c", inputs={"A": a, "B": b}, outputs={"C": ((64, 64), "int32")}
    )
    assert (result.outputs["C"] == a @ b).all()
    assert result.counters["cache-misses"] < 10_000


def test_instruction_set(prove):
    prove("v1", size=4)
"""
"""What a team has its CI run."""


@dataclass(frozen=True)
class Person:
    """Somebody with a purpose, who has the wheel (WHEEL) and an empty folder."""

    who: str
    reads: tuple[str, ...]
    """Pages in docs/, for their words."""
    types: tuple[str, ...]
    """Commands; `cd` goes to a folder."""
    result: str
    """What the last one says."""
    file: str = ""
    """Text of test_mine.py, if there is one."""


PEOPLE = (
    Person(
        "an owner of RTL",
        ("start",),
        (
            "axiloom doctor",
            "axiloom example hardware",
            "cd hardware/stream_matmul",
            "axiloom spec from-rtl matmul_stream.sv multiply.sv --top matmul_stream -o mine.json",
            "axiloom spec check mine.json",
            "axiloom run matmul:8x8x8 --spec mine.json --rtl matmul_stream.sv multiply.sv "
            "--top matmul_stream",
        ),
        "equal to NumPy in all 64 elements",
    ),
    Person(
        "a writer of drivers",
        ("driver",),
        ("axiloom example soc_fixture", "axiloom simulate soc_fixture/driver.c --accel v3 --size 16"),
        "cache-misses",
    ),
    Person(
        "somebody with a network",
        ("networks",),
        ("axiloom example notebooks", "axiloom run notebooks/digits_cnn.mlir --accel conv_v4,v4_16"),
        "Result: ",
    ),
    Person(
        "somebody with loops",
        ("nests",),
        (
            "pip install -q WHEEL[nests]",
            "axiloom example loops",
            "axiloom nest loops/product.c --schedule loops/product.sched --run",
        ),
        "825 predicted, 825 simulated",
    ),
    Person(
        "a team's CI",
        ("python",),
        ("pip install -q WHEEL[prove]", "axiloom example soc_fixture", "python -m pytest -q test_mine.py"),
        "2 passed",
        CI,
    ),
)


def run(name: str, words: Sequence[str | Path], folder: Path, path: Path | None = None) -> str | None:
    """What the command writes, or None if it does not exit with 0; then the end of that is printed. `path`: a
    folder of programs before all others."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if path:
        env["PATH"] = f"{path}{os.pathsep}{env['PATH']}"
    started = time.monotonic()
    done = subprocess.run([*map(str, words)], cwd=folder, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - started
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {seconds:5.0f} s  {name}", flush=True)
    if done.returncode:
        print((done.stdout + done.stderr)[-3000:])
        return None
    return done.stdout


def archives(python: str, folder: Path) -> list[Path]:
    """The source archive of what is committed, and the wheel that is built from it."""
    source, environment, libraries = folder / "source", folder / "build", folder / "prebuilt"
    # setuptools leaves files behind where it builds
    subprocess.run(["git", "clone", "-q", ROOT, source], check=True)
    subprocess.run([python, "-m", "venv", environment], check=True)
    ours = environment / "bin" / "python"
    subprocess.run([ours, "-m", "pip", "install", "-q", "build"], check=True)
    if run("libraries", [sys.executable, "-m", "tools.prebuilt", libraries], ROOT) is None:
        return []
    os.environ["AXILOOM_PREBUILT"] = str(libraries)
    if run("build", [ours, "-m", "build", "--outdir", folder / "dist", source], folder) is None:
        return []
    return sorted((folder / "dist").iterdir())


def ways(python: str, archive: Path, folder: Path) -> Iterator[bool]:
    """Whether the installation and each way went well."""
    kind = "wheel" if archive.suffix == ".whl" else "sdist"
    environment = folder / f"venv-{kind}"
    os.environ["AXILOOM_CACHE"] = str(folder / f"cache-{kind}")  # nothing is built yet
    subprocess.run([python, "-m", "venv", environment], check=True)
    binaries = environment / "bin"
    install = [binaries / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", archive]
    installed = run(f"{kind}: pip install", install, folder) is not None
    yield installed
    for number, person in enumerate(PEOPLE if installed else ()):
        place = folder / f"{kind}-{number}"
        place.mkdir()
        yield goes(person, archive, binaries, place)


def goes(person: Person, archive: Path, binaries: Path, place: Path) -> bool:
    """Whether the person came to the result. All commands are typed, also after one that failed."""
    started, before, said = time.monotonic(), _cpu(), ""
    if person.file:
        (place / "test_mine.py").write_text(person.file, encoding="utf-8")
    right, folder = True, place
    for command in person.types:
        words = shlex.split(command.replace("WHEEL", str(archive)))
        if words[0] == "cd":
            folder = place / words[1]
            continue
        if words[:2] == ["pip", "install"]:
            words = ["python", "-m", *words, "-c", str(ROOT / "constraints.txt")]
        output = run(
            command, [shutil.which(words[0], path=binaries) or words[0], *words[1:]], folder, binaries
        )
        right, said = right and output is not None, output or ""
    right = right and person.result in said
    read = sum(len((ROOT / "docs" / f"{page}.md").read_text().split()) for page in person.reads)
    typed, minutes = len(person.types), (time.monotonic() - started) / 60
    print(
        f"{'' if right else 'NOT '}there: {person.who}: {typed} commands, {read:,} words, {minutes:.1f} min, "
        f"{(_cpu() - before) / 60:.1f} min of CPU"
    )
    return right


def _cpu() -> float:
    """Seconds that all commands have taken of a CPU."""
    times = os.times()
    return times.children_user + times.children_system


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
                for well in ways(python, archive, folder):
                    right &= well
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
