"""Instruction sets and mappings of all accelerators, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from axiloom.base.accelerators import texts
from axiloom.base.errors import SpecError
from axiloom.base.wording.names import hint
from axiloom.isa.instructions import mappings as mapping_files
from axiloom.isa.instructions.mappings import Mapped
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet

INSTRUCTIONS = ".isa"
MAPPING = ".mapping"


def targets() -> Mapping[str, Path]:
    """Name to file."""
    return texts(INSTRUCTIONS)


def mappings() -> Mapping[str, Path]:
    """Name to file."""
    return texts(MAPPING)


def target(
    name: str, beside: Path | None = None, constants: Mapping[str, int] | None = None
) -> InstructionSet:
    """A built-in instruction set, or a file: ``NAME``, ``mine.isa``. Raises SpecError.

    `beside`: the folder from which a file is looked for; `constants`: in place of those that the text has.
    """
    if name.endswith(INSTRUCTIONS):
        return read((beside or Path()) / name, constants)
    if name not in targets():
        there = (
            f"{hint(name, targets())}; there are {', '.join(targets())}, and files that end in {INSTRUCTIONS}"
        )
        raise SpecError([f"no instruction set is called {name}{there}"])
    return read(targets()[name], constants)


def mapping(path: Path, sizes: Mapping[str, int] | None = None, *, any_size: bool = False) -> Mapped:
    """The mapping of a file; its target is built in, or a file beside it. Raises SpecError."""
    return mapping_files.read(path, lambda name: target(name, path.parent), sizes, any_size=any_size)
