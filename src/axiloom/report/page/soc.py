"""A system by itself, before anything has run on it."""

from __future__ import annotations

from axiloom.cosim.system import System
from axiloom.report import blocks as described
from axiloom.report.page import blocks, parts
from axiloom.report.page.document import document

BLOCKS = "What is simulated. Programs run on the CPU and reach the accelerators along the lines."


def render(system: System) -> str:
    title = f"{' and '.join(link.name for link in system.devices)} on {system.board_name}"
    picture = blocks.picture(described.of(system, None))
    return document(title, [parts.section("blocks", title, picture, BLOCKS)])
