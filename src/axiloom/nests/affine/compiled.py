"""C compiled by the host's compiler and loaded, once for each text: libraries are kept by content hash."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError

_FLAGS = (
    "-O2",
    "-ftree-vectorize",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fPIC",
    "-shared",
    "-w",
)
"""No fast-math: each sum and product is rounded by itself, in the order of the text."""


_LIBRARY = "program.so"


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
    candidates = [shlex.split(chosen)] if chosen else [[compiler] for compiler in language.compilers]
    return next((tuple(candidate) for candidate in candidates if shutil.which(candidate[0])), None)


def available() -> bool:
    """Whether there is a C compiler."""
    return C.compiler() is not None


def library(code: str, language: Language = C, flags: Sequence[str] = ()) -> Path:
    """The shared library of this text. Raises BuildError if there is no compiler, or it refuses the text."""
    command = language.compiler()
    if command is None:
        raise BuildError(
            f"no {language.name.upper()} compiler to run programs fast: install gcc or clang, or set "
            f"{language.variable}"
        )
    all_flags = [*_FLAGS, f"-std={language.standard}", *flags]

    def build(folder: Path) -> None:
        words = [*command, *all_flags, "-x", language.name, "-", "-o", str(folder / _LIBRARY), "-lm"]
        run = processes.run(words, input=code)
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if "error" in line]
            raise BuildError(
                f"{command[0]} refuses the program's {language.name.upper()}: {' '.join(errors[:1])}"
            )

    return cached_build("nests", content_hash([*command, *all_flags], code), build) / _LIBRARY


def call(library: Path, entry: str, arrays: Sequence[npt.NDArray[Any]]) -> None:
    """Run ``void entry(void **arrays)`` on contiguous arrays, in place."""
    function = getattr(ctypes.CDLL(str(library)), entry)
    function.restype = None
    pointers = (ctypes.c_void_p * max(1, len(arrays)))(*[array.ctypes.data for array in arrays])
    assert all(array.flags.c_contiguous and array.dtype != np.object_ for array in arrays)
    function(pointers)
