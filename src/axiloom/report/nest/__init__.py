"""``axiloom nest --plan`` and ``--run``: what they report, as data, as text, and as a page.

- ``build.py``: `build` (JSON) and `table` (a terminal)
- ``sections.py``: the page's text and tables; ``charts.py``: its drawings; ``body.py``: an iteration as data
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from axiloom.base.files import write_whole
from axiloom.isa.numerics.formats import format_of
from axiloom.nest.measure import Design
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.chart import chart
from axiloom.report.nest import charts, sections
from axiloom.report.nest.body import body, titles
from axiloom.report.nest.build import Data, Setting, build, table
from axiloom.report.page.document import document
from axiloom.report.page.parts import repeat, section

FILE = "index.html"


def render(design: Design, data: Data, command: str) -> str:
    """The page. The same design and data give the same bytes. `command` repeats it."""
    words, bits = traffic(design.written)
    times = chart(design.timing)
    parts = [
        sections.header(data),
        section(
            "loops",
            "Loops",
            sections.loops(Schedule.of(design.written), design.schedule, data["schedule"]["lines"]),
            sections.LOOPS,
        ),
        section("pipes", "Pipes over time", charts.gantt(times, titles(design.timing.alike)), sections.GANTT),
        *(
            section(
                f"slots-{pipe['name']}",
                f"One iteration of {pipe['name']}",
                charts.iteration(pipe),
                sections.SLOTS,
            )
            for pipe in body(design.lowered.circuit, design.timing.alike)
        ),
        '<div class="pair">',
        section("roofline", "Roofline", sections.roofline(data, words, bits), sections.ROOFLINE),
        section("resources", "Resources", sections.resources(data), sections.RESOURCES),
        "</div>",
        section("banks", "Arrays and banks", sections.memories(data), sections.BANKS),
        section("fifos", "FIFOs", sections.fifos(data) + sections.passing(data["notes"]), sections.FIFOS),
        section("dependences", "Dependences", sections.dependences(design.schedule), sections.DEPENDENCES),
        section("run", "This run", sections.search(data) + repeat(command), ""),
    ]
    return document(f"{escape(design.written.name)}: loops in {data['cycles']['predicted']:,} cycles", parts)


def traffic(program: Program) -> tuple[int, int]:
    """Words of the caller's arrays that come in or go out, and bits of the widest."""
    words, widest = 0, 1
    for array in program.arrays:
        times = array.role.is_given + array.role.is_result
        size = 1
        for extent in array.shape:
            size *= extent
        words += times * size
        if times:
            widest = max(widest, format_of(array.number).container)
    return words, widest


def write(design: Design, data: Data, command: str, folder: Path) -> Path:
    """Write the page to `folder`; returns its path."""
    path = folder / FILE
    write_whole(path, render(design, data, command))
    return path


__all__ = ["Data", "Setting", "build", "render", "table", "write"]
