"""The block diagram: the system that was simulated, with widths and bytes at each edge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from axiloom.report.blocks import L1, L2, MEMORY
from axiloom.report.numbers import size
from axiloom.report.page.svg import Drawing, fitted, wrapped
from axiloom.report.types import Block, Edge, Report, SystemPart

BLOCKS = "What was simulated, and what moved over each edge: bytes by direction, or accesses."
_LINE, _PAD, _TITLE = 17, 9, 20
_HOST = ("cpu", "cache")
_TWO_COLUMNS = 700
"""Pixels from which the accelerators stand beside the CPU, not over it."""
_RAIL_ROOM = 110
"""Pixels beside a rail that its label needs; on a telephone it is in the block."""


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


def diagram(report: Report) -> str:
    """Of a run; empty for a report from before there were any."""
    return picture(report["system"]) if "system" in report else ""


def picture(system: SystemPart) -> str:
    return fitted(lambda width: draw(system, width))


def draw(system: SystemPart, width: float) -> Drawing:
    if width < _TWO_COLUMNS:
        system = _with_ports(system)
    boxes = _wide(system, width) if width >= _TWO_COLUMNS else _narrow(system, width)
    named = "; ".join(
        f"{edge['source']} to {edge['target']}: {', '.join(label(edge))}" for edge in system["edges"]
    )
    drawing = Drawing(width, max(box.bottom for box in boxes.values()) + 2, named)
    rails: list[str] = []
    for edge in system["edges"]:
        _connect(drawing, edge, boxes, rails)
    for block in system["blocks"]:
        _box(drawing, block, boxes[block["name"]])
    return drawing


def label(edge: Edge) -> list[str]:
    """What stands at an edge: how wide it is, and what moved."""
    moved = []
    if edge["there"] is not None:
        moved.append(f"{size(edge['there'])} →")
    if edge["back"] is not None:
        moved.append(f"← {size(edge['back'])}")
    if edge["count"] is not None:
        moved.append(f"{edge['count']:,} {'lines' if edge['what'].startswith('lines') else 'accesses'}")
    wide = f"{edge['what']}, {edge['bits']} bits" if edge["bits"] else edge["what"]
    return [wide, *moved]


def _with_ports(system: SystemPart) -> SystemPart:
    """With what goes through ports to memory said in the blocks that have them: beside a rail is no room."""
    said = {edge["target"]: _port(edge) for edge in system["edges"] if edge["source"] in (MEMORY, L1, L2)}
    devices = [block["name"] for block in system["blocks"] if block["kind"] in ("dma", "accelerator")]
    blocks: list[Block] = [
        {**block, "facts": [*block["facts"], *said.get(block["name"], ())]}
        if block["name"] in devices
        else block
        for block in system["blocks"]
    ]
    return {"blocks": blocks, "edges": system["edges"]}


def _port(edge: Edge) -> list[str]:
    wide, *moved = label(edge)
    return [wide, *(text.replace(" →", " in").replace("← ", "") + " out" * ("←" in text) for text in moved)]


# --- where the blocks stand ------------------------------------------------------------------------------


def _facts(block: Block, width: float) -> list[str]:
    return [line for fact in block["facts"] for line in wrapped(fact, width - 2 * _PAD)]


def _height(block: Block, width: float) -> float:
    return 2 * _PAD + _TITLE + _LINE * len(_facts(block, width)) - 4


def _wide(system: SystemPart, width: float) -> Mapping[str, Box]:
    """The CPU and its caches at the left, the accelerators at the right, memory below both."""
    column, gap = 280.0, 56.0
    middle, right = 423.0, 250.0
    boxes: dict[str, Box] = {}
    y = 1.0
    for block in (block for block in system["blocks"] if block["kind"] in _HOST):
        boxes[block["name"]] = Box(1, y, column, _height(block, column))
        y = boxes[block["name"]].bottom + gap
    (bus,) = (block for block in system["blocks"] if block["kind"] == "bus")
    boxes[bus["name"]] = Box(middle, 1, right, _height(bus, right))
    below = boxes[bus["name"]].bottom + 44
    for dma, device in _devices(system):
        height = max(_height(block, right) for block in (dma, device) if block)
        boxes[(dma or device)["name"]] = Box(middle, below, right, height)
        if dma:
            boxes[device["name"]] = Box(width - right - 1, below, right, height)
        below += height + gap
    (memory,) = (block for block in system["blocks"] if block["kind"] == "memory")
    boxes[memory["name"]] = Box(1, max(y, below), width - 2, _height(memory, width))
    return boxes


def _narrow(system: SystemPart, width: float) -> Mapping[str, Box]:
    """All below each other: accelerators, the way to them, the CPU, memory."""
    left, gap = 34.0, 64.0
    across = 84 if width < 400 else 124
    whole, half = width - left - 1, (width - left - 1 - across) / 2
    boxes: dict[str, Box] = {}
    y = 1.0
    for dma, device in _devices(system):
        own = half if dma else whole
        height = max(_height(block, own) for block in (dma, device) if block)
        boxes[(dma or device)["name"]] = Box(left, y, own, height)
        if dma:
            boxes[device["name"]] = Box(width - half - 1, y, half, height)
        y += height + gap
    for kinds in (("bus",), _HOST, ("memory",)):
        for block in (block for block in system["blocks"] if block["kind"] in kinds):
            boxes[block["name"]] = Box(left, y, whole, _height(block, whole))
            y = boxes[block["name"]].bottom + gap
    return boxes


def _devices(system: SystemPart) -> Iterator[tuple[Block | None, Block]]:
    """Each accelerator with the DMA in front of it, which has the edge named `streams`."""
    blocks = {block["name"]: block for block in system["blocks"]}
    streams = {edge["target"]: edge["source"] for edge in system["edges"] if edge["what"] == "streams"}
    for block in system["blocks"]:
        if block["kind"] == "accelerator":
            dma = streams.get(block["name"])
            yield (blocks[dma] if dma else None), block


# --- what is drawn ---------------------------------------------------------------------------------------


def _box(drawing: Drawing, block: Block, box: Box) -> None:
    drawing.box(*box, kind=f"block {block['kind']}")
    y = box.y + _PAD + 13
    drawing.text(box.x + _PAD, y, block["name"], "point", room=box.width - 2 * _PAD)
    for fact in _facts(block, box.width):
        y += _LINE
        drawing.text(box.x + _PAD, y, fact)


def _connect(drawing: Drawing, edge: Edge, boxes: Mapping[str, Box], rails: list[str]) -> None:
    """A straight line where there is one that meets no other block, else round a corner, else by a rail."""
    a, b = boxes[edge["source"]], boxes[edge["target"]]
    others = [box for box in boxes.values() if box not in (a, b)]
    x, y = _shared(a.x, a.right, b.x, b.right), _shared(a.y, a.bottom, b.y, b.bottom)
    if x is not None and not any(_is_between(box, a, b, x) for box in others):
        _straight_down(drawing, edge, (a, b), x)
    elif y is not None:
        _straight_across(drawing, edge, (a, b) if a.x < b.x else (b, a), y)
    elif x is None and a.right < b.x:
        _round_a_corner(drawing, edge, a, b)
    else:
        _by_rail(drawing, edge, a, b, rails)


def _shared(begin: float, end: float, other: float, last: float) -> float | None:
    """The middle of what two stretches have in common."""
    first, final = max(begin, other), min(end, last)
    return (first + final) / 2 if first < final else None


def _is_between(box: Box, a: Box, b: Box, x: float) -> bool:
    return box.x <= x <= box.right and min(a.y, b.y) < box.y < max(a.y, b.y)


def _straight_down(drawing: Drawing, edge: Edge, ends: tuple[Box, Box], x: float) -> None:
    a, b = ends
    upper, lower = (a, b) if a.y < b.y else (b, a)
    drawing.line(x, upper.bottom, x, lower.y, "edge")
    _lines(drawing, _upright(edge, down=upper is a), x + 8, (upper.bottom + lower.y) / 2)


def _straight_across(drawing: Drawing, edge: Edge, ends: tuple[Box, Box], y: float) -> None:
    left, right = ends
    drawing.line(left.right, y, right.x, y, "edge")
    shown = [part for line in label(edge) for part in wrapped(line, right.x - left.right - 6)]
    above = min((len(shown) + 1) // 2, int((y - _LINE) / _LINE))  # what has room below the picture's edge
    for place, line in enumerate(shown):
        at = y - 7 - _LINE * (above - 1 - place) if place < above else y + 17 + _LINE * (place - above)
        drawing.text((left.right + right.x) / 2, at, line, anchor="middle")


def _round_a_corner(drawing: Drawing, edge: Edge, a: Box, b: Box) -> None:
    """From the right of `a` to the upper or lower side of `b`."""
    y, x = a.middle[1], b.x + 60
    below = y > b.bottom
    drawing.path([(a.right, y), (x, y), (x, b.bottom if below else b.y)], "edge")
    lines = _upright(edge, down=not below)
    _lines(drawing, lines, x + 8, (y + b.bottom) / 2 + 8 if below else (y + b.y) / 2)


def _by_rail(drawing: Drawing, edge: Edge, a: Box, b: Box, rails: list[str]) -> None:
    """Beside the blocks, each source on a rail of its own."""
    if edge["source"] not in rails:
        rails.append(edge["source"])
    lower, upper = (a, b) if a.y > b.y else (b, a)
    x = upper.x - 9 - 11 * rails.index(edge["source"])
    end = (lower.x, lower.y + 20) if x < lower.x else (x, lower.y)
    drawing.path([(upper.x, upper.middle[1]), (x, upper.middle[1]), (x, end[1]), end], "edge")
    if x > _RAIL_ROOM and edge["there"] is not None:
        shown = [part for line in _upright(edge, down=upper is a) for part in wrapped(line, _RAIL_ROOM)]
        _lines(drawing, shown, x - 6, upper.middle[1], "end")


def _upright(edge: Edge, *, down: bool) -> list[str]:
    """The label at a vertical line, with arrows as the bytes went."""
    there, back = ("↓", "↑") if down else ("↑", "↓")
    first, *moved = (line.replace("→", there).replace("←", back) for line in label(edge))
    return [first, "   ".join(moved)] if moved else [first]


def _lines(drawing: Drawing, lines: list[str], x: float, middle: float, anchor: str = "start") -> None:
    if anchor == "start":
        lines = [part for line in lines for part in wrapped(line, drawing.width - x)]
    y = middle + 5 - (len(lines) - 1) * _LINE / 2
    for place, line in enumerate(lines):
        drawing.text(x, y + place * _LINE, line, anchor=anchor)
