"""The Verilog of a folder, read by Verilator and Yosys; the open flow's pins against its ports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError
from axiloom.board_folder.check.rows import Row, names
from axiloom.board_folder.design.rtl import ports
from axiloom.boards.synthesis import yosys
from axiloom.hw.rtl_files import verilator
from axiloom.hw.rtl_files.lint import WAIVERS


class _FoundError(Exception):
    """A tool has found `faults`, and `warnings` about the user's own files."""

    def __init__(self, faults: list[str], warnings: Sequence[str] = ()) -> None:
        self.faults = faults
        self.warnings = warnings
        super().__init__("; ".join([*faults, *warnings]))


_COMMENT = re.compile(r"^//.*\n", re.MULTILINE)


def _cores(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    for path in sorted((folder / "ip").glob("*")):
        yield path.name, sorted((path / "hdl").glob("*.[sv]*"))


def lint(folder: Path, waivers: Path | None = None) -> Iterator[Row]:
    """Verilator's linter. What it says of Verilog that is not ours is a warning, unless it is an error.

    `waivers`: a file of the user's own in Verilator's form (``lint_off ...``); comments in the Verilog
    (``// verilator lint_off``) count too.
    """
    own = [waivers.absolute()] if waivers else []
    for core, files in _cores(folder):
        listed = names(folder, f"ip/{core}/hdl/*")

        def look(work: Path, core: str = core, files: list[Path] = files) -> None:
            options = ("--lint-only", "-Wall", "-Wno-fatal", "--top-module", core)
            done = verilator.run([*options, WAIVERS, *own, *files], cwd=work)
            lines = [line.replace(f"{folder}/", "") for line in done.stderr.splitlines()]
            told = [line for line in lines if line.startswith("%")]
            ours = f"/{core}."
            theirs = [line for line in told if line.startswith("%Warning") and ours not in line.split(" ")[1]]
            if told or done.returncode:
                faults = [line for line in told if line not in theirs]
                raise _FoundError(faults if told else lines, theirs)

        texts = {file.name: file.read_text(encoding="utf-8") for file in files}
        yield _once("verilator", listed, (core, WAIVERS, *own, _bare(texts)), look)


def _bare(texts: dict[str, str]) -> dict[str, str]:
    """Verilog without comments: they differ between boards, and change nothing."""
    return {name: _COMMENT.sub("", text) for name, text in texts.items()}


def _once(tool: str, files: tuple[str, ...], key: tuple[Any, ...], run: Callable[[Path], None]) -> Row:
    """The row of a tool that is slow; what had no faults once is not read again."""
    try:
        cached_build("board-check", content_hash(tool, *key), run)
    except _FoundError as found:
        return Row(tool, files, tuple(found.faults), warnings=tuple(found.warnings))
    except BuildError as error:
        return Row(tool, files, (str(error),))
    return Row(tool, files)


def elaborate(folder: Path) -> Iterator[Row]:
    """Reads and elaborates; mapping to a part takes minutes (`axiloom estimate`)."""
    for core, files in _cores(folder):
        texts = {file.name: file.read_text(encoding="utf-8") for file in files}
        script = f"hierarchy -check -top {core}\nproc\ncheck -assert\n"
        yield _yosys_row("yosys", names(folder, f"ip/{core}/hdl/*"), texts, script)


def _yosys_row(tool: str, files: tuple[str, ...], texts: dict[str, str], script: str) -> Row:
    """What `script` says of Verilog."""
    read = {name: yosys.without_zeros(text) for name, text in _bare(texts).items()}
    reads = "".join(f"read_verilog {'-sv ' if name.endswith('.sv') else ''}{name}\n" for name in read)

    def run(work: Path) -> None:
        for name, text in read.items():
            (work / name).write_text(text, encoding="utf-8")
        yosys.run(reads + script, work, "read it")

    return _once(tool, files, (yosys.version(), reads + script, read), run)


def open_flow(folder: Path) -> Iterator[Row]:
    """The Verilog of the open flow, from the one module that no other instantiates."""
    files = sorted((folder / "openflow").glob("**/*.v"))
    if not files:
        return
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    cells = "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v\n"
    script = f"{cells}hierarchy -check -auto-top\nproc\n"
    yield _yosys_row("yosys (ecp5)", names(folder, "openflow/**/*.v"), texts, script)
    for name in names(folder, "openflow/*.lpf"):
        try:
            top = json.loads((folder / "openflow" / "design.json").read_text(encoding="utf-8"))["top"]
        except (OSError, ValueError, KeyError) as error:
            yield Row("pins", (name,), (f"openflow/design.json: no name of the top module: {error!r}",))
            continue
        yield Row("pins", (name,), tuple(_located(folder / name, texts, top)))


def _located(path: Path, texts: dict[str, str], top: str) -> Iterator[str]:
    """Every bit of every port of `top` has a site, and nothing else has."""
    told = path.read_text(encoding="utf-8")
    sites = re.findall(r'^LOCATE COMP "([^"]+)" SITE "\w+";', told, re.MULTILINE)
    declared = ports("\n".join(texts.values()), top)
    bits = [
        f"{port.name}[{bit}]" if port.width > 1 else port.name
        for port in declared
        for bit in range(port.width)
    ]
    yield from (f"{name} is located, and is no port of {top}" for name in sorted(set(sites) - set(bits)))
    yield from (f"{name} has no site" for name in sorted(set(bits) - set(sites)))
