"""Builds a simulator's program from Verilog with Verilator, for cocotb: no make, no perl, no ccache.

Three things are compiled, each cached under the hash of all that goes into it: Verilator's runtime
with :file:`rtl/main.cpp` (once per Verilator, compiler and machine; what writes a kind of waveform when it
is first wanted; its headers for quick builds), then per design its Verilated code with
:file:`rtl/model.cpp`, and the link. cocotb's own runner is not used because it makes every signal public,
which costs a factor of eight in speed.

Tests build quickly, users' runs run quickly. A test builds a design and simulates it for a moment.
``AXILOOM_QUICK_BUILDS=1``, set by ``tests/conftest.py``, compiles the design as one unit at -O1: v4_16 in
2.5 instead of 4.6 s of CPU, and a fifth slower to simulate. Our own function writes the initial words of
memories, because Amaranth's goes bit by bit. The bytes are the same (conv_v4: 3.2 instead of 13.8 s).

Quick builds read Verilator's headers precompiled. The headers were a third of a build. v3_4 now takes 2.0
instead of 2.8 s of CPU, for one file of 67 MB and 3 s once a machine. Only quick builds do this, and only
with GCC: if the options differ, GCC reads the header itself, but clang fails when a date has changed.
Users' builds have two sets of options and would need two more such files. The circuit of a small loop nest
takes 0.4 instead of 1.7 s of CPU.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError
from axiloom.base.files import read_bytes
from axiloom.hw.rtl_files.links import Links, plain
from axiloom.hw.rtl_files.verilator import find

Progress = Callable[[str], None]

RTL = Path(__file__).parents[1] / "rtl"

Sources = tuple[tuple[str, str], ...]
"""Verilog files: name (for messages) and text."""

PROGRAM = "simulation"
"""Name of the program in the folder of a finished build."""

OPTIMISE = ["-O3", "-march=native"]
QUICK = ["-O1", "-march=native"]
NONE = ["-O0"]
QUICK_BUILDS = "AXILOOM_QUICK_BUILDS"
"""Environment variable: designs are compiled in half the time and run a fifth slower, for many short runs."""
COMMON = [
    *("-std=gnu++17", "-pthread", "-w", "-DVL_TIME_CONTEXT", "-DVL_USER_FINISH"),
    *("-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0"),
]
VERILATE = [
    *("--cc", "--prefix", "Vtop", "-O3"),
    *("--x-assign", "fast", "--x-initial", "fast", "--no-timing", "--timescale", "1ps/1ps"),
    "-Wno-fatal",  # warnings are for `axiloom verilog`'s own lint, not for a run
]
HEADERS = "axl_headers.h"
"""What a unit begins with that is the same for every design."""
_JOBS = 2  # a design is two units of about equal cost; more jobs would only take memory


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: the command, and the first line of its --version."""

    command: tuple[str, ...]
    version: str


@cache
def compiler() -> Compiler:
    """``$CXX``, or the first of c++, g++ and clang++ that is there. Raises BuildError if none is."""
    chosen = os.environ.get("CXX")
    candidates = [shlex.split(chosen)] if chosen else [["c++"], ["g++"], ["clang++"]]
    for command in candidates:
        if shutil.which(command[0]):
            done = processes.run([*command, "--version"])
            return Compiler(tuple(command), done.stdout.partition("\n")[0])
    missing = f"the C++ compiler {chosen!r} (from CXX) does not exist" if chosen else "no C++ compiler found"
    raise BuildError(f"{missing}: install one (apt install g++) or set CXX")


@cache
def _processor() -> str:
    """What -march=native depends on."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    lines = info.read_text().splitlines()
    return "\n".join(
        next((n for n in lines if n.startswith(key)), "") for key in ("model name", "flags", "Features")
    )


def identity() -> list[str]:
    """All that a build depends on besides its sources: for cache keys."""
    tool, cxx = find(), compiler()
    return [tool.version, *cxx.command, cxx.version, _processor(), *OPTIMISE, *COMMON, *VERILATE]


def run_tool(
    command: Sequence[str | Path],
    what: str,
    error: re.Pattern[str],
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> None:
    """Run a build tool; if it fails, raise BuildError with the first line that matches `error`."""
    done = processes.run(
        [str(c) for c in command],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    first = next(
        (line for line in lines if error.search(line)),
        lines[-1] if lines else f"exit code {done.returncode}, no output",
    )
    raise BuildError(f"{what}: {first}")


_CXX_ERROR = re.compile(r"\berror:|undefined reference|cannot find -l|fatal error|Killed")
_VERILATOR_ERROR = re.compile(r"^%Error(?!: Exiting)")


def compile_cxx(arguments: Sequence[str | Path], what: str, cwd: Path | None = None) -> None:
    """Run the C++ compiler with `arguments`."""
    run_tool([*compiler().command, *arguments], what, _CXX_ERROR, cwd)


def verilate(arguments: Sequence[str | Path], what: str, cwd: Path) -> None:
    """Run Verilator with our options and `arguments`."""
    tool = find()
    env = dict(os.environ, VERILATOR_ROOT=str(tool.root))
    run_tool([tool.program, *VERILATE, *arguments], what, _VERILATOR_ERROR, cwd, env)


def _compile_all(jobs: Sequence[tuple[list[str | Path], str]], cwd: Path) -> None:
    processes.all_of([partial(compile_cxx, arguments, what, cwd) for arguments, what in jobs], _JOBS)


def trace_flags(trace: str | None) -> list[str]:
    kinds = {"fst": "VM_TRACE_FST", "vcd": "VM_TRACE_VCD"}
    flags = [f"-DVM_TRACE={int(trace is not None)}", "-DVM_TRACE_SAIF=0"]
    return flags + [f"-D{macro}={int(kind == trace)}" for kind, macro in kinds.items()]


def include_flags() -> list[str]:
    # rtl/compat: FST needs LZ4's and zlib's interface; ours needs neither library nor headers.
    include = find().root / "include"
    return [f"-I{include}", f"-I{include / 'vltstd'}", f"-I{RTL}", f"-I{RTL / 'compat'}"]


def _say(progress: Progress | None, line: str) -> None:
    if progress:
        progress(line)


def runtime(trace: str | None = None, progress: Progress | None = None) -> Path:
    """Archive of Verilator's runtime and :file:`main.cpp`, the same for every design.

    `trace` is None, "fst" or "vcd": with it the archive has what writes that too, added to the one without.
    """
    include = find().root / "include"
    if trace:
        plain = runtime(None, progress)
        units = [include / f"verilated_{trace}_c.cpp"]
        own, what = sorted((RTL / "compat").glob("*.h")), f"Verilator's writer of {trace.upper()}"
    else:
        sources = ["verilated", "verilated_dpi", "verilated_vpi", "verilated_threads"]
        units = [*(include / f"{name}.cpp" for name in sources), RTL / "main.cpp"]
        own, what = [RTL / "main.cpp", RTL / "model.h"], f"the runtime of Verilator {find().version}"

    def build(folder: Path) -> None:
        begin = time.perf_counter()
        _say(progress, f"compiling {what} (once per machine)")
        flags = ["-O2", "-march=native", *COMMON, *trace_flags(trace), *include_flags()]
        jobs: list[tuple[list[str | Path], str]] = [
            ([*flags, "-c", unit, "-o", f"{unit.stem}.o"], f"compiling Verilator's runtime ({unit.name})")
            for unit in units
        ]
        _compile_all(jobs, folder)
        if trace:
            shutil.copyfile(plain, folder / "runtime.a")
        _archive(folder / "runtime.a", [folder / f"{unit.stem}.o" for unit in units])
        for unit in units:
            (folder / f"{unit.stem}.o").unlink()
        _say(progress, f"{what} compiled in {time.perf_counter() - begin:.0f} s")

    key = content_hash("runtime", identity(), trace, plain.parent.name if trace else "", *own)
    return cached_build("verilator-runtime", key, build) / "runtime.a"


def _archive(archive: Path, objects: Sequence[Path]) -> None:
    program = shutil.which("ar") or shutil.which("llvm-ar")
    if not program:
        raise BuildError("the archiver ar is missing: install binutils (apt install binutils)")
    run_tool([program, "rcs", archive, *objects], "archiving Verilator's runtime", re.compile("."))


@dataclass(frozen=True)
class Design:
    """What to build. The program is a function of these values alone."""

    verilog: Sources
    top: str
    public: str
    """A Verilator control file: the signals cocotb may touch. All others may be optimised away."""
    soc: bool = False
    """The top is axiloom_tb: linked with the core, and its clock runs natively."""
    trace: str | None = None
    """None, "fst" or "vcd"."""
    defines: tuple[tuple[str, str], ...] = ()
    coverage: bool = field(default=False, repr=False)
    """Lines of the design are counted, for :file:`rtl/coverage.cpp`."""
    short: bool = False
    """It runs for few cycles: nothing is optimised, which takes the compiler longer than such a run."""


def build(design: Design, core: Path | None = None, progress: Progress | None = None) -> Path:
    """Folder with the program :data:`PROGRAM` for `design`; `core` is the core's library for a SoC.

    The program finds the core and cocotb by LD_LIBRARY_PATH (:mod:`axiloom.cosim.build.process`), so that
    a cached build does not depend on where they are. Raises BuildError.
    """
    archive = runtime(design.trace, progress)
    own = [RTL / "model.cpp", RTL / "model.h", RTL / "axl_glue.h"]
    own += [RTL / "coverage.cpp"] if design.coverage else []
    interface = (RTL.parent / "native" / "axl_core.h").read_text() if design.soc else ""

    def fill(folder: Path) -> None:
        begin = time.perf_counter()
        _say(progress, f"verilating {design.top}")
        generated = _verilate(design, folder)
        _say(progress, f"compiling {design.top}")
        objects = _compile(design, folder, generated)
        _link(folder, objects, archive, core if design.soc else None)
        shutil.rmtree(generated)
        _say(progress, f"{design.top} built in {time.perf_counter() - begin:.0f} s")

    key = content_hash("design", identity(), _quick(), repr(design), archive.parent.name, interface, *own)
    return cached_build("verilator", key, fill)


def _verilate(design: Design, folder: Path) -> Path:
    generated = folder / "generated"
    files = write_sources(design.verilog, folder)
    control = "public.vlt"
    (folder / control).write_text(f"`verilator_config\n{design.public}\n")
    arguments: list[str | Path] = ["--vpi", "--top-module", design.top, "--Mdir", generated.name]
    if design.trace:
        arguments += [f"--trace-{design.trace}", "--trace-structs"]
    arguments += ["--coverage-line"] if design.coverage else []
    arguments += [f"-D{name}={value}" for name, value in design.defines]
    verilate([*arguments, control, *files], f"Verilator cannot build {design.top}", folder)
    return generated


def write_sources(sources: Sources, folder: Path) -> list[str]:
    """Write the files, and return the names of those to compile, each once; a .vh is for the others."""
    names: list[str] = []
    for name, text in sources:
        name = plain(name)
        while name in names:
            name = f"other_{name}"
        (folder / name).write_text(text, encoding="utf-8")
        if not name.endswith(".vh"):
            names.append(name)
    return names


def read_sources(
    files: Sequence[Path | str], includes: Sequence[Path] = (), defines: Mapping[str, str] | None = None
) -> Sources:
    """A user's files. What they include becomes a part of them, since it decides on a build as they do. So do
    macros that are given."""
    return tuple((Path(file).name, _with_includes(Path(file), includes, defines or {})) for file in files)


def _with_includes(file: Path, includes: Sequence[Path], defines: Mapping[str, str]) -> str:
    text = read_bytes(file, fault=BuildError).decode("utf-8", "replace")  # comments may be in any encoding
    if "`include" not in text and not defines:
        return text
    macros = [f"-D{name}={value}" if value else f"-D{name}" for name, value in defines.items()]
    with processes.scratch("axiloom-rtl-") as folder:
        links = Links(folder, [file], includes)
        done = processes.run(
            [find().program, "-E", *(f"-I{include}" for include in links.includes), *macros, *links.files],
            cwd=folder,
            env=dict(os.environ, VERILATOR_ROOT=str(find().root)),
        )
    if done.returncode != 0:
        raise BuildError(f"cannot read {file}: {links.told(done.stderr.partition(chr(10))[0])}")
    # Where the file lies decides on no build.
    return re.sub(r'^(`line \d+ ")(?:d\d+/)?', r"\1", done.stdout, flags=re.MULTILINE)


def _quick() -> bool:
    return os.environ.get(QUICK_BUILDS, "0") not in ("", "0")


def headers() -> Path:
    """Folder with :data:`HEADERS`, and what GCC has made of it for quick builds, of which it was a third.

    Where GCC cannot use that (waveforms have other options), it reads the header. clang always does: it takes
    such files only as an option, and refuses them when a date has changed.
    """

    def build(folder: Path) -> None:
        (folder / HEADERS).write_text('#include "verilated.h"\n')
        if "clang" in compiler().version:
            return
        compiled = folder / f"{HEADERS}.gch"
        flags, what = [*QUICK, *COMMON, *trace_flags(None), *include_flags()], "compiling Verilator's headers"
        try:
            compile_cxx([*flags, "-x", "c++-header", HEADERS, "-o", compiled.name], what, folder)
            compile_cxx([*flags, "-fsyntax-only", "-include", HEADERS, "-x", "c++", os.devnull], what, folder)
        except BuildError:
            compiled.unlink(missing_ok=True)  # nothing is lost but time

    return cached_build("verilator-headers", content_hash("headers", identity(), QUICK), build)


def _compile(design: Design, folder: Path, generated: Path) -> list[str]:
    own = [RTL / "model.cpp", *([RTL / "axl_dpi.cpp"] if design.soc else [])]
    flags = [*(["-DAXL_SOC"] if design.soc else []), f"-I{RTL.parent / 'native'}"]
    level = NONE if design.short else QUICK if _quick() else OPTIMISE
    what = f"compiling the simulation of {design.top}"
    objects = compile_generated(generated, own, level, what, flags, design.trace)
    if design.coverage:
        counting = ["-O1", *COMMON, *trace_flags(design.trace), *include_flags()]
        compile_cxx([*counting, "-c", RTL / "coverage.cpp", "-o", "coverage.o"], what, folder)
        objects.append("coverage.o")
    return objects


def compile_generated(
    generated: Path,
    own: Sequence[Path],
    level: list[str],
    what: str,
    flags: Sequence[str] = (),
    trace: str | None = None,
) -> list[str]:
    """The objects, beside the folder `generated`, of what Verilator has written there and `own` sources.

    What runs once is not optimised. For much less than that, at :data:`QUICK` and :data:`NONE`, all is one
    unit: half of the time goes into the headers.
    """
    slow = sorted(generated.glob("*__Slow.cpp"))
    fast = [*sorted({*generated.glob("*.cpp")} - {*slow}), *own]
    flags = [*COMMON, *trace_flags(trace), *include_flags(), "-I.", f"-I{generated.name}", *flags]
    if level in (QUICK, NONE):
        first = "verilated.h"
        if _quick():
            # The precompiled headers are for these options, and for no others.
            slow, fast = ([*slow, *fast], []) if level == NONE else (slow, fast)
            level, first, flags = QUICK, HEADERS, [*flags, f"-I{headers()}"]
        # The headers first: they are for the fast part too.
        begin = f'#include "{first}"\n#pragma GCC push_options\n#pragma GCC optimize ("O0")\n'
        units = {"all": (level, f"{begin}{_including(slow)}#pragma GCC pop_options\n{_including(fast)}")}
    else:
        units = {"fast": (level, _including(fast)), "slow": (NONE, _including(slow))}
    folder = generated.parent
    for name, (_, text) in units.items():
        (folder / f"{name}.cpp").write_text(text)
    jobs: list[tuple[list[str | Path], str]] = [
        ([*options, *flags, "-c", f"{name}.cpp", "-o", f"{name}.o"], what)
        for name, (options, _) in units.items()
    ]
    _compile_all(jobs, folder)
    for name in units:
        (folder / f"{name}.cpp").unlink()
    return [f"{name}.o" for name in units]


def _including(files: Sequence[Path]) -> str:
    # By names: a path may have quotes in it. All of their folders are searched.
    return "".join(f'#include "{file.name}"\n' for file in files)


def _link(folder: Path, objects: Sequence[str], archive: Path, core: Path | None) -> None:
    import cocotb_tools.config

    libraries: list[str | Path] = [f"-L{cocotb_tools.config.libs_dir}", "-lcocotbvpi_verilator"]
    if core:
        libraries += [f"-L{core.parent}", f"-l:{core.name}"]
    # Libraries of libraries (Unicorn, GPI) are looked for when the program starts.
    allow = ["-Wl,--allow-shlib-undefined"] if sys.platform.startswith("linux") else []
    compile_cxx(
        ["-rdynamic", *objects, archive, *libraries, *allow, "-pthread", "-o", PROGRAM],
        "linking the simulation",
        folder,
    )
    for name in objects:
        (folder / name).unlink()
