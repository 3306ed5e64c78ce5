"""component.xml of a core: IP-XACT (IEEE 1685-2009, as Vivado reads it), to stand in an IP catalogue.

The order of elements is the schema's. Names of interfaces, their signals and parameters are Vivado's.
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from axiloom.board_folder.design.rtl import Core, Port
from axiloom.board_folder.vivado.buses import LIBRARY, Bus, buses
from axiloom.isa.contract import dma_registers
from axiloom.isa.files.together import PAGE_BYTES

SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
XILINX = "http://www.xilinx.com"
VENDOR, IP_LIBRARY, VERSION = "axiloom", "user", "1.0"
REGISTER_BLOCK = "Reg"
"""Name of the block of registers: the last part of the segment's name in a block design."""

_FAMILIES = {"zynq": "zynq", "zynqmp": "zynquplus"}
_VIEWS = (
    ("xilinx_anylanguagesynthesis", "Synthesis", ":vivado.xilinx.com:synthesis"),
    ("xilinx_anylanguagebehavioralsimulation", "Simulation", ":vivado.xilinx.com:simulation"),
)


def vlnv(core: Core) -> str:
    """Vendor, library, name and version, with colons."""
    return f"{VENDOR}:{IP_LIBRARY}:{core.name}:{VERSION}"


def component(core: Core, family: str) -> str:
    """The file for `core`; its Verilog lies in ``hdl/`` beside it. `family`: of the board."""
    ET.register_namespace("spirit", SPIRIT)
    ET.register_namespace("xilinx", XILINX)
    root = ET.Element(f"{{{SPIRIT}}}component")
    for tag, text in (("vendor", VENDOR), ("library", IP_LIBRARY), ("name", core.name), ("version", VERSION)):
        _leaf(root, tag, text)
    every = buses(core.ports)
    interfaces = _add(root, "busInterfaces")
    for bus in every:
        _interface(interfaces, bus, every)
    masters = [bus for bus in every if bus.kind == "aximm" and bus.is_master]
    if masters:
        spaces = _add(root, "addressSpaces")
        for bus in masters:
            space = _add(spaces, "addressSpace")
            _leaf(space, "name", bus.name)
            _leaf(space, "range", str(1 << bus.address_width), format="long")
            _leaf(space, "width", str(bus.data_width), format="long")
    slaves = [bus for bus in every if bus.kind == "aximm" and not bus.is_master]
    if slaves:
        maps = _add(root, "memoryMaps")
        for bus in slaves:
            _memory_map(maps, bus, core)
    _model(root, core)
    _file_sets(root, core)
    names = ", ".join(spec.name for spec in core.specs)
    _leaf(root, "description", f"{names}: stream accelerator{'s' if len(core.specs) > 1 else ''} by Axiloom")
    parameters = _add(root, "parameters")
    parameter = _add(parameters, "parameter")
    _leaf(parameter, "name", "Component_Name")
    _leaf(parameter, "value", f"{core.name}_v1_0", resolve="user", id="PARAM_VALUE.Component_Name", order="1")
    _extensions(root, core, family)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    qualified = {f"{{{SPIRIT}}}{name}": value for name, value in attributes.items()}
    return ET.SubElement(parent, f"{{{SPIRIT}}}{tag}", qualified)


def _leaf(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    _add(parent, tag, **attributes).text = text


def _interface(parent: ET.Element, bus: Bus, every: tuple[Bus, ...]) -> None:
    element = _add(parent, "busInterface")
    _leaf(element, "name", bus.name)
    reference = {"vendor": "xilinx.com", "library": LIBRARY[bus.kind], "version": "1.0"}
    _add(element, "busType", **{**reference, "name": bus.kind})
    _add(element, "abstractionType", **{**reference, "name": f"{bus.kind}_rtl"})
    if bus.is_master:
        mode = _add(element, "master")
        if bus.kind == "aximm":
            _add(mode, "addressSpaceRef", addressSpaceRef=bus.name)
    else:
        mode = _add(element, "slave")
        if bus.kind == "aximm":
            _add(mode, "memoryMapRef", memoryMapRef=bus.name)
    maps = _add(element, "portMaps")
    for signal, port in bus.ports.items():
        map_ = _add(maps, "portMap")
        _leaf(_add(map_, "logicalPort"), "name", signal)
        _leaf(_add(map_, "physicalPort"), "name", port.name)
    parameters = _interface_parameters(bus, every)
    if parameters:
        _parameters(element, f"BUSIFPARAM_VALUE.{bus.name.upper()}", parameters)


def _interface_parameters(bus: Bus, every: tuple[Bus, ...]) -> dict[str, str]:
    if bus.kind == "clock":
        axi = [other.name for other in every if other.kind in ("aximm", "axis")]
        return {"ASSOCIATED_BUSIF": ":".join(axi), "ASSOCIATED_RESET": "aresetn"}
    if bus.kind == "reset":
        return {"POLARITY": "ACTIVE_LOW"}
    if bus.kind == "interrupt":
        return {"SENSITIVITY": "LEVEL_HIGH", "PortWidth": str(bus.ports["INTERRUPT"].width)}
    if bus.kind == "axis":
        return {"TDATA_NUM_BYTES": str(bus.data_width // 8)}
    protocol = {"PROTOCOL": "AXI4LITE" if bus.is_lite else "AXI4", "DATA_WIDTH": str(bus.data_width)}
    return {
        **protocol,
        "READ_WRITE_MODE": bus.access,
        "SUPPORTS_NARROW_BURST": "0",
        "HAS_BURST": str(int(not bus.is_lite)),
    }


def _parameters(parent: ET.Element, prefix: str, values: Mapping[str, str]) -> None:
    parameters = _add(parent, "parameters")
    for name, value in values.items():
        parameter = _add(parameters, "parameter")
        _leaf(parameter, "name", name)
        _leaf(parameter, "value", value, id=f"{prefix}.{name}")


def _memory_map(parent: ET.Element, bus: Bus, core: Core) -> None:
    element = _add(parent, "memoryMap")
    _leaf(element, "name", bus.name)
    block = _add(element, "addressBlock")
    _leaf(block, "name", REGISTER_BLOCK)
    _leaf(block, "baseAddress", "0", format="long")
    # At least what a block design gives a DMA; the address bits above the port's are not looked at.
    _leaf(block, "range", str(max(PAGE_BYTES, 1 << bus.address_width)), format="long")
    _leaf(block, "width", "32", format="long")
    _leaf(block, "usage", "register")
    if len(core.specs) > 1:
        return  # each accelerator's are where its own specification says
    every = dma_registers.registers(core.specs[0].link.dma.scatter_gather)
    for channel, described in itertools.product(dma_registers.Channel, every):
        register = _add(block, "register")
        _leaf(register, "name", described.name_of(channel))
        _leaf(register, "description", described.purpose_of(channel))
        _leaf(register, "addressOffset", f"0x{described.at(channel):x}")
        _leaf(register, "size", "32", format="long")
        _leaf(register, "access", "read-write")


def _model(root: ET.Element, core: Core) -> None:
    model = _add(root, "model")
    views = _add(model, "views")
    for name, display, environment in _VIEWS:
        view = _add(views, "view")
        _leaf(view, "name", name)
        _leaf(view, "displayName", display)
        _leaf(view, "envIdentifier", environment)
        _leaf(view, "language", "Verilog")
        _leaf(view, "modelName", core.name)
        _leaf(_add(view, "fileSetRef"), "localName", f"{name}_view_fileset")
    ports = _add(model, "ports")
    for port in core.ports:
        _port(ports, port)


def _port(parent: ET.Element, port: Port) -> None:
    element = _add(parent, "port")
    _leaf(element, "name", port.name)
    wire = _add(element, "wire")
    _leaf(wire, "direction", "in" if port.is_input else "out")
    if port.width > 1:
        vector = _add(wire, "vector")
        _leaf(vector, "left", str(port.width - 1), format="long")
        _leaf(vector, "right", "0", format="long")
    definition = _add(_add(wire, "wireTypeDefs"), "wireTypeDef")
    _leaf(definition, "typeName", "wire")
    for name, _, _ in _VIEWS:
        _leaf(definition, "viewNameRef", name)


def _file_sets(root: ET.Element, core: Core) -> None:
    sets = _add(root, "fileSets")
    for name, _, _ in _VIEWS:
        file_set = _add(sets, "fileSet")
        _leaf(file_set, "name", f"{name}_view_fileset")
        for file in core.files:
            entry = _add(file_set, "file")
            _leaf(entry, "name", f"hdl/{file}")
            if file.endswith(".sv"):
                _leaf(entry, "fileType", "systemVerilogSource")
            elif file.endswith((".vh", ".svh")):
                _leaf(entry, "fileType", "verilogSource")
                _leaf(entry, "isIncludeFile", "true")
            else:
                _leaf(entry, "fileType", "verilogSource")


def _extensions(root: ET.Element, core: Core, family: str) -> None:
    extensions = _add(root, "vendorExtensions")
    own = ET.SubElement(extensions, f"{{{XILINX}}}coreExtensions")
    families = ET.SubElement(own, f"{{{XILINX}}}supportedFamilies")
    entry = ET.SubElement(families, f"{{{XILINX}}}family", {f"{{{XILINX}}}lifeCycle": "Production"})
    entry.text = _FAMILIES[family]
    taxonomies = ET.SubElement(own, f"{{{XILINX}}}taxonomies")
    ET.SubElement(taxonomies, f"{{{XILINX}}}taxonomy").text = "/Axiloom"
    display = ET.SubElement(own, f"{{{XILINX}}}displayName")
    display.text = f"Axiloom {' and '.join(spec.name for spec in core.specs)}"
    ET.SubElement(own, f"{{{XILINX}}}coreRevision").text = "1"
