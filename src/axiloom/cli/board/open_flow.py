"""``axiloom board build`` and ``axiloom estimate``: bitstreams and estimates without a vendor's tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axiloom.base.files import write_whole
from axiloom.board_folder import open_flow
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option
from axiloom.explore import estimate as estimates
from axiloom.explore.asked import Asked
from axiloom.library.progress import told


def build(folder: Path, clock: float | None = None, seeds: int = 4) -> None:
    clock_hz = round(clock * 1e6) if clock else 0
    built = open_flow.build(folder, clock_hz=clock_hz, seeds=seeds, progress=told())
    report = built.report
    print(f"{built.folder / open_flow.BITSTREAM}: {report['accelerator']} on {report['board']}")
    print(f"  clock    {report['clock_hz'] / 1e6:g} MHz, met; it could be {report['fmax_hz'] / 1e6:.1f} MHz")
    if report["clock_hz"] != report["asked_hz"]:
        print(f"           not {report['asked_hz'] / 1e6:g}, which was asked for")
    if report["clock_hz"] != report["usual_hz"]:
        print(f"           axiloom run ... --board ulx3s --clock {report['clock_hz'] / 1e6:g}")
    print(f"  slowest  {_path(report['critical_path'])}")
    print("\n".join(_utilisation(report["utilisation"])))


def estimate(asked: Asked, device: Sequence[str] = (), json_file: Path | None = None) -> None:
    spec = asked.spec()
    rtl, progress = asked.user_rtl(spec, command="estimate"), told()
    estimated = [
        estimates.estimate(spec, name, user_rtl=rtl, progress=progress)
        for name in device or tuple(estimates.DEVICES)
    ]
    progress("")
    if json_file:
        write_whole(json_file, json.dumps([row.as_json() for row in estimated], indent=2) + "\n")
    for row in estimated:
        figures = row.as_json()
        label = f"{figures['accelerator']}, RTL {rtl.top}," if rtl else figures["accelerator"]
        print(f"{label} with its DMA on {figures['device']}{'' if row.fits else ': DOES NOT FIT'}")
        print("\n".join(_utilisation(figures["resources"])))
        if row.routed is not None:
            print(f"  clock    {row.routed.fmax_hz / 1e6:.1f} MHz")
            print(f"  slowest  {row.routed.critical}")


def _path(path: dict[str, Any]) -> str:
    total = path["logic_ns"] + path["routing_ns"]
    return f"{path['begin']} to {path['end']}: {total:.2f} ns, {path['levels']} levels"


def _utilisation(used: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"  {name:<12} {resource['used']:>8,g} of {resource['available']:>7,g}  "
        f"{resource['used'] / resource['available']:>4.0%}"
        for name, resource in used.items()
    ]


BUILD = Applet(
    "board build",
    "make the bitstream of a ulx3s folder with Yosys and nextpnr",
    build,
    (
        option("folder", type=Path, metavar="DIR"),
        option(
            "--clock",
            type=shared.megahertz,
            metavar="MHZ",
            help="the fabric's (default: what the folder says, or the next slower one that is met)",
        ),
        option(
            "--seeds",
            needs={"clock": "attempts at the clock of --clock: without, each clock has one"},
            type=shared.positive,
            metavar="N",
            help="attempts at placement for the clock of --clock (default 4)",
        ),
    ),
    "Writes design.bit, report.json and nextpnr.log to DIR/openflow/build. Exit code 5 if the clock of "
    "--clock is not met.",
)
APPLETS = (
    Applet(
        "estimate",
        HELP["estimate"],
        estimate,
        (
            shared.accelerator(typed=True),
            option(
                "--device",
                action="append",
                choices=tuple(estimates.DEVICES),
                first=True,
                help="once for each (default: all): xc7z020 gives resources, ecp5-85k the clock too",
            ),
            shared.JSON_TOO,
        ),
        "Minutes for a new design; what was estimated once is in the user's cache.",
    ),
)
