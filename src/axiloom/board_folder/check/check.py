"""Every file of a board folder, checked by a tool: ``axiloom board check``.

A tool that is not installed is said, not passed over: its row is `skipped`, with what would install it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from axiloom import isa
from axiloom.board_folder.check import check_rtl
from axiloom.board_folder.check.rows import Row, names, run
from axiloom.board_folder.check.vivado_model import session
from axiloom.board_folder.check.vivado_model.project import Model
from axiloom.board_folder.vivado import ipxact_check, vivado_reports
from axiloom.board_folder.write import MARK
from axiloom.cosim.build.cache import cache_root
from axiloom.errors import AxiloomError, UsageError


def check(folder: Path, tools: tuple[str, ...] = ()) -> list[Row]:
    """A row for each tool (default: all), in the order of :data:`TOOLS`.

    The folder is copied first: no tool writes into it. UsageError for a folder that is none of ours.
    """
    if not (folder / MARK).is_file():
        raise UsageError(f"{folder} is no board folder: it has no {MARK}")
    try:
        json.loads((folder / MARK).read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{folder / MARK}: not JSON: {error}; write the folder anew (--force)") from None
    unknown = [name for name in tools if name not in TOOLS]
    if unknown:
        raise UsageError(f"there is no check {unknown[0]!r}; there are {', '.join(TOOLS)}")
    with tempfile.TemporaryDirectory(prefix="axiloom-board-") as temporary:
        copy = Path(temporary) / "folder"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("build"))
        rows = []
        for name, tool in TOOLS.items():
            if tools and name not in tools:
                continue
            rows += list(tool(copy))
    return rows


def unchecked(folder: Path, rows: list[Row]) -> list[str]:
    """Files that no tool has read."""
    every = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    read = {file for row in rows for file in row.files}
    return sorted(name for name in every - read if not name.startswith("build/"))


def _manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / MARK).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def _ipxact(folder: Path) -> Iterator[Row]:
    for path in sorted((folder / "ip").glob("*/component.xml")):
        faults = tuple(ipxact_check.check(path))
        yield Row("ip-xact", names(folder, f"ip/{path.parent.name}/component.xml"), faults)


def _tcl(folder: Path) -> Iterator[Row]:
    """The scripts as `make` runs them, and the constraints in the design that they leave."""
    scripts = names(folder, "vivado/*.tcl")
    if not scripts:
        return
    if session.tclsh() is None:
        yield Row("tclsh", scripts, skipped="apt-get install tcl")
        return
    built = session.run(folder / "vivado" / "build.tcl")
    # What follows from a fault would only hide it.
    faults = built.faults or [*_addresses(folder, built.model), *_pair(folder)]
    faults = [fault.replace(f"{folder}/", "") for fault in faults]
    yield Row("tclsh", ("vivado/block_design.tcl", "vivado/build.tcl", "vivado/settings.tcl"), tuple(faults))
    constrained = session.run(folder / "constraints" / "board.xdc", model=built.model)
    yield Row("tclsh", ("constraints/board.xdc",), (*constrained.faults, *_pins(constrained.model)))
    alone: list[str] = []
    for core in (path.name for path in sorted((folder / "ip").glob("*"))):
        ooc = session.run(folder / "vivado" / "ooc.tcl", [core])
        clocked = session.run(folder / "constraints" / "ooc.xdc", model=ooc.model)
        alone += [*ooc.faults, *clocked.faults]
        if not clocked.model.clocks:
            alone.append("ooc.xdc: no clock is constrained")
    yield Row("tclsh", ("constraints/ooc.xdc", "vivado/ooc.tcl"), tuple(alone))
    packaged = session.run(folder / "vivado" / "package_ip.tcl")
    yield Row("tclsh", ("vivado/package_ip.tcl",), tuple(packaged.faults))


def _addresses(folder: Path, model: Model) -> list[str]:
    """The address map that the script makes against the one of the specification."""
    planned = {
        f"{one['space']} {one['segment']}": (int(one["offset"], 0), int(one["size"], 0))
        for one in _manifest(folder)["addresses"]
    }
    made = dict(model.design.describe()) if model.design is not None else {}
    faults = [
        f"{name}: the block design maps {_range(made.get(name))}, the specification says "
        f"{_range(planned.get(name))}"
        for name in sorted(planned.keys() | made.keys())
        if planned.get(name) != made.get(name)
    ]
    for spec in isa.load_all(folder / "accelerator.json").values():
        inside = [
            (offset, size)
            for name, (offset, size) in made.items()
            if "/Data " in name and offset <= spec.dma.address < offset + size
        ]
        if not inside:
            faults.append(f"{spec.name}: nothing is mapped at its registers, {spec.dma.address:#x}")
    return faults


def _range(found: tuple[int, int] | None) -> str:
    return "nothing" if found is None else f"{found[1]:#x} bytes at {found[0]:#x}"


def _pair(folder: Path) -> list[str]:
    pair = [f"{_manifest(folder)['name']}.{end}" for end in ("bit", "hwh")]
    return [f"build.tcl leaves no {name}" for name in pair if not (folder / "build" / name).is_file()]


def _pins(model: Model) -> list[str]:
    """Every port of the design that is no interface of the processing system needs a pin."""
    if model.design is None:
        return []
    return [
        f"board.xdc: port {port} has no {name}"
        for port in model.design.ports
        for name in ("PACKAGE_PIN", "IOSTANDARD")
        if name not in model.xdc_ports.get(port, {})
    ]


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
    zig = str(cache_root() / "zig")
    every = ("sw/*.c", *_accelerators(folder), "sw/runtime/src/*", "sw/runtime/include/*")
    used = {
        "linux": (*every, "sw/runtime/linux/*"),
        "ladder": ("sw/bringup/*", "sw/runtime/bringup/*"),
        "baremetal": (*every, "sw/runtime/arm*/**/*.*"),
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
        loaded = isa.load_all(folder / "accelerator.json")
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


TOOLS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "spec": _specification,
    "verilator": check_rtl.lint,
    "yosys": check_rtl.elaborate,
    "ip-xact": _ipxact,
    "tclsh": _tcl,
    "c": _c,
    "dtc": _device_tree,
    "python": _python,
    "openflow": check_rtl.open_flow,
    "documents": _documents,
}
"""Name to what it does with a copy of a folder; each yields a row a group of files."""
