"""Builds the simulation of a circuit with Verilator. Cached by the hash of all that goes into it."""

from __future__ import annotations

import shutil
from pathlib import Path

from axiloom.base.cache import cached_build, content_hash
from axiloom.cosim.build import verilator
from axiloom.hw.nest.circuit import Circuit
from axiloom.hw.nest.units import Find
from axiloom.hw.verilog.nest import NestVerilog, emit_nest
from axiloom.nest.ports import header
from axiloom.nest.progress import SILENT, Steps

MAIN = Path(__file__).with_name("main.cpp")
PROGRAM = "simulation"
FAST = ["-O2", "-march=native"]
"""For many cycles; :data:`~axiloom.cosim.build.verilator.QUICK` for few. -O3 compiles for longer than it
saves."""


def build(circuit: Circuit, verilog: NestVerilog, checks: bool, fast: bool) -> Path:
    """The program for `circuit`, of which `verilog` is the RTL. Raises BuildError."""
    archive = verilator.runtime()
    ports = header(circuit, checks)
    level = FAST if fast else verilator.QUICK

    def fill(folder: Path) -> None:
        (folder / "design.v").write_text(verilog.text)
        (folder / "ports.h").write_text(ports)
        (folder / "main.cpp").write_text(MAIN.read_text())
        # An operator that is not copied into each lane is compiled once.
        kept = "".join(f'no_inline -module "{name}"\n' for name in verilog.operators)
        (folder / "control.vlt").write_text(f"`verilator_config\n{kept}")
        arguments = ["--top-module", verilog.top, "--Mdir", "generated", "control.vlt", "design.v"]
        verilator.verilate(arguments, f"Verilator cannot build {verilog.top}", folder)
        what = f"compiling the simulation of {verilog.top}"
        objects = verilator.compile_generated(folder / "generated", [folder / "main.cpp"], level, what)
        verilator.compile_cxx(
            [*objects, archive, "-pthread", "-o", PROGRAM], "linking the simulation", folder
        )
        shutil.rmtree(folder / "generated")
        for name in objects:
            (folder / name).unlink()

    key = content_hash(
        "nest", verilator.identity(), level, verilog.text, list(verilog.operators), ports, MAIN
    )
    return cached_build("nest", key, fill) / PROGRAM


def emit_and_build(
    circuit: Circuit, find: Find, checks: bool, fast: bool, steps: Steps = SILENT
) -> tuple[Path, NestVerilog]:
    """As :func:`build`, with the Verilog."""
    nodes = sum(len(pipe.nodes) for pipe in circuit.pipes)
    with steps.step("writing the Verilog", "verilog", nodes):
        verilog = emit_nest(circuit, find, checks)
    what = f"building the simulation with Verilator ({len(verilog.text) // 1000:,} kB of Verilog)"
    with steps.step(what, "fast" if fast else "quick", len(verilog.text)):
        return build(circuit, verilog, checks, fast), verilog
