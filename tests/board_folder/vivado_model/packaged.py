"""Cores of our own as the model sees them: read from their component.xml."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from tests.board_folder.vivado_model.shapes import Interface, Ip, Pin, Segment, Shape

from axiloom.board_folder.vivado.ipxact import SPIRIT


def _tag(name: str) -> str:
    return f"{{{SPIRIT}}}{name}"


def packaged(path: Path) -> tuple[str, Ip]:
    """Vendor, library and name, and the core, of a component.xml that :mod:`ipxact_check` finds sound."""
    root = ET.parse(path).getroot()
    identity = ":".join(root.findtext(_tag(part), "") for part in ("vendor", "library", "name"))
    widths = {}
    for port in root.iterfind(f"{_tag('model')}/{_tag('ports')}/{_tag('port')}"):
        left = port.findtext(f"{_tag('wire')}/{_tag('vector')}/{_tag('left')}")
        direction = port.findtext(f"{_tag('wire')}/{_tag('direction')}")
        widths[port.findtext(_tag("name"), "")] = (direction == "in", int(left) + 1 if left else 1)
    kinds = {"clock": "clk", "reset": "rst", "interrupt": "intr"}
    pins, interfaces, spaces, segments = {}, {}, {}, {}
    inside: set[str] = set()
    for bus in root.iterfind(f"{_tag('busInterfaces')}/{_tag('busInterface')}"):
        name, kind = bus.findtext(_tag("name"), ""), bus.find(_tag("busType"))
        ports = [
            one.findtext(f"{_tag('physicalPort')}/{_tag('name')}", "") for one in bus.iter(_tag("portMap"))
        ]
        named = kind.get(_tag("name"), "") if kind is not None else ""
        is_master = bus.find(_tag("master")) is not None
        if named in kinds:
            is_input, width = widths[ports[0]]
            pins[name] = Pin(is_input, kinds[named], width, needed=is_input)
            continue
        inside.update(ports)
        interfaces[name] = Interface(is_master, named, "aclk")
        if named == "aximm" and is_master:
            spaces[name] = (name,)
        elif named == "aximm":
            for block in root.iterfind(f"{_tag('memoryMaps')}/{_tag('memoryMap')}/{_tag('addressBlock')}"):
                segments[f"{name}/{block.findtext(_tag('name'))}"] = Segment(name, least=1024)
    for name, (is_input, width) in widths.items():
        if name not in inside and name not in pins:
            pins[name] = Pin(is_input, "data", width)
    shape = Shape(pins, interfaces, spaces, segments)
    return identity, Ip({}, lambda _properties: shape)
