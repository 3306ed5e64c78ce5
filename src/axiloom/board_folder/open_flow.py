"""From a specification to an ECP5's bitstream with Yosys and nextpnr: a board's folder, and its build.

Without ``--clock``, ``board build`` makes one attempt at each clock and goes down. Another seed costs as
much as the next clock and is less certain. Data registers of the array have no reset and no enable,
because each of the two was a net with thousands of ends.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from axiloom import isa
from axiloom.base.cache import cached_build
from axiloom.base.errors import BuildError, UsageError
from axiloom.base.files import write_whole
from axiloom.boards.ecp5 import nextpnr
from axiloom.boards.ecp5 import synthesis as ecp5
from axiloom.boards.synthesis import yosys
from axiloom.boards.ulx3s_design import NAME, TOP, Design
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec

Progress = Callable[[str], None]

FOLDER = "openflow"
SPECIFICATION = "accelerator.json"
BITSTREAM, REPORT, LOG, NETLIST = "design.bit", "report.json", "nextpnr.log", "netlist.v"
DEVICE = nextpnr.Device()
_STEP_HZ = 12_500_000
"""Between clocks that the PLL makes of 25 MHz."""
_HOPELESS = 0.85
"""Of the clock: where an attempt stays below, none of the next ones, a tenth apart, will meet it."""


def board_files(
    spec: AcceleratorSpec, board: str = NAME, clock_hz: int = 0, user_rtl: UserRtl | None = None
) -> dict[str, str]:
    """What the open flow needs of `spec`: relative path in a board's folder, and text.

    `clock_hz` is the fabric's (0: the board's own). Raises :exc:`SpecError` for a specification that cannot
    be on the board, and :exc:`UsageError` for another board.
    """
    if board != NAME:
        raise UsageError(f"board {board!r} has no open flow: {NAME} has")
    design = Design(spec, clock_hz, user_rtl)
    settings = {
        "board": NAME,
        "top": TOP,
        "clock_hz": design.clock_hz,
        "baud": design.baud,
        "device": asdict(DEVICE),
    }
    files = {
        **dict(design.sources),
        "pins.lpf": design.pins,
        "design.json": json.dumps(settings, indent=2) + "\n",
        "Makefile": _MAKEFILE,
        "README.md": _readme(spec, design),
    }
    return {f"{FOLDER}/{name}": text for name, text in files.items()}


def _user_rtl(folder: Path, spec: AcceleratorSpec) -> UserRtl | None:
    """The user's Verilog that the folder was written with."""
    mark = folder / "board.json"
    told = json.loads(mark.read_text(encoding="utf-8")).get("rtl") if mark.is_file() else None
    return UserRtl([folder / name for name in told["files"]], told["top"], spec.link.rtl) if told else None


@dataclass(frozen=True)
class Built:
    """A finished build: its folder, and what :data:`REPORT` there says."""

    folder: Path
    report: dict[str, Any]


def build(
    folder: Path, *, clock_hz: int = 0, seeds: int = 4, progress: Progress = lambda _line: None
) -> Built:
    """Make the bitstream of the board folder `folder`, by its :data:`SPECIFICATION`, in ``openflow/build``.

    Placement begins at random: up to `seeds` are tried until one meets `clock_hz`. 0 begins with what the
    folder says and goes, after one attempt at each, to the next clock that the design reached and the PLL
    makes, until one is met; the folder's sources are then for that one. Raises :exc:`BuildError` if
    `clock_hz` is not met (the reports of the best are written), if the design does not fit, or if a tool is
    missing; :exc:`UsageError` for a folder without a specification.
    """
    path = folder / SPECIFICATION
    if not path.is_file():
        raise UsageError(
            f"{folder}: no board folder: {SPECIFICATION} is not there (axiloom board new {NAME} ...)"
        )
    mark = folder / "board.json"
    board = json.loads(mark.read_text(encoding="utf-8"))["board"] if mark.is_file() else NAME
    if board != NAME:
        raise UsageError(f"{folder}: a folder for {board}, which Vivado builds (make bitstream), not {NAME}")
    yosys.version()
    yosys.version(nextpnr.PACKAGE)
    spec = isa.load(path)
    out = folder / FOLDER / "build"
    # If anything below fails, no bitstream of an older design may lie beside the new Verilog.
    for product in (BITSTREAM, REPORT):
        (out / product).unlink(missing_ok=True)
    settings = folder / FOLDER / "design.json"
    told = int(json.loads(settings.read_text(encoding="utf-8"))["clock_hz"]) if settings.is_file() else 0
    rtl = _user_rtl(folder, spec)
    design = Design(spec, clock_hz or told, rtl)
    asked_hz = design.clock_hz
    netlist, best = _routed(design, seeds if clock_hz else 1, progress)
    while not clock_hz and not best.met:
        slower = slower_clock(spec, min(best.fmax_hz, design.clock_hz - 1))
        progress("")
        progress(
            f"{best.fmax_hz / 1e6:.1f} MHz reached, not {design.clock_hz / 1e6:g}: next {slower / 1e6:g}"
        )
        design = Design(spec, slower, rtl)
        netlist, best = _routed(design, 1, progress)
    progress("")

    for name, text in board_files(spec, clock_hz=design.clock_hz, user_rtl=rtl).items():
        write_whole(folder / name, text)
    out.mkdir(parents=True, exist_ok=True)
    _copy(best.folder / nextpnr.LOG, out / LOG)
    _copy(netlist.folder / ecp5.VERILOG, out / NETLIST)
    report = _report(spec, design, best, asked_hz)
    write_whole(out / REPORT, json.dumps(report, indent=2) + "\n")
    if not best.met:
        raise BuildError(
            f"{spec.name} reaches {best.fmax_hz / 1e6:.1f} MHz on {NAME}, not {design.clock_hz / 1e6:g} "
            f"({best.critical}): leave --clock out, ask for less"
            + (", or take more attempts (--seeds)" if best.fmax_hz >= _HOPELESS * design.clock_hz else "")
        )
    _copy(nextpnr.pack(best, cached_build), out / BITSTREAM)
    return Built(out, report)


def slower_clock(spec: AcceleratorSpec, limit_hz: float) -> int:
    """The fastest clock of the board up to `limit_hz`. Raises :exc:`BuildError` if there is none."""
    for steps in range(int(limit_hz // _STEP_HZ), 0, -1):
        try:
            return Design(spec, steps * _STEP_HZ).clock_hz
        except UsageError:  # neither the PLL nor the serial line takes all of them
            continue
    raise BuildError(f"{spec.name} reaches {limit_hz / 1e6:.1f} MHz on {NAME}, which has no clock as slow")


def _routed(design: Design, seeds: int, progress: Progress) -> tuple[ecp5.Netlist, nextpnr.Routed]:
    """The netlist of `design`, and the fastest of up to `seeds` attempts, the first that meets its clock."""
    progress(f"synthesising {design.spec.name} (Yosys; minutes, unless it was done before)")
    netlist = ecp5.synthesise(design.sources, TOP, cached_build)
    best: nextpnr.Routed | None = None
    for seed in range(1, seeds + 1):
        progress(
            f"placing and routing for {design.clock_hz / 1e6:g} MHz (nextpnr, attempt {seed} of {seeds})"
        )
        routed = nextpnr.route(
            netlist,
            cached_build,
            frequency_hz=design.clock_hz,
            constraints=design.pins,
            device=DEVICE,
            seed=seed,
        )
        if best is None or routed.fmax_hz > best.fmax_hz:
            best = routed
        if routed.met or best.fmax_hz < _HOPELESS * design.clock_hz:
            break
    assert best is not None
    return netlist, best


def _copy(source: Path, target: Path) -> None:
    """Copy, so that nobody finds half a file."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, beside)
    beside.replace(target)


def _report(spec: AcceleratorSpec, design: Design, routed: nextpnr.Routed, asked_hz: int) -> dict[str, Any]:
    return {
        "accelerator": spec.name,
        "board": NAME,
        "device": asdict(DEVICE),
        "tools": [yosys.version(), yosys.version(nextpnr.PACKAGE)],
        "clock_hz": design.clock_hz,
        "asked_hz": asked_hz,
        "usual_hz": Design(spec).clock_hz,
        "baud": design.baud,
        "fmax_hz": round(routed.fmax_hz),
        "timing_met": routed.met,
        "utilisation": {name: {"used": a, "available": b} for name, (a, b) in routed.utilisation.items()},
        "critical_path": asdict(routed.critical),
        "bitstream": BITSTREAM if routed.met else None,
    }


_MAKEFILE = """# The bitstream, and onto the board with it. pip install -e '.[synth]' brings the tools.

all: build/design.bit

build/design.bit: ../accelerator.json
	axiloom board build ..

# Into the FPGA until power goes; `make flash` keeps it.
load: build/design.bit
	openFPGALoader --board ulx3s $<

flash: build/design.bit
	openFPGALoader --board ulx3s --write-flash $<

.PHONY: all load flash
"""


def _readme(spec: AcceleratorSpec, design: Design) -> str:
    dma = spec.link.dma
    usual = design.clock_hz == Design(spec).clock_hz
    clock = "" if usual else f" --clock {design.clock_hz / 1e6:g}"
    return f"""# {spec.name} on a ULX3S

The accelerator and its DMA run at {design.clock_hz / 1e6:g} MHz. A bridge on the board's USB serial port
({design.baud} baud) is the host's way to them: registers of the DMA at {dma.address:#x}, memory on the chip
in place of the windows at {dma.input_address:#x} and {dma.output_address:#x}. The driver is the same C as for
a Zynq; it runs on the PC.

1. `pip install -e '.[synth]'`, and openFPGALoader for the last step.
2. `axiloom board build ..` makes `build/design.bit`, and prints how fast the design could be.
3. `axiloom run PROBLEM --spec ../accelerator.json --board ulx3s{clock}` runs the driver against this Verilog
   in simulation.
4. `make load` puts the bitstream onto the board.
5. The same run on the board: `... --board ulx3s{clock} --port /dev/ttyUSB0`.

Lights, from the right: the bridge is busy, MM2S, S2MM, the array works; the upper four are the accelerator's
error code. FIRE 1 resets.
"""
