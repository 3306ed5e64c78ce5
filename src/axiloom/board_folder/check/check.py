"""Every file of a board folder, checked by a tool: ``axiloom board check``.

A tool that is not installed is said, not passed over: its row is `skipped`, with what would install it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

from axiloom import isa
from axiloom.base import processes
from axiloom.base.cache import writable_root
from axiloom.base.errors import AxiloomError, UsageError
from axiloom.board_folder.check import check_rtl
from axiloom.board_folder.check.rows import Row, names, run
from axiloom.board_folder.vivado import vivado_reports
from axiloom.board_folder.write import mark_of


def check(folder: Path, tools: tuple[str, ...] = (), waivers: Path | None = None) -> list[Row]:
    """A row for each tool (default: all), in the order of :data:`TOOLS`: see :func:`rows`."""
    return list(rows(folder, tools, waivers))


def rows(
    folder: Path,
    tools: tuple[str, ...] = (),
    waivers: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Row]:
    """The rows as the tools end; `progress` is told which tool runs, of how many.

    The folder is copied first: no tool writes into it. `waivers` are for the linter, of the user's own
    Verilog. UsageError for a folder that is none of ours.
    """
    mark_of(folder)
    unknown = [name for name in tools if name not in TOOLS]
    if unknown:
        raise UsageError(f"there is no check {unknown[0]!r}; there are {', '.join(TOOLS)}")
    with processes.scratch("axiloom-board-") as temporary:
        copy = Path(temporary) / "folder"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("build"))
        wanted = [name for name in TOOLS if name in tools or not tools]
        for number, name in enumerate(wanted, 1):
            progress(f"checking: {name} ({number} of {len(wanted)})")
            result = check_rtl.lint(copy, waivers) if name == LINT else TOOLS[name](copy)
            for row in result:
                progress("")
                yield row
        progress("")


def unchecked(folder: Path, rows: list[Row]) -> list[str]:
    """Files that no tool has read."""
    every = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    read = {file for row in rows for file in row.files}
    return sorted(name for name in every - read if not name.startswith("build/"))


def _vivado(folder: Path) -> Iterator[Row]:
    """What only Vivado reads: with Vivado, it builds the block design of the copy; without, that is said."""
    for name in names(folder, "ip/*/component.xml"):
        try:
            ET.parse(folder / name)
        except ET.ParseError as error:
            yield Row("xml", (name,), (f"not XML: {error}",))
            continue
        yield Row("xml", (name,))
    read = names(folder, "vivado/*.tcl", "constraints/*.xdc")
    if not read:
        return
    if shutil.which("vivado") is None:
        yield Row("vivado", read, skipped="only Vivado reads them, and it is not installed")
        return
    command = [
        "vivado",
        "-mode",
        "batch",
        "-nojournal",
        "-nolog",
        "-source",
        "vivado/build.tcl",
        "-tclargs",
        "design",
    ]
    yield Row("vivado", read, tuple(run(command, folder)))


def _accelerators(folder: Path) -> list[str]:
    """Patterns of the C that is of one accelerator each."""
    return [f"sw/{path.parent.name}/*.[ch]" for path in sorted(folder.glob("sw/*/driver.c"))]


def _c(folder: Path) -> Iterator[Row]:
    """`make` of each target, as the Makefile has it, with the compiler of this Python."""
    makefile = folder / "Makefile"
    if not makefile.is_file():
        return
    if shutil.which("make") is None:
        yield Row("C", names(folder, "sw/**/*.[chS]"), skipped="apt-get install make")
        return
    zig = str(writable_root() / "zig")
    every = ("sw/*.c", *_accelerators(folder), "sw/runtime/src/*", "sw/runtime/include/*")
    used = {
        "linux": (*every, "sw/runtime/linux/*"),
        "ladder": ("sw/bringup/*", "sw/runtime/bringup/*"),
        "baremetal": (*every, "sw/runtime/arm*/*.*", "sw/runtime/freestanding/*"),
        "host": (*every, "sw/runtime/remote/*"),
    }
    for goal, patterns in used.items():
        if f"\n{goal}:" not in makefile.read_text(encoding="utf-8"):
            continue
        command = ["make", "-s", goal, f"PYTHON={sys.executable}"]
        local = str(folder.parent / "zig")
        faults = run(command, folder, ZIG_GLOBAL_CACHE_DIR=zig, ZIG_LOCAL_CACHE_DIR=local)
        yield Row(f"zig cc ({goal})", (*names(folder, *patterns), "Makefile"), tuple(faults))


def _device_tree(folder: Path) -> Iterator[Row]:
    for name in names(folder, "linux/*.dts", "linux/*.dtsi"):
        if shutil.which("dtc") is None:
            yield Row("dtc", (name,), skipped="apt-get install device-tree-compiler")
            continue
        command = ["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", os.devnull, name]
        yield Row("dtc", (name,), tuple(run(command, folder)))


def _python(folder: Path) -> Iterator[Row]:
    for name in names(folder, "vivado/*.py", "linux/*.py", "openflow/*.py", "python/*.py"):
        try:
            compile((folder / name).read_text(encoding="utf-8"), name, "exec")
            faults: tuple[str, ...] = ()
        except SyntaxError as error:
            faults = (str(error),)
        if name == "vivado/reports.py" and not faults:
            ours = Path(vivado_reports.__file__).read_text(encoding="utf-8")
            same = (folder / name).read_text(encoding="utf-8") == ours
            faults = () if same else ("differs from the one that is tested",)
        yield Row("python", (name,), faults)


def _specification(folder: Path) -> Iterator[Row]:
    try:
        loaded = isa.load_links(folder / "accelerator.json")
        faults = tuple(isa.check_together(list(loaded.values())))
    except AxiloomError as error:
        faults = (str(error),)
    yield Row("spec check", ("accelerator.json",), faults)


def _documents(folder: Path) -> Iterator[Row]:
    """JSON is read; a README must name every folder, and what it links to must be there."""
    faults = []
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "build" and f"`{path.name}/`" not in text:
            faults.append(f"README.md does not say what {path.name}/ is")
    yield Row("readme", names(folder, "README.md", "openflow/README.md"), tuple(faults))
    broken = []
    for name in names(folder, "*.json", "openflow/*.json"):
        try:
            json.loads((folder / name).read_text(encoding="utf-8"))
        except ValueError as error:
            broken.append(f"{name}: {error}")
    yield Row("json", names(folder, "board.json", "openflow/*.json"), tuple(broken))
    for name in names(folder, "*/Makefile"):
        faults = run(["make", "-n", "-C", str(Path(name).parent)], folder) if shutil.which("make") else []
        yield Row("make", (name,), tuple(faults))


LINT = "verilator"
TOOLS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "spec": _specification,
    LINT: check_rtl.lint,
    "yosys": check_rtl.elaborate,
    "vivado": _vivado,
    "c": _c,
    "dtc": _device_tree,
    "python": _python,
    "openflow": check_rtl.open_flow,
    "documents": _documents,
}
"""Name to what it does with a copy of a folder; each yields a row a group of files."""
