"""Checks of a component.xml: the rules of IP-XACT (IEEE 1685-2009) and of Vivado that a wrong file breaks.

Order of elements, references that lead somewhere, interfaces against ports, and ports and files against the
Verilog beside it. All faults are found, each a line; an empty list if the file is sound.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from axiloom.base.errors import BuildError
from axiloom.board_folder.design.rtl import Port, ports
from axiloom.board_folder.vivado.buses import FROM_SLAVE, LIBRARY, SIGNALS
from axiloom.board_folder.vivado.ipxact import SPIRIT

ORDER = {
    "component": "vendor library name version busInterfaces channels remapStates addressSpaces memoryMaps "
    "model componentGenerators choices fileSets whiteboxElements cpus otherClockDrivers "
    "description parameters assertions vendorExtensions",
    "busInterface": "name displayName description busType abstractionType master slave system mirroredSlave "
    "mirroredMaster mirroredSystem monitor connectionRequired portMaps bitsInLau bitSteering "
    "endianness parameters vendorExtensions",
    "addressSpace": "name displayName description range width segments addressUnitBits executableImage "
    "localMemoryMap parameters vendorExtensions",
    "memoryMap": "name displayName description addressBlock bank subspaceMap memoryRemap addressUnitBits "
    "vendorExtensions",
    "addressBlock": "name displayName description typeIdentifier baseAddress range width usage volatile "
    "access parameters register registerFile vendorExtensions",
    "register": "name displayName description dim addressOffset typeIdentifier size volatile access reset "
    "field alternateRegisters parameters vendorExtensions",
    "view": "name displayName description envIdentifier hierarchyRef language modelName "
    "defaultFileBuilder fileSetRef constraintSetRef whiteboxElementRefs parameters "
    "vendorExtensions",
    "port": "name displayName description wire transactional access vendorExtensions",
    "wire": "direction vector wireTypeDefs driver constraintSets",
    "fileSet": "name displayName description group file defaultFileBuilder dependency function "
    "vendorExtensions",
    "file": "name fileType userFileType isIncludeFile logicalName exportedName buildCommand "
    "dependency define imageType description vendorExtensions",
}
"""Element to its children in the schema's order."""

REQUIRED = {
    "aximm": ("AWVALID", "AWREADY", "AWADDR", "WVALID", "WREADY", "WDATA", "BVALID", "BREADY"),
    "axis": ("TDATA", "TVALID", "TREADY"),
    "clock": ("CLK",),
    "reset": ("RST",),
    "interrupt": ("INTERRUPT",),
}
_READS = ("ARVALID", "ARREADY", "ARADDR", "RVALID", "RREADY", "RDATA")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def check(path: Path) -> list[str]:
    """Every fault of the component at `path`, each with the element it is in."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        return [f"{path.name}: not XML: {error}"]
    if root.tag != _tag("component"):
        return [f"{path.name}: the root is {root.tag}, not spirit:component of IEEE 1685-2009"]
    return [f"{path.name}: {fault}" for fault in _Component(root, path.parent).faults()]


def _tag(name: str) -> str:
    return f"{{{SPIRIT}}}{name}"


def _text(element: ET.Element, path: str) -> str:
    """Text of a descendant, empty where there is none."""
    return (element.findtext("/".join(_tag(part) for part in path.split("/"))) or "").strip()


def _attribute(element: ET.Element, path: str, name: str) -> str:
    found = element.find("/".join(_tag(part) for part in path.split("/")))
    return "" if found is None else found.get(_tag(name), "")


def _named(root: ET.Element, path: str) -> dict[str, ET.Element]:
    """Elements at `path` by their names."""
    return {_text(one, "name"): one for one in root.findall("/".join(_tag(part) for part in path.split("/")))}


class _Component:
    def __init__(self, root: ET.Element, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.interfaces = _named(root, "busInterfaces/busInterface")
        self.ports = {name: _port(name, one) for name, one in _named(root, "model/ports/port").items()}

    def faults(self) -> Iterator[str]:
        yield from self._identity()
        yield from self._order()
        yield from self._identifiers()
        for name, interface in self.interfaces.items():
            for fault in (*self._mapping(name, interface), *self._references(interface)):
                yield f"busInterface {name}: {fault}"
        yield from self._clocks()
        yield from self._files()

    def _identity(self) -> Iterator[str]:
        for part in ("vendor", "library", "name", "version"):
            if (not _NAME.fullmatch(_text(self.root, part)) and part != "version") or not _text(
                self.root, part
            ):
                yield f"{part} is {_text(self.root, part)!r}, which is no name"

    def _order(self) -> Iterator[str]:
        for element in self.root.iter():
            kind = element.tag.removeprefix(f"{{{SPIRIT}}}")
            if kind not in ORDER:
                continue
            order = ORDER[kind].split()
            children = [child.tag.removeprefix(f"{{{SPIRIT}}}") for child in element]
            unknown = [child for child in children if child not in order]
            if unknown:
                yield f"{kind} has no {unknown[0]}; it has {', '.join(order)}"
            elif children != sorted(children, key=order.index):
                yield f"{kind} {_text(element, 'name')}: its parts must come in the order {', '.join(order)}"

    def _identifiers(self) -> Iterator[str]:
        seen: set[str] = set()
        for element in self.root.iter():
            one = element.get(_tag("id"))
            if one in seen:
                yield f"spirit:id {one} is given twice"
            if one:
                seen.add(one)
        for path in (
            "busInterfaces/busInterface",
            "model/ports/port",
            "fileSets/fileSet",
            "model/views/view",
        ):
            every = self.root.findall("/".join(_tag(part) for part in path.split("/")))
            names = [_text(one, "name") for one in every]
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{path.rpartition('/')[2]} {name} is there twice"

    def _mapping(self, name: str, interface: ET.Element) -> Iterator[str]:
        kind = _attribute(interface, "busType", "name")
        library = _attribute(interface, "busType", "library")
        if kind not in SIGNALS or library != LIBRARY[kind]:
            yield f"busType xilinx.com:{library}:{kind} is unknown; known are {', '.join(SIGNALS)}"
            return
        if _attribute(interface, "abstractionType", "name") != f"{kind}_rtl":
            yield f"abstractionType must be {kind}_rtl"
        is_master = interface.find(_tag("master")) is not None
        if not is_master and interface.find(_tag("slave")) is None:
            yield "is neither master nor slave"
        mapped = {}
        for one in interface.iterfind(f"{_tag('portMaps')}/{_tag('portMap')}"):
            logical, physical = _text(one, "logicalPort/name"), _text(one, "physicalPort/name")
            if logical not in SIGNALS[kind]:
                yield f"{kind} has no signal {logical}"
            elif physical not in self.ports:
                yield f"{logical} is mapped to {physical}, which is no port of the model"
            else:
                mapped[logical] = self.ports[physical]
                drives = is_master != (logical in FROM_SLAVE)
                if self.ports[physical].is_input == drives:
                    way = "input" if drives else "output"
                    yield f"{physical} is an {way}, but {logical} is driven the other way"
        yield from _missing(kind, mapped)
        if "WDATA" in mapped and "WSTRB" in mapped and mapped["WSTRB"].width * 8 != mapped["WDATA"].width:
            yield f"WSTRB has {mapped['WSTRB'].width} bits for {mapped['WDATA'].width} of WDATA"
        if "TDATA" in mapped and "TKEEP" in mapped and mapped["TKEEP"].width * 8 != mapped["TDATA"].width:
            yield f"TKEEP has {mapped['TKEEP'].width} bits for {mapped['TDATA'].width} of TDATA"

    def _references(self, interface: ET.Element) -> Iterator[str]:
        if _attribute(interface, "busType", "name") != "aximm":
            return
        space = _attribute(interface, "master/addressSpaceRef", "addressSpaceRef")
        memory = _attribute(interface, "slave/memoryMapRef", "memoryMapRef")
        if space not in _named(self.root, "addressSpaces/addressSpace") and not memory:
            yield f"addressSpaceRef {space!r} leads nowhere"
        maps = _named(self.root, "memoryMaps/memoryMap")
        if memory and memory not in maps:
            yield f"memoryMapRef {memory!r} leads nowhere"
        for block in maps[memory].iterfind(_tag("addressBlock")) if memory in maps else ():
            if not _text(block, "range").isdecimal() or int(_text(block, "range")) < 1:
                yield f"addressBlock {_text(block, 'name')}: range is {_text(block, 'range')!r}"
                continue
            for register in block.iterfind(_tag("register")):
                offset = int(_text(register, "addressOffset"), 0)
                if offset % 4 or offset + 4 > int(_text(block, "range")):
                    yield f"register {_text(register, 'name')} at {offset:#x} is not in its block"

    def _parameters(self, name: str) -> dict[str, str]:
        interface = self.interfaces[name]
        return {
            _text(one, "name"): _text(one, "value")
            for one in interface.iterfind(f"{_tag('parameters')}/{_tag('parameter')}")
        }

    def _clocks(self) -> Iterator[str]:
        kinds = {name: _attribute(one, "busType", "name") for name, one in self.interfaces.items()}
        clocked: dict[str, str] = {}
        for clock in (name for name, kind in kinds.items() if kind == "clock"):
            given = self._parameters(clock)
            for bus in filter(None, given.get("ASSOCIATED_BUSIF", "").split(":")):
                if bus not in self.interfaces:
                    yield f"busInterface {clock}: ASSOCIATED_BUSIF names {bus}, which is not there"
                elif bus in clocked:
                    yield f"busInterface {bus} has two clocks, {clocked[bus]} and {clock}"
                clocked[bus] = clock
            if kinds.get(given.get("ASSOCIATED_RESET", "")) != "reset":
                yield f"busInterface {clock}: ASSOCIATED_RESET {given.get('ASSOCIATED_RESET')!r} is no reset"
        for name, kind in kinds.items():
            if kind in ("aximm", "axis") and name not in clocked:
                yield f"busInterface {name} has no clock: no ASSOCIATED_BUSIF names it"

    def _files(self) -> Iterator[str]:
        sets = _named(self.root, "fileSets/fileSet")
        listed = {_text(f, "name") for one in sets.values() for f in one.iterfind(_tag("file"))}
        yield from (
            f"file {name} is not there" for name in sorted(listed) if not (self.folder / name).is_file()
        )
        there = {f"hdl/{file.name}" for file in (self.folder / "hdl").glob("*")}
        yield from (f"file {name} is in no fileSet" for name in sorted(there - listed))
        source = "\n".join((self.folder / name).read_text(encoding="utf-8") for name in sorted(there))
        for view in _named(self.root, "model/views/view").values():
            if _text(view, "fileSetRef/localName") not in sets:
                yield f"view {_text(view, 'name')}: fileSetRef leads nowhere"
            try:
                declared = {port.name: port for port in ports(source, _text(view, "modelName"))}
            except BuildError as error:
                yield f"view {_text(view, 'name')}: {error}"
                continue
            for name in sorted(declared.keys() | self.ports.keys()):
                if declared.get(name) != self.ports.get(name):
                    yield f"port {name}: {self.ports.get(name)} here, {declared.get(name)} in the Verilog"


def _port(name: str, element: ET.Element) -> Port:
    left, right = _text(element, "wire/vector/left"), _text(element, "wire/vector/right")
    width = int(left) - int(right) + 1 if left else 1
    return Port(name, _text(element, "wire/direction") == "in", width)


def _missing(kind: str, mapped: dict[str, Port]) -> Iterator[str]:
    needed = set(REQUIRED[kind])
    if kind == "aximm":
        reads, writes = set(_READS), needed
        needed = (reads if reads & mapped.keys() else set()) | (writes if writes & mapped.keys() else set())
        needed = needed or reads | writes
    absent = sorted(needed - mapped.keys())
    if absent:
        yield f"{', '.join(absent)} of {kind} {'are' if len(absent) > 1 else 'is'} not mapped"
