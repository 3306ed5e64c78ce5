"""What Verilator's linter says of Verilog, apart from the waivers of ``waivers.vlt``."""

from __future__ import annotations

from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files import verilator
from axiloom.hw.rtl_files.links import Links
from axiloom.hw.rtl_files.user_rtl import UserRtl

WAIVERS = Path(__file__).parent / "waivers.vlt"


def lint(verilog: str, top: str, user_rtl: UserRtl | None = None) -> list[str]:
    """Warnings of ``verilator --lint-only -Wall``, one a line; an empty list if it is clean.

    The files of `user_rtl` are read too, but what is said of them is left out: they are not ours.
    Raises :exc:`BuildError` if Verilator is missing or finds an error.
    """
    with processes.scratch("axiloom-lint-") as folder:
        source = Path(folder) / f"{top}.v"
        source.write_text(verilog, encoding="utf-8")
        links = Links(folder, user_rtl.files if user_rtl else ())
        includes = [f"+incdir+{include}" for include in links.includes]
        options = ["--lint-only", "-Wall", "-Wno-fatal", "--top-module", top, *includes]
        done = verilator.run([*options, WAIVERS, source, *links.files], cwd=folder)
    messages = [links.told(line) for line in done.stderr.splitlines() if line.startswith("%")]
    errors = [line for line in messages if line.startswith("%Error")]
    if done.returncode != 0 or errors:
        raise BuildError(f"Verilator refuses {top}: {(errors or [done.stderr.strip()])[0]}")
    ours = f": {source}:"
    return [line.removeprefix("%Warning-") for line in messages if ours in line]
