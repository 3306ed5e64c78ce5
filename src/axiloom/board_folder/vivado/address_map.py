"""Where everything is: registers and memory as the block design must map them, and the interrupts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axiloom.board_folder.design.plan import OWN, Plan, identifier
from axiloom.board_folder.design.rtl import Core
from axiloom.board_folder.vivado.ipxact import REGISTER_BLOCK
from axiloom.isa.files.together import PAGE_BYTES

PROCESSOR = {"zynq": "processing_system7_0", "zynqmp": "zynq_ultra_ps_e_0"}
"""Name of the processing system's cell."""


@dataclass(frozen=True)
class Segment:
    """A range of addresses: the `segment` of a slave in the address `space` of a master."""

    space: str
    segment: str
    offset: int
    size: int


def cell(core: Core) -> str:
    """Name of a core's cell in the block design."""
    return f"{core.name}_0"


def dma_cell(index: int) -> str:
    """Name of the cell of Xilinx' DMA of an accelerator."""
    return f"axi_dma_{index}"


def segments(plan: Plan, cores: tuple[Core, ...]) -> tuple[Segment, ...]:
    """All mappings of the block design, those of the processor first."""
    hardware = plan.hardware
    assert plan.memory is not None, hardware.name
    data = f"{PROCESSOR[hardware.family]}/Data"
    mappings = []
    if plan.dma == OWN:
        first, size = _cover([spec.link.dma.address for spec in plan.specs])
        mappings.append(Segment(data, f"{cell(cores[0])}/s_axi_lite/{REGISTER_BLOCK}", first, size))
        masters = [f"{cell(cores[0])}/{port}" for port in plan.masters]
    else:
        masters = []
        for i, spec in enumerate(plan.specs):
            mappings.append(Segment(data, f"{dma_cell(i)}/S_AXI_LITE/Reg", spec.link.dma.address, PAGE_BYTES))
            spaces = ("Data_MM2S", "Data_S2MM", *(["Data_SG"] if plan.scatter_gather else []))
            masters += [f"{dma_cell(i)}/{space}" for space in spaces]
    memory = plan.memory.segment
    return (*mappings, *(Segment(master, memory, 0, hardware.ram_bytes) for master in masters))


def _cover(addresses: list[int]) -> tuple[int, int]:
    """Offset and size of the smallest power of two, aligned to itself, that has a page at each address."""
    first, last = min(addresses), max(addresses) + PAGE_BYTES - 1
    size = PAGE_BYTES
    while first // size != last // size:
        size *= 2
    return first // size * size, size


def interrupts(plan: Plan) -> list[dict[str, Any]]:
    """Of each accelerator: the pins of its DMA's interrupts, and their numbers as a device tree has them
    (SPI).
    """
    count = len(plan.specs)
    pins_of: list[dict[str, Any]] = []
    for i, spec in enumerate(plan.specs):
        if plan.hardware.family == "zynq":
            pins = {
                "mm2s": ("IRQ_F2P", i, _zynq_spi(i)),
                "s2mm": ("IRQ_F2P", count + i, _zynq_spi(count + i)),
            }
        else:
            pins = {"mm2s": ("pl_ps_irq0", i, 89 + i), "s2mm": ("pl_ps_irq1", i, 104 + i)}
        entry: dict[str, Any] = {"accelerator": spec.name}
        for channel, (pin, bit, number) in pins.items():
            entry[channel] = {"pin": f"{pin}[{bit}]", "spi": number}
        pins_of.append(entry)
    return pins_of


def _zynq_spi(bit: int) -> int:
    """UG585, table 7-4: IRQ_F2P[7:0] are interrupts 61 to 68, [15:8] 84 to 91; SPIs begin at 32."""
    return 29 + bit if bit < 8 else 52 + bit - 8


def names(plan: Plan) -> dict[str, str]:
    """Accelerator to the identifier that its files and functions carry."""
    return {spec.name: identifier(spec.name) for spec in plan.specs}
