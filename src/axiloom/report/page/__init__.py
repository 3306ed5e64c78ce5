"""``--report DIR``: a run as one HTML page that needs nothing but itself, and carries its report.

``parts`` has the sections, ``network`` those of layers; ``compare`` is the page of several runs, ``front``
that of a search, ``soc`` that of a system by itself. ``svg`` draws for all pages: ``blocks`` the system,
``roofline`` what bounds a run; ``charts`` has bars of HTML. ``traces`` has the data of timelines,
``document`` the frame, ``page.css`` and ``page.js`` how it looks and moves. All figures come from report and
timeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axiloom.base.files import write_whole
from axiloom.cosim.profile import Timeline
from axiloom.report.page import blocks, charts, network, parts, traces
from axiloom.report.page.document import document
from axiloom.report.types import Report

FILE = "index.html"
REPORT = "report-data"
"""The class of the script that is the report."""


@dataclass(frozen=True)
class Source:
    """What a page shows beside the report."""

    timeline: Timeline | None
    driver: str | None
    """The C of the driver."""
    command: str
    """What repeats the run."""


def render(report: Report, source: Source, most: int = traces.MOST) -> str:
    """The page. The same run gives the same bytes: it leaves out how fast the simulation was.

    `most`: intervals of the timeline that it holds.
    """
    title = f"{report['config']['problem']} on {report['config']['accelerator']}"
    trace = traces.trace(source.timeline, most)
    sections = [
        parts.header(report),
        parts.section("hang", "Where it hung", parts.hang(report), ""),
        parts.section("console", "What it printed", parts.console(report), ""),
        parts.section("where", "Where the time went", charts.losses(report, trace), parts.WHERE),
        parts.section("gains", "What would win time", charts.remedies(report), parts.GAINS),
        parts.section("blocks", "What was simulated", blocks.diagram(report), blocks.BLOCKS),
        parts.section("layers", "Layers", network.layers(report, trace), network.LAYERS),
        parts.section("memory", "Memory between layers", network.memory(report), network.MEMORY),
        parts.section("timeline", "Timeline", traces.section(trace), parts.TIMELINE),
        '<div class="pair">',
        parts.section("roofline", "Roofline", charts.roofline(report), parts.ROOFLINE),
        parts.section("transfers", "Transfers", charts.transfers(report, trace), parts.TRANSFERS),
        "</div>",
        '<div class="pair">',
        parts.section("counters", "Counters", parts.counters(report), ""),
        parts.section("functions", "CPU time by function", parts.functions(report, trace), parts.FUNCTIONS),
        "</div>",
        parts.section("meanwhile", "What the CPU did meanwhile", parts.meanwhile(report), parts.MEANWHILE),
        parts.section("run", "This run", parts.configuration(report) + parts.repeat(source.command), ""),
        parts.driver(source.driver),
        traces.embedded(REPORT, {name: part for name, part in report.items() if name != "simulation"}),
    ]
    return document(title, sections, script=True)


def write(report: Report, source: Source, folder: Path) -> Path:
    """Write the page to `folder`; returns its path."""
    path = folder / FILE
    write_whole(path, render(report, source))
    return path
