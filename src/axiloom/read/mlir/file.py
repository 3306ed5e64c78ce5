"""MLIR files as people have them: which function is meant, and what of the text nobody honours."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.drivergen.dialects import functions, templates
from axiloom.drivergen.match import foreign
from axiloom.read.mlir import tosa

_SUFFIX = ".mlir"
IGNORED = {
    "__internal_linalg_transform__": "which passes another compiler runs on the op",
    "llvm.emit_c_interface": "how another compiler names the function in C",
}
"""Attributes of other tools that change nothing here, with what they are for."""


def is_mlir(text: str) -> bool:
    """Whether `text` is ``FILE.mlir`` or ``FILE.mlir:FUNCTION``."""
    return text.endswith(_SUFFIX) or f"{_SUFFIX}:" in text


def split(text: str) -> tuple[Path, str | None]:
    """File and function; None: the text names none."""
    file, colon, function = text.rpartition(":")
    if colon and file.endswith(_SUFFIX):
        return Path(file), function
    return Path(text), None


def _text(file: Path) -> str:
    """What the file says; of a template with its values in it."""
    return templates.filled(read_text(file, CompileError), str(file))


def functions_meant(text: str) -> list[str]:
    """``FILE.mlir:FUNCTION`` for each function that `text` stands for: the one it names, else all that
    compute something. `text` itself where the file has only one."""
    file, wanted = split(text)
    if wanted is not None:
        return [text]
    names = functions.chosen(_text(file), text, None)
    return [f"{file}:{name}" for name in names] or [text]


def read_mlir(text: str) -> str:
    """As :func:`function_of`, of ``FILE.mlir`` or ``FILE.mlir:FUNCTION``."""
    return function_of(*split(text))


def function_of(file: Path, wanted: str | None) -> str:
    """The MLIR of the one function of a file that is meant, at its own lines and columns.

    Raises UsageError where there are several, or none of that name.
    """
    whole = _text(file)
    names = functions.chosen(whole, str(file), wanted)
    if len(names) > 1:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise UsageError(f"{file} has {len(names)} functions: {shown}; name one: {file}:{names[0]}")
    return tosa.lowered(functions.alone(whole, names[0]) if names else whole, str(file))


def remarks(text: str, mlir: str, flow: str | None = None) -> list[str]:
    """What the user should know of a text that was read: other functions, and attributes that are ignored.

    `flow`: the one that was asked for, which goes before annotations.
    """
    notes = []
    file, wanted = split(text)
    others = [function.name for function in functions.functions(_text(file))]
    own = [function.name for function in functions.functions(mlir)]
    if wanted is None and len(others) > len(own) == 1:
        left = ", ".join(name for name in others if name not in own)
        notes.append(f"{file}: {own[0]} is compiled; not read: {left}")
    plain = re.sub(r"//[^\n]*", "", mlir)

    def has(name: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", plain) is not None

    kinds = foreign.known()
    for ignored in (IGNORED, *(kind.ignored for kind in kinds)):
        notes += [f"{file}: {name} is ignored: it says {what}" for name, what in ignored.items() if has(name)]
    return notes + [f"{file}: {note}" for kind in kinds for note in kind.remarks(has, flow)]
