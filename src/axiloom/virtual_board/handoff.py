"""What `pynq.Overlay` reads of a design: a .hwh, a .bit and a .xsa, written and read.

PYNQ takes names, addresses and drivers from the .hwh, and sends the content of the .bit to the board. Ours
has the design's name and a hash of it there.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from struct import pack
from xml.etree.ElementTree import Element, ParseError, SubElement, fromstring, indent, tostring

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.boards import Board
from axiloom.cosim.blocks import CONTROL, Block
from axiloom.virtual_board.address_map import divisor

_AXI = "xilinx.com:interface:aximm:1.0"
_ZYNQ, _MPSOC = "processing_system7", "zynq_ultra_ps_e"
_FREQUENCY = "PSU__CRL_APB__PL{}_REF_CTRL__ACT_FREQMHZ"
"""pynqmetadata 0.2.0 looks for the clock of every family under this name of an MPSoC's alone."""
_DATE = "2026/01/01"
CONTROL_BITS = ("AP_START", "AP_DONE", "AP_IDLE", "AP_READY")
"""Of a block of Vitis HLS: UG1399, "S_AXILITE Control Register Map"."""
MAGIC = b"AXILOOM\n"
"""The content of our .bit begins with it."""
LONGEST_NAME = 100


def hwh(design: str, blocks: Sequence[Block], board: Board) -> str:
    """The text of NAME.hwh: a processing system, and `blocks` behind its general-purpose port."""
    root = Element("EDKSYSTEM")
    SubElement(root, "SYSTEMINFO", NAME=design)
    SubElement(root, "EXTERNALPORTS")
    modules = SubElement(root, "MODULES")
    kind, port = (_ZYNQ, "M_AXI_GP0") if board.cpu == "cortex_a9" else (_MPSOC, "M_AXI_HPM0_FPD")
    version = {_ZYNQ: "5.5", _MPSOC: "3.5"}[kind]
    system = _module(modules, f"{kind}_0", f"xilinx.com:ip:{kind}:{version}", _clocks(kind, board))
    SubElement(SubElement(system, "BUSINTERFACES"), "BUSINTERFACE", NAME=port, TYPE="MASTER", VLNV=_AXI)
    ranges = SubElement(system, "MEMORYMAP")
    for block in blocks:
        module = _module(modules, block.name, block.vlnv, block.parameters)
        interfaces = SubElement(module, "BUSINTERFACES")
        SubElement(interfaces, "BUSINTERFACE", NAME=block.port, TYPE="SLAVE", VLNV=_AXI)
        addresses = SubElement(module, "ADDRESSBLOCKS")
        listed = SubElement(addresses, "ADDRESSBLOCK", INTERFACE=block.port, USAGE="register")
        for name, offset in block.registers.items():
            register = SubElement(listed, "REGISTER", NAME=name)
            _say(register, ADDRESS_OFFSET=f"{offset:#x}", SIZE="32", ACCESS="read-write")
            if name == CONTROL:
                fields = SubElement(register, "FIELDS")
                for low, field in enumerate(CONTROL_BITS):
                    part = SubElement(fields, "FIELD", NAME=field)
                    _say(part, BIT_OFFSET=str(low), BIT_WIDTH="1", ACCESS="read-write")
        SubElement(
            ranges,
            "MEMRANGE",
            ADDRESSBLOCK="Reg",
            BASEVALUE=f"{block.base:#010X}",
            HIGHVALUE=f"{block.base + block.size - 1:#010X}",
            INSTANCE=block.name.replace("/", "_"),
            MASTERBUSINTERFACE=port,
            MEMTYPE="REGISTER",
            SLAVEBUSINTERFACE=block.port,
        )
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def bit(design: str, content: bytes, part: str) -> bytes:
    """A .bit: the header that every one has, and any `content`, of whole words."""

    def text(key: bytes, value: str) -> bytes:
        return key + pack(">H", len(value) + 1) + value.encode() + b"\0"

    head = pack(">H", 9) + bytes(9) + pack(">H", 1)
    said = (
        text(b"a", f"{design};Version=2024.1") + text(b"b", part) + text(b"c", _DATE) + text(b"d", "00:00:00")
    )
    return head + said + b"e" + pack(">I", len(content)) + content


def content(design: str, handoff: str) -> bytes:
    """What our .bit has in place of a configuration: it differs where the design does, as PYNQ keeps what it
    knows of a design by the hash of the file."""
    data = MAGIC + f"{design}\n{sha256(handoff.encode()).hexdigest()}\n".encode()
    return data + b"\n" * (-len(data) % 4)


def swapped(data: bytes) -> bytes:
    """As PYNQ sends it to a board: the bytes of each word the other way round."""
    whole = data[: len(data) // 4 * 4]
    return b"".join(whole[at : at + 4][::-1] for at in range(0, len(whole), 4))


def design_of(firmware: bytes) -> str | None:
    """The name in a bitstream of ours, as a board gets it; None: it is another one."""
    head = swapped(firmware[: 4 * LONGEST_NAME])
    if not head.startswith(MAGIC):
        return None
    return head[len(MAGIC) :].split(b"\n")[0].decode(errors="replace")


def write(folder: Path, design: str, blocks: Sequence[Block], board: Board, part: str) -> list[Path]:
    """`design`.hwh, .bit and, in a folder of its own as PYNQ unpacks beside it, xsa/`design`.xsa."""
    text = hwh(design, blocks, board)
    parts = {f"{design}.hwh": text.encode(), f"{design}.bit": bit(design, content(design, text), part)}
    (folder / "xsa").mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in parts]
    for path, data in zip(paths, parts.values(), strict=True):
        path.write_bytes(data)
    listed = Element("Project")
    SubElement(listed, "File", Type="HW_HANDOFF", Name=f"{design}.hwh", BD_TYPE="DEFAULT_BD")
    SubElement(listed, "File", Type="BIT", Name=f"{design}.bit")
    archive_path = folder / "xsa" / f"{design}.xsa"
    with zipfile.ZipFile(archive_path, "w") as archive:
        for name, data in (
            *parts.items(),
            ("sysdef.xml", tostring(listed)),
            ("xsa.xml", b"<Root/>"),
            ("xsa.json", json.dumps({"files": [{"name": f"{design}.bd", "type": "TOP_BD"}]}).encode()),
        ):
            archive.writestr(zipfile.ZipInfo(name), data)  # without the time of day
    return [*paths, archive_path]


def read(file: Path) -> list[Block]:
    """The blocks that a .hwh of Vivado's, or ours, has at addresses of the processing system. UsageError."""
    try:
        root = fromstring(file.read_bytes())
    except ParseError as error:
        raise UsageError(f"{file}: no .hwh: {error}") from None
    modules = {str(module.get("INSTANCE")): module for module in root.iter("MODULE")}
    full = {
        str(module.get("FULLNAME", "")).strip("/").replace("/", "_"): module for module in modules.values()
    }
    system = next((m for m in modules.values() if m.get("MODTYPE") in (_ZYNQ, _MPSOC)), None)
    if system is None:
        raise UsageError(f"{file}: no MODULE of type {_ZYNQ} or {_MPSOC}: no design with a processing system")
    blocks = list(_blocks(file, system, modules | full))
    if not blocks:
        raise UsageError(
            f"{file}: the processing system reaches no registers: no MEMRANGE of MEMTYPE REGISTER"
        )
    return blocks


def repaired(text: str, board: Board) -> str:
    """A .hwh of a Zynq-7000 with the names of clocks that PYNQ's client looks for, without which it ends with
    a TypeError."""
    root = fromstring(text)
    for module in root.iter("MODULE"):
        listed = module.find("PARAMETERS")
        if module.get("MODTYPE") != _ZYNQ or listed is None:
            continue
        present = {parameter.get("NAME"): parameter.get("VALUE") for parameter in listed}
        for number in range(4):
            name = _FREQUENCY.format(number)
            if name not in present:
                mhz = present.get(f"PCW_FPGA{number}_PERIPHERAL_FREQMHZ") or str(board.fabric_hz // 1_000_000)
                SubElement(listed, "PARAMETER", NAME=name, VALUE=mhz)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def repair(file: Path, target: Path, board: Board) -> Path:
    """Write the :func:`repaired` copy of a .hwh."""
    try:
        text = file.read_text(encoding="utf-8")
        write_whole(target, repaired(text, board))
    except (ParseError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: no .hwh: {error}") from None
    return target


def _blocks(file: Path, system: Element, modules: dict[str, Element]) -> Iterator[Block]:
    seen: set[int] = set()
    for place in system.iter("MEMRANGE"):
        if place.get("MEMTYPE") != "REGISTER":
            continue
        instance = str(place.get("INSTANCE"))
        module = modules.get(instance)
        try:
            base, high = (int(str(place.get(key)), 16) for key in ("BASEVALUE", "HIGHVALUE"))
        except ValueError:
            raise UsageError(
                f"{file}: MEMRANGE of {instance}: BASEVALUE and HIGHVALUE are no addresses"
            ) from None
        if module is None or base in seen:  # of two masters, each has the range
            continue
        seen.add(base)
        name = str(module.get("FULLNAME", instance)).strip("/")
        parameters = {str(p.get("NAME")): p.get("VALUE") for p in module.iter("PARAMETER")}
        yield Block(name, str(module.get("VLNV")), base, high - base + 1, parameters=parameters)


def _module(parent: Element, name: str, vlnv: str, parameters: object) -> Element:
    module = SubElement(
        parent,
        "MODULE",
        FULLNAME=f"/{name}",
        INSTANCE=name.replace("/", "_"),
        MODTYPE=vlnv.split(":")[2],
        VLNV=vlnv,
    )
    listed = SubElement(module, "PARAMETERS")
    for key, value in dict(parameters).items():  # type: ignore[call-overload]
        SubElement(listed, "PARAMETER", NAME=key, VALUE=str(value))
    return module


def _say(element: Element, **properties: str) -> None:
    for key, value in properties.items():
        SubElement(element, "PROPERTY", NAME=key, VALUE=value)


def _clocks(kind: str, board: Board) -> dict[str, object]:
    """Four clocks of the fabric, of which the first runs."""
    mhz = max(board.fabric_hz // 1_000_000, 1)
    values: dict[str, object] = {}
    for number in range(4):
        if kind == _ZYNQ:
            values |= {
                f"PCW_FPGA_FCLK{number}_ENABLE": int(number == 0),
                f"PCW_FCLK{number}_PERIPHERAL_CLKSRC": "IO PLL",
                f"PCW_FCLK{number}_PERIPHERAL_DIVISOR0": divisor(1000, mhz),
                f"PCW_FCLK{number}_PERIPHERAL_DIVISOR1": 1,
            }
        else:
            clock = f"PSU__CRL_APB__PL{number}_REF_CTRL"
            values |= {
                f"PSU__FPGA_PL{number}_ENABLE": int(number == 0),
                f"{clock}__SRCSEL": "IOPLL",
                f"{clock}__DIVISOR0": divisor(1500, mhz),
                f"{clock}__DIVISOR1": 1,
            }
        values[_FREQUENCY.format(number)] = mhz
    return values
