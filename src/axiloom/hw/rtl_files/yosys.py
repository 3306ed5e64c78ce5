"""Yosys of the Python environment: the same version on every machine, never the machine's own."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError

PACKAGE = "pyosys"

_PROGRAM = (
    "import sys; from pyosys import libyosys as yosys; yosys.Design().run_pass('script ' + sys.argv[1])"
)

_WRITE = """read_rtlil design.il
proc -nomux -norom
memory_collect
attrmap {drop}
attrmap -modattr {drop}
write_verilog -norename design.v
"""
_DROP = "-remove generator -remove top -remove src -remove amaranth.hierarchy -remove amaranth.decoding"


def version() -> str:
    """Name and version."""
    return f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"


def command(script: str) -> Sequence[str]:
    """What runs a script of Yosys: in a process of its own, where an error of Yosys ends nothing else."""
    return [sys.executable, "-c", _PROGRAM, script]


def folder() -> Path:
    """Where its programs and its models of cells are."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def to_verilog(rtlil: str) -> str:
    """Verilog of a netlist in Yosys' own language, as Amaranth prints it. Raises BuildError."""
    # Amaranth says of each wire if it has a sign, and of each operator too. Verilog of one that has would
    # need more care from what makes it readable, and says no more.
    plain = _unsigned(rtlil)
    with processes.scratch() as name:
        work = Path(name)
        (work / "design.il").write_text(plain, encoding="utf-8")
        (work / "write.ys").write_text(_WRITE.format(drop=_DROP), encoding="utf-8")
        done = processes.run(command("write.ys"), cwd=work)
        if done.returncode != 0:
            raise BuildError(f"Yosys could not print the Verilog: {done.stderr.strip()}")
        return (work / "design.v").read_text(encoding="utf-8")


def _unsigned(rtlil: str) -> str:
    lines = rtlil.splitlines(keepends=True)
    return "".join(
        line.replace(" signed ", " ", 1) if line.lstrip().startswith("wire ") else line for line in lines
    )
