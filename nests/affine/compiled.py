"""C compiled by the host's compiler and loaded, once for each text: libraries are kept by content hash.

They lie in ``nests`` of the cache folder.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import platformdirs

from axiloom import processes
from axiloom.errors import BuildError

_FLAGS = ("-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-w")
"""No fast-math: each sum and product is rounded by itself, in the order of the text."""


@dataclass(frozen=True)
class Language:
    name: str
    compilers: tuple[str, ...]
    variable: str
    """Of the environment, for another compiler."""
    standard: str

    def compiler(self) -> tuple[str, ...] | None:
        """The command, or None if there is none."""
        return _compiler(self, os.environ.get(self.variable))


C = Language("c", ("cc", "gcc", "clang"), "CC", "gnu11")
CPP = Language("c++", ("c++", "g++", "clang++"), "CXX", "gnu++17")


@cache
def _compiler(language: Language, chosen: str | None) -> tuple[str, ...] | None:
    candidates = [shlex.split(chosen)] if chosen else [[each] for each in language.compilers]
    return next((tuple(each) for each in candidates if shutil.which(each[0])), None)


def available() -> bool:
    """Whether there is a C compiler."""
    return C.compiler() is not None


def _folder() -> Path:
    root = os.environ.get("AXILOOM_CACHE")
    return (Path(root) if root else Path(platformdirs.user_cache_dir("axiloom"))) / "nests"


def library(code: str, language: Language = C, flags: Sequence[str] = ()) -> Path:
    """The shared library of this text. Raises BuildError if there is no compiler, or it refuses the text."""
    command = language.compiler()
    if command is None:
        raise BuildError(
            f"no {language.name.upper()} compiler to run programs fast: install gcc or clang, or set "
            f"{language.variable}"
        )
    all_flags = [*_FLAGS, f"-std={language.standard}", *flags]
    key = hashlib.sha256("\0".join([*command, *all_flags, code]).encode()).hexdigest()[:24]
    final = _folder() / f"{key}.so"
    if final.exists():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=".build.") as folder:
        built = Path(folder) / final.name
        run = processes.run(
            [*command, *all_flags, "-x", language.name, "-", "-o", str(built), "-lm"],
            input=code,
        )  # fmt: skip
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if "error" in line]
            raise BuildError(
                f"{command[0]} refuses the program's {language.name.upper()}: {' '.join(errors[:1])}"
            )
        built.replace(final)  # whole or not at all, whoever else builds the same
    return final


def call(library: Path, entry: str, arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Run ``void entry(void **arrays)`` on contiguous arrays, in place."""
    function = getattr(ctypes.CDLL(str(library)), entry)
    function.restype = None
    pointers = (ctypes.c_void_p * max(1, len(arrays)))(*[each.ctypes.data for each in arrays])
    assert all(each.flags.c_contiguous and each.dtype != np.object_ for each in arrays)
    function(pointers)
