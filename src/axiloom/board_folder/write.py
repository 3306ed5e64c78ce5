"""The folder: all its files as text, and the writing of them, whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.base.files import make_folder
from axiloom.board_folder import c_files, makefile, optional, readme
from axiloom.board_folder.design.plan import Plan
from axiloom.board_folder.design.rtl import Core, cores
from axiloom.board_folder.vivado import text_files
from axiloom.board_folder.vivado.block_design import script
from axiloom.board_folder.vivado.ipxact import component

MARK = "board.json"
"""The file that says that a folder is one of ours."""


@dataclass(frozen=True)
class Contents:
    """The files of a folder, path to text, and what is not among them and why, a line each."""

    files: dict[str, str]
    missing: tuple[str, ...]


def contents(plan: Plan) -> Contents:
    """Everything that follows from `plan`; the same for the same plan, to the byte."""
    files = {"accelerator.json": isa.dumps(*plan.specs), **c_files.files(plan)}
    cores_: tuple[Core, ...] = ()
    if plan.hardware.memory is None:
        extra, missing = optional.open_flow_files(plan)
    else:
        cores_ = cores(plan)
        files |= _vivado(plan, cores_)
        extra, missing = optional.linux_files(plan)
        for more in (optional.ladder_files, optional.python_files):
            texts, refused = more(plan)
            extra, missing = {**extra, **texts}, [*missing, *refused]
    files |= extra
    files["Makefile"] = makefile.text(plan, ladder=f"sw/runtime/{optional.LADDER}" in files)
    files[MARK] = text_files.manifest(plan, cores_)
    files["README.md"] = readme.text(plan, cores_, sorted(files), missing)
    return Contents(dict(sorted(files.items())), tuple(missing))


def _vivado(plan: Plan, cores_: tuple[Core, ...]) -> dict[str, str]:
    files = {
        **text_files.scripts(),
        "vivado/settings.tcl": text_files.settings(plan, cores_),
        "vivado/block_design.tcl": script(plan, cores_),
        "constraints/board.xdc": text_files.board_constraints(plan),
        "constraints/ooc.xdc": text_files.ooc_constraints(plan),
    }
    for core in cores_:
        files[f"ip/{core.name}/component.xml"] = component(core, plan.hardware.family)
        files |= {f"ip/{core.name}/hdl/{name}": text for name, text in core.files.items()}
    return files


def refuse(folder: Path, *, force: bool = False) -> None:
    """UsageError if :func:`write` would not write to `folder`."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not force:
        raise UsageError(f"{folder} is there already: choose another folder, or replace it with --force")
    if not _is_ours(folder):
        raise UsageError(
            f"{folder} is no board folder (it has no {MARK} of axiloom): --force does not replace it"
        )


def write(contents: Contents, folder: Path, *, force: bool = False) -> None:
    """Write the folder.

    One that is there is replaced only with `force`, and only if it is one of ours: :exc:`UsageError`
    else. The new one is complete before the old one goes.
    """
    refuse(folder, force=force)
    target = folder.absolute()
    make_folder(target.parent)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        for name, text in contents.files.items():
            path = temporary / "new" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                path.chmod(0o755)
        if target.exists():
            target.rename(temporary / "old")
        (temporary / "new").rename(target)
    finally:
        if (temporary / "old").exists() and not target.exists():
            (temporary / "old").rename(target)
        shutil.rmtree(temporary, ignore_errors=True)


def mark_of(folder: Path) -> dict[str, Any]:
    """What the folder's `MARK` says. UsageError for a folder that is none of ours."""
    try:
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except OSError:
        mark = None
    except ValueError as error:
        raise UsageError(f"{folder / MARK}: not JSON: {error}; write the folder anew (--force)") from None
    if not isinstance(mark, dict):
        raise UsageError(f"{folder} is no board folder: it has no {MARK} of axiloom")
    return mark


def _is_ours(folder: Path) -> bool:
    try:
        return mark_of(folder).get("format") == text_files.FORMAT
    except UsageError:
        return False
