"""A model in MLIR, with its weights beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from axiloom.base.attributes import WEIGHT
from axiloom.base.errors import UsageError
from axiloom.base.files import read_arrays
from axiloom.read.context.model import Model, weights_file
from axiloom.read.mlir.file import function_of, split


def read(name: str | Path) -> Model:
    """The model in ``net.mlir`` (or the function of it in ``net.mlir:FUNCTION``), as :func:`of_file`."""
    return replace(of_file(*split(str(name))), name=str(name))


def of_file(path: Path, function: str | None) -> Model:
    """The model in ``net.mlir`` and ``net.npz``.

    Raises UsageError where a file is missing, or an array that the text names.
    """
    text = function_of(path, function)
    wanted = re.findall(rf'{re.escape(WEIGHT)}\s*=\s*"([^"]+)"', text)
    if not wanted:
        return Model(str(path), text)
    beside = weights_file(path)
    if not beside.is_file():
        raise UsageError(f"{path}: has weights ({wanted[0]}, ...), but {beside.name} is not beside it")
    stored = read_arrays(beside, wanted)
    missing = [name for name in wanted if name not in stored]
    if missing:
        raise UsageError(f"{beside}: no array `{missing[0]}`, which {path.name} names as a weight")
    return Model(str(path), text, stored)
