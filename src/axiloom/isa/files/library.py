"""Specifications from files, and the ones that come with Axiloom."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from axiloom.base.errors import SpecError, UsageError
from axiloom.base.files import read_text
from axiloom.base.wording.names import hint, printable
from axiloom.isa import numerics
from axiloom.isa.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.files import json_form, other_forms
from axiloom.isa.files.post import with_post
from axiloom.isa.kernels.forms import MATMUL

SPECS = Path(__file__).parents[1] / "specs"
ENCODINGS = ("bitmask", "literals", "combined")
"""How the built-in accelerators' opcode words look: a bit each, the paper's numbers, or bits that a word may
combine, as the published drivers of v2 and v3 do (7 = load A, load B and compute)."""
_MOST_FAULTS = 100
_LARGEST = 1 << 18
"""Characters of a file: room for a hundred accelerators."""


class _NoTextError(SpecError):
    """A specification that is no text: one fault."""

    def __init__(self, fault: str) -> None:
        super().__init__([fault])


def check_file(path: str | Path) -> list[str]:
    """All faults of all devices in a file, each with its JSON path; empty if it is sound."""
    return _read(Path(path))[1]


def load_links(path: str | Path) -> dict[str, AcceleratorSpec]:
    """Device name to what is known of it, with or without an opcode map, in the order of the file.

    Raises SpecError with every fault of the file, and UsageError if it cannot be read.
    """
    links, faults = _read(Path(path))
    if faults:
        more = [f"and {len(faults) - _MOST_FAULTS} more faults"] if len(faults) > _MOST_FAULTS else []
        raise SpecError([f"{path}: {fault}" for fault in (*faults[:_MOST_FAULTS], *more)])
    return {link.name: link for link in links}


def load_all(path: str | Path) -> dict[str, AcceleratorSpec]:
    """Accelerator name to specification, in the order of the file. Raises what :func:`load_links` does, and
    SpecError for a device without an opcode map."""
    links = load_links(path)
    if plain := [name for name, link in links.items() if not link.parts]:
        why = "no opcode map but `packets`: its driver comes from where the device does (loops, a text)"
        raise SpecError([f"{path}: {name}: {why}" for name in plain])
    return {name: link.parts[0] for name, link in links.items()}


def load(path: str | Path, name: str | None = None) -> AcceleratorSpec:
    """One accelerator of a file, by default the first; errors as :func:`load_all`."""
    specs = load_all(path)
    if name is None:
        return next(iter(specs.values()))
    if name not in specs:
        raise UsageError(f"{path}: no accelerator `{name}`{hint(name, specs)}; it has {', '.join(specs)}")
    return specs[name]


def dumps(*specs: AcceleratorSpec) -> str:
    """The file, as JSON text, that loads as `specs`."""
    return json_form.write(specs)


def builtins(kernel: str = MATMUL.kernel) -> list[str]:
    """Names of the accelerators for `kernel` that come with Axiloom: v1_4 ... v4_16; conv_v3 and conv_v4;
    loopback, identity and fifo."""
    return [name for name, spec in _shipped(ENCODINGS[0]).items() if spec.kernel == kernel]


def builtin(
    name: str,
    size: int | None = None,
    data_type: str | numerics.Numerics = "int32",
    encoding: str = "bitmask",
    post: bool = False,
) -> AcceleratorSpec:
    """An accelerator that comes with Axiloom.

    `name`: version and tile size (``v3_16``), or the version alone (``v3``) with `size`, by default 16;
    or ``conv_v3``, ``conv_v4``, ``loopback``, ``identity``, ``fifo``. `encoding`: one of `ENCODINGS`.
    `post`: with post-processing (:func:`axiloom.isa.files.post.with_post`). Raises UsageError.
    """
    if encoding not in ENCODINGS:
        known = ", ".join(ENCODINGS)
        raise UsageError(f"unknown encoding `{encoding}`{hint(encoding, ENCODINGS)}; there are {known}")
    specs = _shipped(encoding)
    full = name if "_" in name or name in _bring_up() else f"{name}_{16 if size is None else size}"
    if full not in specs:
        said = full if size is not None or any(spec.startswith(f"{name}_") for spec in specs) else name
        raise UsageError(f"no built-in accelerator `{said}`{hint(full, specs)}; there are {', '.join(specs)}")
    if size is not None and not full.endswith(f"_{size}"):
        raise UsageError(f"`{full}` says another size than {size}; give one of them")
    return _typed(with_post(specs[full], encoding) if post else specs[full], data_type)


def find(name_or_path: str, size: int | None = None, encoding: str = "bitmask") -> AcceleratorSpec:
    """What a user means: a file (its name ends in ``.json`` or it exists), or a built-in accelerator."""
    if name_or_path.endswith(".json") or Path(name_or_path).is_file():
        return load(name_or_path)
    return builtin(name_or_path, size, encoding=encoding)


def revise(spec: AcceleratorSpec, **changes: Any) -> AcceleratorSpec:
    """The device with some fields replaced; raises SpecError with every fault that this makes."""
    revised = spec.replace(**changes)
    faults = check.check_device(revised)
    if faults:
        raise SpecError([f"{spec.name}: {fault}" for fault in faults])
    return revised


def _typed(spec: AcceleratorSpec, data_type: str | numerics.Numerics) -> AcceleratorSpec:
    try:
        kind = numerics.of(data_type) if isinstance(data_type, str) else data_type
    except numerics.NumericsError as error:
        raise UsageError(str(error)) from None
    typed = spec.replace(data_type=kind)
    faults = check.check(typed)
    if faults:
        raise SpecError([f"{spec.name} with {kind}: {fault}" for fault in faults])
    return typed


@cache
def _shipped(encoding: str) -> dict[str, AcceleratorSpec]:
    if encoding == "combined":
        return {name: _combining(spec) for name, spec in _shipped("bitmask").items()}
    return {**load_all(SPECS / f"{encoding}.json"), **_bring_up()}


def _combining(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The accelerator, with opcode words that may combine those of its opcodes that are one bit each."""
    bits = {
        op.literal: name for name, op in spec.opcodes.items() if op.literal and op.literal.bit_count() == 1
    }
    if spec.bits or len(bits) < 2 or not spec.form.of_matrices:
        return spec
    return revise(spec, bits=tuple(bits[word] for word in sorted(bits)))


@cache
def _bring_up() -> dict[str, AcceleratorSpec]:
    """Those whose encoding is the same in both files."""
    return load_all(SPECS / "bring_up.json")


def _read(path: Path) -> tuple[list[AcceleratorSpec], list[str]]:
    try:
        text = read_text(path, _NoTextError)
    except _NoTextError as error:
        return [], [error.faults[0].removeprefix(f"{path}:")]
    if len(text) > _LARGEST:
        return [], [f"{len(text)} characters are no specification: at most {_LARGEST}"]
    drafts, faults = json_form.read(text)
    if faults and (form := other_forms.said(text)):
        return [], [f"{form}: `axiloom spec import {path}` reads it"]
    names: dict[str, str] = {}
    for draft in drafts:
        device_faults = check.check_device(draft.spec, draft.broken)
        name = draft.spec.name
        if "name" not in draft.broken and names.setdefault(name, draft.place) != draft.place:
            device_faults.append(f"name: {names[name]} is called `{name}` too")
        faults += draft.faults + [f"{draft.place}.{fault}" for fault in device_faults]
    return [draft.spec for draft in drafts], [printable(fault) for fault in faults]
