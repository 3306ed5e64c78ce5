"""Which files are RTL; and VHDL, as the Verilog that GHDL's synthesis makes of it."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError

SUFFIXES = (".vhd", ".vhdl")
VERILOG = (".v", ".sv", ".vh", ".svh", ".vlog", ".verilog", ".inc")
PROGRAMS = dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"), "a program")
"""What other files are, where their names say it."""


def as_verilog(
    files: Sequence[Path], top: str, parameters: Mapping[str, int] | Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """`files` themselves, or one Verilog file TOP.v for them if they are VHDL (of 2008).

    GHDL analyses the files in their order: list them bottom-up, the top last. The Verilog file is removed
    when this process ends.

    Raises :exc:`BuildError` if a file is no RTL, GHDL is missing or complains, VHDL and Verilog are mixed,
    or there are `parameters`: GHDL's Verilog has none.
    """
    for file in files:
        if file.suffix.lower() not in (*VERILOG, *SUFFIXES):
            what = PROGRAMS.get(file.suffix.lower(), "no file of RTL by its name")
            hint = "; `axiloom nest` makes RTL of loops in C" if file.suffix == ".c" else ""
            raise BuildError(
                f"user RTL {file}: it is {what}; expected Verilog ({', '.join(VERILOG)}) or VHDL "
                f"({', '.join(SUFFIXES)}){hint}"
            )
    theirs = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not theirs:
        return tuple(files)
    if others := [str(file) for file in files if file not in theirs]:
        raise BuildError(
            f"user RTL {theirs[0]}: VHDL and Verilog ({', '.join(others)}) in one design are not taken; "
            "give files of one language"
        )
    if parameters:
        raise BuildError(
            f"user RTL {theirs[0]}: `rtl.parameters` ({', '.join(parameters)}) do not reach VHDL; give the "
            f"generics of {top} their values as defaults"
        )
    if shutil.which("ghdl") is None:
        raise BuildError(
            f"user RTL {theirs[0]}: VHDL needs GHDL, which is not installed: apt-get install ghdl; or make "
            f"Verilog of it elsewhere, `ghdl --synth --std=08 --out=verilog FILE.vhd -e {top}`, and give that"
        )
    return (_file(top, _synthesised(tuple((file.resolve(), file.read_bytes()) for file in theirs), top)),)


@cache
def _synthesised(sources: tuple[tuple[Path, bytes], ...], top: str) -> str:
    """The Verilog of `sources`; their text is an argument, so that a changed file is read again."""
    paths = [str(path) for path, _ in sources]
    command = ["ghdl", "--synth", "--std=08", "--out=verilog", *paths, "-e", top]
    with processes.scratch("axiloom-vhdl-") as folder:
        done = processes.run(command, cwd=folder)
    if done.returncode != 0 or "module" not in done.stdout:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line), lines[0] if lines else "no output")
        raise BuildError(f"user RTL entity {top}: ghdl: {first}")
    return done.stdout


def _file(top: str, text: str) -> Path:
    folder = _folder() / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    file = folder / f"{top}.v"
    file.write_text(text, encoding="utf-8")
    return file


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="axiloom-vhdl-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
