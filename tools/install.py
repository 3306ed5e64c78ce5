"""Sets up ``.venv``, once, and says where it is: ``python tools/install.py FOLDER [EXTRAS]``.

pip installs this checkout with the versions of constraints.txt. Each large download is shown;
if it fails, all of it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
_DOWNLOAD = re.compile(
    r"(?P<how>Downloading|Processing|Using cached) (?P<file>\S+\.whl)(?:.* \((?P<mb>[\d.]+) MB\))?"
)
_LARGE_MB = 10
_LASTS = {False: "0.2 GB to download, about a minute", True: "what tests need, too: two or three minutes"}


def line(text: str) -> tuple[str, float]:
    """What is shown of a line of pip, perhaps nothing, and the megabytes that it downloads."""
    found = _DOWNLOAD.search(text)
    if text.startswith("Installing collected"):
        return "unpacking and compiling them", 0
    if not found or found["how"] != "Downloading" or not found["mb"]:
        return "", 0
    size = float(found["mb"])
    name, version = found["file"].rpartition("/")[2].split("-")[:2]
    return (f"downloading {name} {version}, {size:.0f} MB" if size >= _LARGE_MB else ""), size


def install(folder: Path, extras: str) -> int:
    """pip's exit code."""
    begin, loaded, said = time.monotonic(), 0.0, []
    print(f"setting up {folder}, once: {_LASTS[bool(extras)]}", flush=True)
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    place = f".[{extras}]" if extras else "."
    pip = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar=off",
    ]
    command = [*map(str, pip), "-c", "constraints.txt", "-e", place]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        for text in running.stdout:
            said.append(text)
            shown, size = line(text.strip())
            loaded += size
            if shown:
                print(f"  {shown} ({time.monotonic() - begin:.0f} s so far)", flush=True)
    if running.returncode:
        print("".join(said), file=sys.stderr)
    else:
        print(f"{folder} is there: {loaded:.0f} MB downloaded, {time.monotonic() - begin:.0f} s", flush=True)
    return running.returncode


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1]), ",".join(sys.argv[2:])))
