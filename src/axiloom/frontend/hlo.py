"""HLO in: what JAX and XLA print becomes linalg, which goes the way of every other model."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom.base.errors import CompileError
from axiloom.base.files import read_text
from axiloom.frontend.model import Model
from axiloom.graph.graph import GraphError
from axiloom.graph.write import linalg
from axiloom.read import read

SUFFIXES = (".hlo", ".stablehlo")
_STABLEHLO = re.compile(r"\b(stablehlo|mhlo|chlo)\.\w")


def is_hlo(path: Path) -> bool:
    """By its name, or a ``.mlir`` whose text has operations of StableHLO."""
    if path.suffix == ".mlir" and path.is_file():
        return _STABLEHLO.search(read_text(path, CompileError)) is not None
    return path.suffix in SUFFIXES


def import_file(path: Path, function: str | None = None) -> Model:
    """Raises ReadError for a text that cannot be read, CompileError for operations that have no linalg."""
    graph = read(path, function)
    try:
        written = linalg(graph)
    except GraphError as error:
        raise CompileError(f"{path}: {error}") from None
    return Model(str(path), written.mlir, written.weights)
