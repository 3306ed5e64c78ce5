"""Accelerators as packages: what each brings, and where packages are found. The core names none of them.

A package has an :class:`Accelerator` called ``ACCELERATOR``. The packages in ``axiloom/accelerators`` are
found by their folders, so a new one there is registered nowhere. Others are found by an entry point of the
group ``axiloom.accelerators`` with the value ``PACKAGE:ACCELERATOR``. What a package brings besides texts is
named, not imported: a list of instruction sets does not wait for RTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal

from axiloom.base.errors import UsageError

GROUP = "axiloom.accelerators"
NAME = "ACCELERATOR"
"""What a package calls its :class:`Accelerator`."""
OURS = Path(__file__).parents[1] / "accelerators"
Part = Literal["rtl", "units", "offers", "files", "annotations", "drivers"]


@dataclass(frozen=True)
class Accelerator:
    """`folder` has its texts: instruction sets ``.isa``, mappings ``.mapping``, patterns ``.kernels``.

    All others are names, ``MODULE:NAME``, or empty for what it does not bring:

    - `rtl`: a :class:`axiloom.device.rtl.Maker`, which builds its instruction sets, and others like them
    - `units`: a tuple of :class:`axiloom.application.units.unit.Unit`: operators that it takes of a network
    - `offers`: a function of an instruction set: :class:`axiloom.selection.compile.offered.Offers` where a
      layer takes many commands, None for an instruction set that it does not know
    - `files`: a tuple of :class:`axiloom.isa.files.other_forms.Form`: configuration files that are not ours
    - `annotations`: :class:`axiloom.drivergen.match.foreign.Annotations` of ops of linalg
    - `drivers`: :class:`axiloom.drivergen.dialects.others.Drivers`, which another tool writes in MLIR
    """

    name: str
    folder: Path
    rtl: str = ""
    units: str = ""
    offers: str = ""
    files: str = ""
    annotations: str = ""
    drivers: str = ""


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """By name: ours, then others. Raises UsageError for a package that cannot be used, and where two have one
    name."""
    known: dict[str, tuple[str, Accelerator]] = {}
    for entry in (*_ours(), *entry_points(group=GROUP)):
        accelerator = _load(entry, "accelerator")
        place = f"entry point {entry.name} = {entry.value}"
        if not isinstance(accelerator, Accelerator):
            raise UsageError(f"{place}: an Accelerator is wanted, not {accelerator!r}")
        if not accelerator.folder.is_dir():
            raise UsageError(f"{place}: there is no folder {accelerator.folder}")
        if accelerator.name in known:
            other = known[accelerator.name][0]
            raise UsageError(f"two accelerators are called {accelerator.name}: {other}, {place}")
        known[accelerator.name] = place, accelerator
    return {name: accelerator for name, (_, accelerator) in known.items()}


def texts(suffix: str) -> Mapping[str, Path]:
    """Name to file, of all accelerators. Raises UsageError where two bring a text of one name."""
    files: dict[str, Path] = {}
    for accelerator in accelerators().values():
        for file in accelerator.folder.glob(f"*{suffix}"):
            if other := files.get(file.stem):
                raise UsageError(f"two accelerators bring {file.name}: {other.parent} and {file.parent}")
            files[file.stem] = file
    return dict(sorted(files.items()))


def parts(part: Part) -> Mapping[str, Any]:
    """What each accelerator brings of this kind, by its name. Raises UsageError for what cannot be loaded."""
    named = {name: getattr(accelerator, part) for name, accelerator in accelerators().items()}
    return {name: _load(EntryPoint(name, value, GROUP), part) for name, value in named.items() if value}


def _ours() -> Iterator[EntryPoint]:
    for file in sorted(OURS.glob("*/__init__.py")):
        yield EntryPoint(file.parent.name, f"{GROUP}.{file.parent.name}:{NAME}", GROUP)


def _load(entry: EntryPoint, part: str) -> Any:
    try:
        return entry.load()
    except Exception as error:  # of a package that is not ours
        raise UsageError(
            f"{part} of {entry.name}: {entry.value} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
