"""A model as the compiler takes it: MLIR text, its weights, and the two files that hold them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import UsageError
from axiloom.base.files import check_file, read_arrays, whole, write_whole
from axiloom.frontend.mlir_file import read_mlir, split
from axiloom.frontend.referee import Referee

Array = np.ndarray[Any, Any]

WEIGHT = "axiloom.weight"
"""Attribute of a function's argument: the name of its array in the `.npz`. Other arguments are inputs."""

SOURCE = "axiloom.compared"
"""Attribute of a function in integers: which model it is of, and how near to it by whose word."""
TYPES = "axiloom.{}_types"
"""Attribute of a function: NumPy's names for the types of its inputs or outputs, where one is unsigned."""


@dataclass(frozen=True)
class Model:
    """One function on tensors (linalg), and the arrays of its arguments that are weights."""

    name: str
    """What errors call it: the file, or ``model.py:build``."""
    mlir: str
    weights: Mapping[str, Array] = field(default_factory=dict)
    """By the name in `axiloom.weight`."""
    referee: Referee | None = None
    """Who says what the model means, where it comes from another's file; none for MLIR, which is read as it
    is."""

    def write(self, path: Path) -> None:
        """`path` (``net.mlir``), and ``net.npz`` beside it if there are weights."""
        check_file(path)
        if self.weights:
            write_arrays(weights_file(path), self.weights)
        write_whole(path, self.mlir)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """An `.npz`; as numpy.savez, but for any names, those of its own parameters too."""
    # Not compressed: weights hardly shrink.
    with whole(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def weights_file(path: Path) -> Path:
    """The `.npz` of a `.mlir`."""
    return path.with_suffix(".npz")


def read(name: str | Path) -> Model:
    """The model in ``net.mlir`` (or the function of it in ``net.mlir:FUNCTION``) and ``net.npz``.

    Raises UsageError where a file is missing, or an array that the text names.
    """
    text = read_mlir(str(name))
    path, _ = split(str(name))
    wanted = re.findall(rf'{re.escape(WEIGHT)}\s*=\s*"([^"]+)"', text)
    if not wanted:
        return Model(str(name), text)
    beside = weights_file(path)
    if not beside.is_file():
        raise UsageError(f"{path}: has weights ({wanted[0]}, ...), but {beside.name} is not beside it")
    stored = read_arrays(beside, wanted)
    missing = [name for name in wanted if name not in stored]
    if missing:
        raise UsageError(f"{beside}: no array `{missing[0]}`, which {path.name} names as a weight")
    return Model(str(name), text, stored)
