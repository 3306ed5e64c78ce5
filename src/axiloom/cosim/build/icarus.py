"""Builds a simulation with Icarus Verilog: slower than Verilator by orders, an independent second opinion."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError
from axiloom.cosim.build import verilator

Progress = Callable[[str], None]

PROGRAM = "simulation.vvp"
"""Name of the program in the folder of a finished build."""

MODULE = "axl.vpi"
"""Name of the VPI module in the folder that :func:`glue` returns."""


@cache
def find() -> tuple[Path, Path, str]:
    """The compiler, the runtime and the version. Raises BuildError if they are not there."""
    iverilog, vvp = shutil.which("iverilog"), shutil.which("vvp")
    if not iverilog or not vvp:
        raise BuildError("Icarus Verilog is not installed: apt install iverilog (or use --sim verilator)")
    done = processes.run([iverilog, "-V"])
    return Path(iverilog), Path(vvp), done.stdout.partition("\n")[0]


def _include() -> Path:
    """The folder of vpi_user.h, as the installation itself says."""
    script = shutil.which("iverilog-vpi")
    if script:
        flags = processes.run([script, "--cflags"]).stdout
        for flag in flags.split():
            if flag.startswith("-I") and (Path(flag[2:]) / "vpi_user.h").is_file():
                return Path(flag[2:])
    raise BuildError(
        "Icarus Verilog is there, but its vpi_user.h is not: reinstall it (apt install iverilog)"
    )


def glue(core: Path, progress: Progress | None = None) -> Path:
    """Folder with the VPI module that connects axiloom_tb.v to the core's library."""
    own = [
        verilator.RTL / "axl_vpi.cpp",
        verilator.RTL / "axl_glue.h",
        *(verilator.RTL.parent / "native" / name for name in ("axl_core.h", "axl_model.h")),
    ]
    flags = ["-O2", "-std=c++17", "-shared", "-fPIC", "-Wall"]

    def build(folder: Path) -> None:
        if progress:
            progress("compiling the VPI module for Icarus")
        headers = [f"-I{_include()}", f"-I{verilator.RTL.parent / 'native'}"]
        link = [f"-L{core.parent}", f"-l:{core.name}"]
        verilator.compile_cxx(
            [*flags, *headers, own[0], *link, "-o", folder / MODULE], "compiling the VPI module for Icarus"
        )

    cxx = verilator.compiler()
    return cached_build(
        "icarus-glue", content_hash(find()[2], *cxx.command, cxx.version, flags, core.name, *own), build
    )


def build(
    verilog: verilator.Sources,
    top: str,
    *,
    defines: tuple[str, ...] = (),
    trace: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Folder with the program :data:`PROGRAM` for the Verilog files. Raises BuildError.

    With `trace` the program takes ``+axl_trace=FILE`` and writes a VCD (see :data:`_DUMP`).
    """
    iverilog, _, version = find()
    # As Verilog, not as SystemVerilog, where a file does not ask for it: a user's module may have names that
    # are keywords there, or rely on a first value being an event at time 0, as what Yosys prints does.
    language = "-g2012" if any(name.endswith(".sv") for name, _ in verilog) else "-g2005"
    flags = [language, "-s", top, "-Wno-timescale", *(f"-D{name}" for name in defines)]
    sources = [*verilog]
    if trace:
        flags += ["-s", "axiloom_dump"]
        sources.append(("axiloom_dump.v", _DUMP.replace("TOP", top)))

    def fill(folder: Path) -> None:
        if progress:
            progress(f"compiling {top} with Icarus")
        # A time scale for files that have none. Its own line would shift theirs in messages.
        (folder / "timescale.v").write_text("`timescale 1ps / 1ps\n")
        files = ["timescale.v", *verilator.write_sources(tuple(sources), folder)]
        verilator.run_tool(
            [iverilog, *flags, "-o", PROGRAM, *files],
            f"Icarus cannot build {top}",
            re.compile(r"error|syntax", re.IGNORECASE),
            folder,
        )

    return cached_build("icarus", content_hash(version, flags, sources), fill)


def command(program: Path, module: Path | None = None) -> list[str | Path]:
    """Command that runs a build with cocotb, and with the VPI module of :func:`glue` for a SoC."""
    import cocotb_tools.config

    own: list[str | Path] = ["-M", module, "-m", MODULE.removesuffix(".vpi")] if module else []
    return [find()[1], *own, "-m", cocotb_tools.config.lib_entry("vpi", "icarus"), program / PROGRAM]


# The window is in fabric cycles of a job, as on Verilator; a top that is no axiloom_tb has none.
_DUMP = """
module axiloom_dump;
  reg [8191:0] file;
  reg [63:0] first, last;
  initial if ($value$plusargs("axl_trace=%s", file)) begin
    $dumpfile(file);
    $dumpvars(0, TOP);
`ifdef AXL_WINDOW
    if (!$value$plusargs("axl_trace_begin=%d", first)) first = 64'd0;
    if (!$value$plusargs("axl_trace_end=%d", last)) last = ~64'd0;
    $dumpoff;
    forever begin
      wait (TOP.ctl_go && TOP.now >= first && TOP.now < last) $dumpon;
      wait (!TOP.ctl_go || TOP.now < first || TOP.now >= last) $dumpoff;
    end
`endif
  end
endmodule
"""
