"""The libraries that a wheel brings built, in FOLDER: ``python -m tools.prebuilt FOLDER``.

``zig c++`` puts its C++ library into them and needs a glibc of 2012 (manylinux2014) outside, whatever this
machine has. ``AXILOOM_PREBUILT=FOLDER python -m build --wheel`` takes them into a wheel for this platform.
It takes two to four minutes of CPU, as zig builds its C++ library first.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from axiloom.cosim import core, replay
from axiloom.cosim.prebuilt import KEYS

TARGET = "x86_64-linux-gnu.2.17"
_FLAGS = ("-target", TARGET, "-g0", "-s", "-fno-sanitize=undefined", "-shared")
_BESIDE = "$ORIGIN/../../../unicorn/lib"
"""Where Unicorn's library lies as seen from ours: both packages are in one folder."""


def build(folder: Path) -> None:
    """Both libraries and their keys. CalledProcessError if one does not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = core.engine()
    unicorn = (f"-L{engine.parent}", f"-l:{engine.name}", f"-Wl,-rpath,{_BESIDE}")
    units = [path for path in core.sources() if path.suffix == ".cpp"]
    _compile(folder / core.LIBRARY, (*core.FLAGS, *core.include()), units, unicorn)
    _compile(folder / replay.LIBRARY, (*replay.FLAGS, f"-I{core.NATIVE}"), [replay.HERE / "replay.cpp"], ())
    keys = {core.LIBRARY: core.portable_key(), replay.LIBRARY: replay.portable_key()}
    (folder / KEYS).write_text(json.dumps(keys), encoding="utf-8")


def _compile(library: Path, flags: tuple[str, ...], units: list[Path], link: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "ziglang", "c++", *_FLAGS, *flags, *map(str, units), *link]
    subprocess.run([*command, "-o", str(library)], check=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
