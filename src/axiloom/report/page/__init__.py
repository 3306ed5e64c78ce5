"""``--report DIR``: a run as one HTML page that needs nothing but itself.

``parts`` has the sections, ``network`` those of layers, ``charts`` and ``roofline`` the drawings (SVG, HTML
bars), ``traces`` the data of the timeline, ``document`` the frame, ``page.css`` and ``page.js`` how it looks
and moves. All figures come from report and timeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axiloom.base.files import write_whole
from axiloom.cosim.profile import Timeline
from axiloom.report.page import charts, network, parts, traces
from axiloom.report.page.document import document
from axiloom.report.types import Report

FILE = "index.html"


@dataclass(frozen=True)
class Source:
    """What a page shows beside the report."""

    timeline: Timeline
    driver: str | None
    """The C of the driver."""
    command: str
    """What repeats the run."""


def render(report: Report, source: Source) -> str:
    """The page. The same run gives the same bytes: it leaves out how fast the simulation was."""
    title = f"{report['config']['problem']} on {report['config']['accelerator']}"
    sections = [
        parts.header(report),
        parts.section("hang", "Where it hung", parts.hang(report), ""),
        parts.section("where", "Where the time went", charts.losses(report), parts.WHERE),
        parts.section("layers", "Layers", network.layers(report), network.LAYERS),
        parts.section("memory", "Memory between layers", network.memory(report), network.MEMORY),
        parts.section("timeline", "Timeline", traces.section(source.timeline), parts.TIMELINE),
        '<div class="pair">',
        parts.section("roofline", "Roofline", charts.roofline(report), parts.ROOFLINE),
        parts.section("transfers", "Transfers", charts.transfers(report), parts.TRANSFERS),
        "</div>",
        '<div class="pair">',
        parts.section("counters", "Counters", parts.counters(report), ""),
        parts.section("functions", "CPU time by function", parts.functions(report), parts.FUNCTIONS),
        "</div>",
        parts.section("meanwhile", "What the CPU did meanwhile", parts.meanwhile(report), parts.MEANWHILE),
        parts.section("run", "This run", parts.configuration(report) + parts.repeat(source.command), ""),
        parts.driver(source.driver),
    ]
    return document(title, sections, script=True)


def write(report: Report, source: Source, folder: Path) -> Path:
    """Write the page to `folder`; returns its path."""
    path = folder / FILE
    write_whole(path, render(report, source))
    return path
