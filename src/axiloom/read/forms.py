"""Forms of applications: what tells a file's form, and what reads it. A form is an entry of `FORMS`.

Readers that need extras are imported when a file is theirs.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from axiloom.base import extras
from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import check_input, read_text
from axiloom.graph.graph import Graph
from axiloom.read.context import ReadError

MOST_BYTES = 1 << 30
_HEAD = 1 << 16
_STABLEHLO = re.compile(r"\b(stablehlo|mhlo|chlo)\.\w")


@dataclass(frozen=True)
class Form:
    """`tells` looks at the file's path and the first 64 KiB as text (empty for an archive)."""

    name: str
    tells: Callable[[Path, str], bool]
    read: Callable[[Path, str | None], Graph]


def read(path: Path, function: str | None = None) -> Graph:
    """The application in a file, by its contents; `function` where a text has several. Raises ReadError."""
    check_input(path, MOST_BYTES, ReadError)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    text = "" if zipfile.is_zipfile(path) else head.decode("utf-8", "replace")
    for form in FORMS:
        if form.tells(path, text):
            return form.read(path, function)
    known = ", ".join(form.name for form in FORMS)
    raise ReadError(f"{path}: none of the forms that are read: {known}")


def is_stablehlo(text: str) -> bool:
    """Whether a text of MLIR has operations of it."""
    return _STABLEHLO.search(text) is not None


def _text(path: Path) -> str:
    return read_text(path, ReadError)


def _stablehlo(path: Path, function: str | None) -> Graph:
    from axiloom.read.hlo import stablehlo
    from axiloom.read.hlo.build import build

    return build(stablehlo.parse(_text(path), path.name, function), path.name)


def _classic(path: Path, function: str | None) -> Graph:
    from axiloom.read.hlo import classic
    from axiloom.read.hlo.build import build

    return build(classic.parse(_text(path), path.name, function), path.name)


def _linalg(path: Path, function: str | None) -> Graph:
    from axiloom.read.linalg.reader import read_text
    from axiloom.read.mlir.model import of_file

    try:
        model = of_file(path, function)
    except (CompileError, UsageError) as error:
        raise ReadError(str(error)) from None
    return read_text(model.mlir, path.name, model.weights)


def _torch(path: Path, function: str | None) -> Graph:
    if function is not None:
        raise ReadError(f"{path}: an exported program has no functions to choose from")
    try:
        from axiloom.read.pytorch.exported import load
    except ModuleNotFoundError:
        raise ReadError(f"{path}: needs PyTorch: {extras.install('torch')}") from None
    return load(path)


FORMS = (
    Form(
        "an exported program of PyTorch (.pt2)", lambda path, text: not text and path.suffix == ".pt2", _torch
    ),
    Form(
        "HLO text",
        lambda _, text: bool(
            re.search(r"^\s*(HloModule\b|ENTRY\b)|^\s*(ROOT\s+)?%?[\w.-]+ = \(?\w+\[", text, re.M)
        ),
        _classic,
    ),
    Form("StableHLO text", lambda _, text: is_stablehlo(text), _stablehlo),
    Form(
        "linalg on tensors",
        lambda _, text: bool(re.search(r"\b(linalg|tensor|func|arith)\.\w", text)),
        _linalg,
    ),
)
