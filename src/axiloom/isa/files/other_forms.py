"""Files of other forms, which accelerators bring, as specifications: `axiloom spec import`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.base.accelerators import parts
from axiloom.base.errors import SpecError
from axiloom.base.files import read_text
from axiloom.isa.contract.spec import AcceleratorSpec


@dataclass(frozen=True)
class Form:
    """`matches`: whether a file's JSON is of this form. `read`: its accelerators, and what is not in them."""

    name: str
    matches: Callable[[object], bool]
    read: Callable[[Any], tuple[list[AcceleratorSpec], list[str]]]
    extends_ours: bool = False
    """A file of ours with faults may look like one."""


def forms() -> Iterator[Form]:
    for own in parts("files").values():
        yield from own


def said(text: str) -> str:
    """What a file with faults is, if it is of another form; empty if not."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return next((form.name for form in forms() if not form.extends_ours and form.matches(document)), "")


def read_other(path: Path) -> tuple[list[AcceleratorSpec], list[str]]:
    """The accelerators of a file of another form, and what of it is not in them.

    Raises SpecError with the faults of the file, each with its name, and for a file that is ours already.
    """
    text = read_text(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError([f"{path}: not JSON: {error}"]) from None
    for form in forms():
        if form.matches(document):
            try:
                return form.read(document)
            except SpecError as error:
                raise SpecError([f"{path}: {fault}" for fault in error.faults]) from None
    known = "; ".join(form.name for form in forms())
    raise SpecError([f"{path}: no file of another form ({known}); `axiloom spec check` says what it is"])
