"""A model as the compiler takes it: MLIR text, its weights, and the two files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.files import check_file, write_arrays, write_whole
from axiloom.read.context.referee import Referee

Array = np.ndarray[Any, Any]


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


def weights_file(path: Path) -> Path:
    """The `.npz` of a `.mlir`."""
    return path.with_suffix(".npz")
