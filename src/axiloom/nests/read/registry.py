"""What a file is read with, by the end of its name. Another language is one more entry of `READERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read import c, python

Reader = Callable[[Path, str, Mapping[str, str], Sequence[Path]], Loaded]
READERS: Mapping[str, Reader] = {".c": c.read, ".py": python.read}
ACCEPTED = "FILE.c[:FUNCTION] or MODEL.py:FUNCTION"


def split(text: str) -> tuple[Path, str]:
    """``gemm.c:kernel`` is the file and the function; without one, the function is empty."""
    file, colon, function = text.rpartition(":")
    if colon and Path(file).suffix in READERS:
        return Path(file), function
    return Path(text), ""


def read(text: str, defines: Mapping[str, str] | None = None, includes: Sequence[Path] = ()) -> Loaded:
    """The program that `text` names (`ACCEPTED`); `includes`: folders of headers of C. Raises UsageError,
    CompileError."""
    path, function = split(text)
    if path.suffix not in READERS:
        raise UsageError(f"`{text}` is no program{hint(path.suffix, READERS)}; accepted are {ACCEPTED}")
    return READERS[path.suffix](path, function, defines or {}, includes)
