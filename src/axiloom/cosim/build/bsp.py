"""C against the vendor's API (Xilinx' standalone BSP) without the vendor's tools: ``sw/bsp`` for a system.

The headers of ``sw/bsp/include`` have the vendor's names; what depends on the system is written here: its
``xparameters.h``, the tables of its devices, and the ``xNAME.h`` of a user's registers. The program is one of
a board, with start-up code, vectors and tables of its own, so it runs like those that other tools built
(:mod:`axiloom.cosim.board_program`). Its C library is the Linux target's, whose system calls ``sw/bsp``
answers: on a board too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path

from axiloom import boards, sw
from axiloom.base.cache import cached_build, content_hash
from axiloom.cosim.blocks import GIC, KINDS, Block, Kind, design, interrupt_of
from axiloom.cosim.build.toolchain import COMMON, LINK, PROGRAM, link_program, linux_target, run_zig, version
from axiloom.isa import AcceleratorSpec, Link
from axiloom.isa.contract.rtl import REGISTERS_AT

ROOT = sw.ROOT / "bsp"
INCLUDE = ROOT / "include"
HOST = "cortex_a9"
"""The CPU that its start-up code, caches and interrupts are of."""
_SOURCES = (ROOT / "start.S", *sorted((ROOT / "src").glob("*.c")))
"""Those that begin with a driver's name are for systems that have its device."""
SCRIPT = ROOT / "link.ld"
LINKED = (*COMMON, "-O3", *LINK, "-Wl,--entry=_boot", "-T", str(SCRIPT))
_FLAGS = ("-std=gnu17", "-Wall", "-Wextra", "-Werror", *COMMON)
AS_GCC = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "incompatible-pointer-types",
        "incompatible-function-pointer-types",
        "int-conversion",
        "return-type",
    )
)
"""Of old C, what the vendor's GCC warns of and goes on: so does our compiler."""
_TEMPLATES = ROOT / "templates"
_PARAMETERS = """/* Written by Axiloom from the simulated system. */
#ifndef XPARAMETERS_H
#define XPARAMETERS_H

#include "xparameters_ps.h"

{body}

#endif
"""
_SHARED = 32
"""The first interrupt that is not of one CPU alone: from there xparameters.h of SDT counts."""


@dataclass(frozen=True)
class Devices:
    """What the program finds around it."""

    board: boards.Board
    links: tuple[AcceleratorSpec, ...]
    beside: tuple[Block, ...] = ()
    """Neighbours of the accelerators."""

    @cached_property
    def kinds(self) -> dict[Kind, list[Block]]:
        """Those that the vendor's API has drivers for, with the system's blocks of each."""
        blocks = design([link.link for link in self.links], self.beside)
        found = {kind: [block for block in blocks if block.ip == kind.ip] for kind in KINDS.values()}
        return {kind: of_kind for kind, of_kind in found.items() if of_kind}

    @property
    def sources(self) -> tuple[Path, ...]:
        """Of the API, for what is there."""
        absent = tuple(kind.driver.lower() for kind in KINDS.values() if kind not in self.kinds)
        return tuple(file for file in _SOURCES if not absent or not file.name.startswith(absent))


def headers() -> frozenset[str]:
    """Names of the API's headers."""
    return frozenset({"xparameters.h", *(file.name for file in INCLUDE.glob("*.h"))})


def write(devices: Devices, folder: Path) -> tuple[Path, ...]:
    """Headers and sources of the system, into `folder`."""
    files = {"xparameters.h": _parameters(devices), "devices_g.c": _tables(devices)}
    for link in devices.links:
        if link.link.rtl.registers:
            files |= _registers(link.name, link.link.rtl.registers)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in files)


def build(devices: Devices, defines: Sequence[str] = ()) -> Path:
    """The folder with the objects of ``sw/bsp`` for a system, and the headers that are of it alone.

    `defines`: macros that choose the API's form (``-DSDT``).
    """
    included = sorted(INCLUDE.glob("*.h"))
    arguments = [*devices.board.host.linux.flags, *_FLAGS, "-O2", *defines]  # type: ignore[union-attr]
    arguments.append(f"-DAXL_RAM_SECTIONS={devices.board.ram_bytes >> 20}")
    written = (_parameters(devices), _tables(devices))
    registers = [(link.name, dict(link.link.rtl.registers)) for link in devices.links]
    key = content_hash(
        version(),
        "bsp",
        arguments,
        *written,
        registers,
        *devices.sources,
        *included,
        *sorted(_TEMPLATES.iterdir()),
    )

    def make(folder: Path) -> None:
        tables = [file for file in write(devices, folder) if file.suffix == ".c"]
        paths = [f"-I{folder}", f"-I{INCLUDE}"]
        for source in (*devices.sources, *tables):
            run_zig(
                ["cc", *arguments, *paths, "-c", "-o", str(folder / f"{source.stem}.o"), str(source)], folder
            )

    return cached_build("bsp", key, make)


def link(devices: Devices, runtime: Path, objects: Sequence[str], folder: Path, cxx: bool) -> None:
    """The program of `objects`, and those that :func:`build` made in `runtime`, in `folder`."""
    target = linux_target(devices.board.host)
    own = [str(runtime / f"{source.stem}.o") for source in devices.sources] + [str(runtime / "devices_g.o")]
    compiler = "c++" if cxx else "cc"
    link_program(
        target, [compiler, *target.flags, *LINKED, "-o", str(folder / PROGRAM), *objects, *own], folder, cxx
    )


# ---- what is written


def _define(name: str, value: object) -> str:
    return f"#define {name} {f'0x{value:08X}U' if isinstance(value, int) and value > 0xFFFF else value}"


def _parameters(devices: Devices) -> str:
    body = "\n".join(_define(name, value) for name, value in _all(devices))
    return _PARAMETERS.format(body=body)


def _all(devices: Devices) -> Iterator[tuple[str, object]]:
    board = devices.board
    yield from {
        "XPAR_CPU_ID": 0,
        "XPAR_CPU_CORTEXA9_0_CPU_CLK_FREQ_HZ": board.cpu_hz,
        "XPAR_CPU_CORTEXA9_CORE_CLOCK_FREQ_HZ": board.cpu_hz,
        "XPAR_CPU_CORE_CLOCK_FREQ_HZ": board.cpu_hz,
        "XPAR_PS7_DDR_0_S_AXI_BASEADDR": 0x0010_0000,
        "XPAR_PS7_DDR_0_S_AXI_HIGHADDR": board.ram_bytes - 1,
        "XPAR_DDR_MEM_BASEADDR": 0,
        "XPAR_DDR_MEM_HIGHADDR": board.ram_bytes - 1,
        "XPAR_PS7_DDR_0_BASEADDRESS": 0x0010_0000,
        "XPAR_PS7_DDR_0_HIGHADDRESS": board.ram_bytes - 1,
        "XPAR_FPGA_FREQ_HZ": board.fabric_hz,
    }.items()
    for kind in KINDS.values():
        blocks = devices.kinds.get(kind, ())
        yield f"XPAR_{kind.driver.upper()}_NUM_INSTANCES", len(blocks)
        for number, block in enumerate(blocks):
            yield from _macros(kind, number, block, board)
    for link in devices.links:
        if link.link.rtl.registers:
            yield from _module(link.link)


def _module(link: Link) -> Iterator[tuple[str, object]]:
    base = link.dma.address + REGISTERS_AT
    upper = _symbol(link.name).upper()
    for prefix in (upper, f"X{upper}"):
        for suffix in ("S_AXI_CONTROL", "S00_AXI"):
            yield f"XPAR_{prefix}_0_{suffix}_BASEADDR", base
            yield f"XPAR_{prefix}_0_{suffix}_HIGHADDR", base + REGISTERS_AT - 1
        yield f"XPAR_{prefix}_0_BASEADDR", base
        yield f"XPAR_{prefix}_0_DEVICE_ID", 0
        yield f"XPAR_{prefix}_NUM_INSTANCES", 1


def _macros(kind: Kind, number: int, block: Block, board: boards.Board) -> Iterator[tuple[str, object]]:
    """Of a block in ``xparameters.h``, by all names that it has had."""
    driver = kind.driver.upper()
    own, ip = driver[1:], kind.ip.upper()
    values = {
        "DEVICE_ID": number,
        "BASEADDR": block.base,
        "HIGHADDR": block.base + block.size - 1,
        **{name.upper().removeprefix("C_"): value for name, value in block.parameters.items()},
        **kind.macros(board),
    }
    names = dict.fromkeys(
        [f"{name}_{number}" for name in (own, ip, *kind.aliases)] + [_symbol(block.name).upper()]
    )
    for name in names:
        yield from ((f"XPAR_{name}_{key}", value) for key, value in values.items())
    for name, pin, line in zip(_numbered("INTERRUPTS"), kind.interrupts, block.lines, strict=False):
        interrupt = interrupt_of(line)
        for instance in dict.fromkeys((f"{ip}_{number}", _symbol(block.name).upper())):
            yield f"XPAR_FABRIC_{instance}_{pin}_INTR", f"{interrupt}U"
        several = f"{pin}_" if len(kind.interrupts) > 1 else ""
        yield f"XPAR_FABRIC_{own}_{number}_{several}VEC_ID", f"{interrupt}U"
        yield f"XPAR_{driver}_{number}_{name}", hex(0x4000 | interrupt - _SHARED)
    yield f"XPAR_{driver}_{number}_BASEADDR", block.base
    yield f"XPAR_{driver}_{number}_HIGHADDR", block.base + block.size - 1
    yield f"XPAR_{driver}_{number}_INTERRUPT_PARENT", GIC


def _numbered(name: str) -> Iterator[str]:
    """As SDT counts: the first has no number."""
    yield name
    yield from (f"{name}_{number}" for number in count(1))


def _tables(devices: Devices) -> str:
    """The configurations of the vendor's drivers."""
    text = []
    for kind, blocks in devices.kinds.items():
        rows = []
        for number, block in enumerate(blocks):
            ip = f'"xlnx,{kind.ip.replace("_", "-")}-{kind.version}"'
            fields = [hex(block.base), *map(str, kind.fields(block, devices.board))]
            interrupts = [hex(0x4000 | interrupt_of(line) - _SHARED) for line in block.lines]
            whose = interrupts[0] if len(interrupts) == 1 else f"{{{', '.join(interrupts)}}}"
            last = [whose, hex(GIC), *map(str, kind.last_fields(block))]
            rows += ["#ifdef SDT", f"    {{{', '.join([ip, *fields, *last])}}},"]
            rows += ["#else", f"    {{{', '.join([str(number), *fields])}}},", "#endif"]
        head = f"{kind.driver}_Config {kind.driver}_ConfigTable[{len(blocks)}] = {{"
        text += [f'#include "{kind.driver.lower()}.h"', "", head, *rows, "};", ""]
    return "\n".join(text)


def _symbol(name: str) -> str:
    return re.sub(r"\W", "_", name)


_CONTROL = re.compile("ctrl|control", re.IGNORECASE)


def _filled(template: str, **words: str) -> str:
    """A file of ``sw/bsp/templates`` with `words` in place of ``@NAME@``."""
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: words[match[1]], text)


def _registers(module: str, registers: Mapping[str, int]) -> dict[str, str]:
    """``xNAME.h`` and ``xNAME_hw.h`` as Vitis HLS writes them, ``NAME.h`` as Vivado's template has it."""
    symbol = _symbol(module)
    upper, camel, lower = f"X{symbol.upper()}", f"X{symbol[:1].upper()}{symbol[1:]}", f"x{symbol.lower()}"
    words = {"name": module, "upper": upper, "camel": camel, "lower": lower}
    starts = any(offset == 0 and _CONTROL.search(name) for name, offset in registers.items())
    arguments = {name: offset for name, offset in registers.items() if not (starts and offset < 0x10)}
    addresses = {"AP_CTRL": 0x0, "GIE": 0x4, "IER": 0x8, "ISR": 0xC} if starts else {}
    addresses |= {f"{_symbol(name).upper()}_DATA": offset for name, offset in arguments.items()}
    hardware = [f"#define {upper}_CONTROL_ADDR_{name} {offset:#04x}" for name, offset in addresses.items()]
    hardware += [f"#define {upper}_CONTROL_BITS_{_symbol(name).upper()}_DATA 32" for name in arguments]
    main = [_filled("hls.h", **words), _filled("hls_control.h", **words) if starts else ""]
    main += [
        _filled("hls_register.h", register=_symbol(name), offset=hex(offset), **words)
        for name, offset in arguments.items()
    ]
    slots = range(max(registers.values()) // 4 + 1)
    plain = symbol.upper()
    peripheral = [_filled("peripheral.h", name=module, upper=plain)]
    peripheral += [f"#define {plain}_S00_AXI_SLV_REG{slot}_OFFSET {4 * slot}\n" for slot in slots]
    return {
        f"{lower}_hw.h": "\n".join(
            [f"/* Written by Axiloom: register offsets of {module}. */", *hardware, ""]
        ),
        f"{lower}.h": "\n".join([*main, "#endif\n"]),
        f"{symbol.lower()}.h": "".join([*peripheral, "\n#endif\n"]),
    }
