"""C compiled by the host's compiler and loaded, once for each text: libraries are kept by content hash.

They lie in ``nests`` of the cache folder that ``cosim/build/cache.py`` describes, which this room may not
import.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import platformdirs

from axiloom.errors import BuildError

FLAGS = (
    "-O2",
    "-ftree-vectorize",
    "-std=gnu11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fPIC",
    "-shared",
    "-w",
)
"""No fast-math: each sum and product is rounded by itself, in the order of the text."""


def available() -> bool:
    """Whether there is a C compiler."""
    return _compiler(os.environ.get("CC")) is not None


@cache
def _compiler(chosen: str | None) -> tuple[str, ...] | None:
    candidates = [shlex.split(chosen)] if chosen else [["cc"], ["gcc"], ["clang"]]
    return next((tuple(each) for each in candidates if shutil.which(each[0])), None)


def _folder() -> Path:
    root = os.environ.get("AXILOOM_CACHE")
    return (Path(root) if root else Path(platformdirs.user_cache_dir("axiloom"))) / "nests"


def library(code: str) -> Path:
    """The shared library of this C text. Raises BuildError if there is no compiler, or it refuses the text."""
    command = _compiler(os.environ.get("CC"))
    if command is None:
        raise BuildError("no C compiler to run programs fast: install gcc or clang, or set CC")
    key = hashlib.sha256("\0".join([*command, *FLAGS, code]).encode()).hexdigest()[:24]
    final = _folder() / f"{key}.so"
    if final.exists():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=".build.") as folder:
        built = Path(folder) / final.name
        run = subprocess.run(
            [*command, *FLAGS, "-x", "c", "-", "-o", str(built), "-lm"],
            input=code, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode:
            raise BuildError(f"{command[0]} refuses the program's C: {run.stderr.strip().splitlines()[:1]}")
        built.replace(final)  # whole or not at all, whoever else builds the same
    return final


def call(code: str, entry: str, arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Run ``void entry(void **arrays)`` on contiguous arrays, in place."""
    function = getattr(ctypes.CDLL(str(library(code))), entry)
    function.restype = None
    pointers = (ctypes.c_void_p * max(1, len(arrays)))(*[each.ctypes.data for each in arrays])
    assert all(each.flags.c_contiguous and each.dtype != np.object_ for each in arrays)
    function(pointers)
