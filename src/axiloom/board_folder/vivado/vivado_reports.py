#!/usr/bin/env python3
"""Makes report.json of Vivado's reports: resources, slack, clocks. Python's own library is enough.

python3 vivado/reports.py build/            reads utilization.rpt and timing.rpt there, writes report.json
python3 vivado/reports.py build/ --check    the same, and fails where timing is not met
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

SITES = {
    "lut": ("Slice LUTs", "CLB LUTs"),
    "ff": ("Slice Registers", "CLB Registers"),
    "bram36": ("Block RAM Tile",),
    "uram": ("URAM",),
    "dsp": ("DSPs",),
}
"""Resource to its names in report_utilization: of 7 series, of UltraScale+."""

_SUMMARY = (
    *("wns_ns", "tns_ns", "setup_failing", "setup_endpoints"),
    *("whs_ns", "ths_ns", "hold_failing", "hold_endpoints"),
    *("wpws_ns", "tpws_ns", "pulse_failing", "pulse_endpoints"),
)


class ReportError(Exception):
    """A report is not what it should be; the message says which and where."""


def utilization(text: str) -> dict[str, dict[str, float]]:
    """Resource to `used`, `available` and `percent`, from report_utilization.

    Raises :exc:`ReportError` if LUTs or registers are missing.
    """
    used_of: dict[str, dict[str, float]] = {}
    columns: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if "Used" in cells and "Available" in cells:
            columns = cells
            continue
        if not columns or len(cells) != len(columns):
            continue
        row = dict(zip(columns, cells, strict=True))
        # Names may carry an asterisk that leads to a footnote.
        name = cells[0].rstrip("*").strip()
        for resource, names in SITES.items():
            if name in names and resource not in used_of and row["Available"]:
                used, available = float(row["Used"]), float(row["Available"])
                percent = round(100 * used / available, 2) if available else 0.0
                used_of[resource] = {"used": used, "available": available, "percent": percent}
    missing = [name for name in ("lut", "ff") if name not in used_of]
    if missing:
        raise ReportError(f"utilization report: no line of {', '.join(SITES[missing[0]])}")
    return used_of


def timing(text: str) -> dict[str, Any]:
    """Slacks of the design, its clocks and the highest frequency, from report_timing_summary.

    ``met``: no endpoint fails. ``clocks``: name to period and frequency; each with ``fmax_mhz`` where the
    report has the clock's own slack. Raises :exc:`ReportError` if there is no summary.
    """
    heading = re.search(r"^ *WNS\(ns\) .*WHS\(ns\).*$\n^[ -]+$\n^ *(\S.*)$", text, re.MULTILINE)
    if heading is None:
        raise ReportError("timing report: no Design Timing Summary")
    values = heading[1].split()
    if "NA" in values[:4]:
        raise ReportError("timing report: no path is timed: is the clock constrained?")
    result: dict[str, Any] = {}
    for name, value in zip(_SUMMARY, values, strict=False):
        if value != "NA":
            result[name] = float(value) if name.endswith("_ns") else int(value)
    failing = [result.get(f"{kind}_failing", 0) for kind in ("setup", "hold", "pulse")]
    result["met"] = not any(failing)
    result["clocks"] = _clocks(text)
    return result


def _clocks(text: str) -> dict[str, dict[str, float]]:
    clocks: dict[str, dict[str, float]] = {}
    part = re.search(r"^\| Clock Summary$(.*?)^\| \w", text, re.MULTILINE | re.DOTALL)
    row = re.compile(r"^ *(\S+) +\{[\d. ]+\} +([\d.]+) +([\d.]+)", re.MULTILINE)
    for name, period, frequency in row.findall(part[1] if part else text):
        clocks[name] = {"period_ns": float(period), "frequency_mhz": float(frequency)}
    part = re.search(r"^\| Intra Clock Table$(.*?)^\| Inter Clock Table", text, re.MULTILINE | re.DOTALL)
    for name, slack in re.findall(r"^ *(\S+) +(-?\d+\.\d+) ", part[1] if part else "", re.MULTILINE):
        if name in clocks:
            clocks[name]["wns_ns"] = float(slack)
            clocks[name]["fmax_mhz"] = round(1000 / (clocks[name]["period_ns"] - float(slack)), 2)
    return clocks


def report(folder: Path) -> dict[str, Any]:
    """Both reports of a folder as one value. Raises :exc:`ReportError` for what is missing."""
    texts = {}
    for name in ("utilization.rpt", "timing.rpt"):
        path = folder / name
        if not path.is_file():
            raise ReportError(f"{path} is not there: run vivado/build.tcl first")
        texts[name] = path.read_text(encoding="utf-8", errors="replace")
    return {"utilization": utilization(texts["utilization.rpt"]), "timing": timing(texts["timing.rpt"])}


def main() -> int:
    parser = argparse.ArgumentParser(description="report.json of Vivado's reports")
    parser.add_argument("folder", type=Path, help="where utilization.rpt and timing.rpt are")
    parser.add_argument("--check", action="store_true", help="fail where timing is not met")
    options = parser.parse_args()
    try:
        figures = report(options.folder)
    except ReportError as error:
        print(error, file=sys.stderr)
        return 2
    (options.folder / "report.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    for name, row in figures["utilization"].items():
        print(f"{name:<8} {row['used']:>9,.10g} of {row['available']:>9,.10g}  {row['percent']:>6.2f} %")
    slack = figures["timing"]["wns_ns"]
    print(f"slack    {slack:>9.3f} ns, timing is {'met' if figures['timing']['met'] else 'NOT met'}")
    return 1 if options.check and not figures["timing"]["met"] else 0


if __name__ == "__main__":
    sys.exit(main())
