"""Prints the DMA's register map for those that cannot import it: C, C++, Verilog, the Python on the board.

``python -m tools.registers`` says which file differs from the map, and exits with 1 if one does;
``--write`` writes them. The map is :mod:`axiloom.isa.contract.dma_registers`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from axiloom.isa.contract.dma_registers import DMACR, DMASR, REGISTERS, Channel

ROOT = Path(__file__).parents[1]
ORIGIN = "Written by `python -m tools.registers --write` from isa/contract/dma_registers.py."

BEGIN, END = f"# {ORIGIN}\n", "# Up to here.\n"


def bits() -> Iterator[tuple[str, int]]:
    """``DMACR_RS`` and its bit, for each field; of a wider one its lowest bit."""
    for register in (DMACR, DMASR):
        for field in register.fields:
            if field.name != "Reserved":
                yield f"{register.name}_{field.name.upper()}", field.low


def c_header() -> str:
    lines = [
        "/* Registers of the AXI DMA (AMD PG021, v7.1), the same in both channels. Not for drivers.",
        f" * {ORIGIN} */",
        "#ifndef AXL_DMA_REGISTERS_H",
        "#define AXL_DMA_REGISTERS_H",
        "",
        "enum { " + ", ".join(f"{channel.name} = 0x{channel:02x}" for channel in Channel) + " };",
        "enum {",
        *(f"    {register.name} = 0x{register.offset:02x}," for register in REGISTERS),
        "};",
        "/* Of fields that are wider than a bit: the lowest one. */",
        "enum {",
        *(f"    {name} = 1u << {bit}," for name, bit in bits()),
        f"    DMASR_ERRORS = 0x{DMASR.errors:x}u,",
        "};",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def verilog_header() -> str:
    """For inside a module. Addresses have the ten bits of the DMA's port."""
    lines = [f"  // Registers of the AXI DMA (AMD PG021, v7.1). {ORIGIN}"]
    for channel in Channel:
        lines += [
            f"  localparam [9:0] {channel.name}_{register.name} = 10'h{register.at(channel):03x};"
            for register in REGISTERS
        ]
    lines += [f"  localparam integer {name} = {bit};" for name, bit in bits()]
    return "\n".join(lines) + "\n"


def python_block(text: str) -> str:
    """`text` with the constants between its two marks."""
    used = [register for register in REGISTERS if not register.extension]
    registers = ", ".join(register.name for register in used)
    offsets = ", ".join(f"0x{register.offset:02X}" for register in used)
    one_bit = {"RUN": DMACR.field("RS"), "RESET": DMACR.field("Reset")}
    one_bit |= {"HALTED": DMASR.field("Halted"), "IDLE": DMASR.field("Idle")}
    block = [
        f"{', '.join(channel.name for channel in Channel)} = "
        f"{', '.join(f'0x{channel:02X}' for channel in Channel)}",
        f"{registers} = {offsets}",
        f"{', '.join(one_bit)}, ERRORS = {', '.join(str(field.mask) for field in one_bit.values())}, "
        f"0x{DMASR.errors:X}",
    ]
    inside = BEGIN + "\n".join(block) + "\n" + END
    replaced, number = re.subn(
        re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: inside, text, flags=re.DOTALL
    )
    if number != 1:
        raise ValueError(
            f"the marks {BEGIN.strip()!r} and {END.strip()!r} are wanted once, not {number} times"
        )
    return replaced


FILES: dict[str, Callable[[str], str]] = {
    "sw/src/dma_registers.h": lambda _: c_header(),
    "cosim/native/bus/dma_registers.h": lambda _: c_header(),
    "cosim/rtl/axl_dma_registers.vh": lambda _: verilog_header(),
    "sw/python/accelerator.py": python_block,
}
"""Each file, and how its text comes from the map and the text that it has."""


def stale() -> list[str]:
    """Files that say something else than the map."""
    return [name for name, make in FILES.items() if _text(name) != make(_text(name))]


def _text(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.registers", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the files that differ")
    write = parser.parse_args(arguments).write
    names = stale()
    for name in names:
        print(f"{name}: {'written' if write else 'is not as isa/contract/dma_registers.py has it'}")
        if write:
            (ROOT / name).write_text(FILES[name](_text(name)), encoding="utf-8")
    return 1 if names and not write else 0


if __name__ == "__main__":
    raise SystemExit(main())
