"""Which block stands at which address for a board's programs, and what simulates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Protocol

from axiloom.base.errors import UsageError
from axiloom.cosim.blocks import KINDS, PAGE, VENDOR, Block, dma
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec, Link
from axiloom.isa.contract.rtl import REGISTERS_AT

DMA = "axi_dma"
HPM0 = 0xA0000000
"""Where Vivado puts the first block behind an MPSoC's M_AXI_HPM0_FPD, the others page by page."""
SLCR, SLCR_BYTES = 0xF8000000, 0x1000
"""UG585, "System Level Control Registers"."""
CRL_APB, CRF_APB, CLOCK_BYTES = 0xFF5E0000, 0xFD1A0000, 0x1000
"""UG1087: clocks of the MPSoC's low-power and full-power domains."""
REFERENCE_MHZ = 50
"""What PYNQ takes for the frequency that PLLs multiply."""


class Registers(Protocol):
    """What stands behind a block, by bytes from its base."""

    def read(self, offset: int) -> int: ...
    def write(self, offset: int, value: int) -> None: ...


class Storage:
    """Registers that keep what is written."""

    def __init__(self, values: Mapping[int, int] | None = None) -> None:
        self._values = dict(values or {})

    def read(self, offset: int) -> int:
        return self._values.get(offset, 0)

    def write(self, offset: int, value: int) -> None:
        self._values[offset] = value


class Fabric(Protocol):
    """Registers of the simulated SoC, by their own addresses."""

    def read(self, address: int) -> int: ...
    def write(self, address: int, value: int) -> None: ...


@dataclass(frozen=True)
class InFabric:
    """A block that the simulator's RTL has, at another address perhaps."""

    fabric: Fabric
    base: int

    def read(self, offset: int) -> int:
        return self.fabric.read(self.base + offset)

    def write(self, offset: int, value: int) -> None:
        self.fabric.write(self.base + offset, value)


def own_design(system: System) -> list[Block]:
    """The blocks of a system as they lie behind the general-purpose port of its board."""
    if system.profile.cpu == "cortex_a53":
        return [replace(block, base=HPM0 + number * PAGE) for number, block in enumerate(system.blocks)]
    return system.blocks


@dataclass(frozen=True)
class AddressMap:
    """The blocks of a design with what simulates each; None: nothing does."""

    blocks: tuple[tuple[Block, Registers | None], ...]

    @classmethod
    def of(cls, blocks: Sequence[Block], system: System, fabric: Fabric) -> AddressMap:
        """DMAs in the order of their addresses are those of the accelerators, in their order; two with one
        channel each are together one. So are blocks that are not the vendor's those of accelerators with
        registers. UsageError where that cannot be."""
        blocks = sorted(blocks, key=lambda block: block.base)
        whose = iter(_shared([block for block in blocks if block.ip == DMA], system))
        own = iter(device for device in system.devices if device.link.rtl.registers)
        beside = sorted(system.neighbours, key=lambda block: block.base)
        neighbours = {ip: iter([block for block in beside if block.ip == ip]) for ip in KINDS}

        def behind(block: Block) -> Registers | None:
            if block.ip == DMA:
                device = next(whose)
                _check_dma(block, device.link)
                return InFabric(fabric, device.link.dma.address)
            if block.ip in neighbours and (neighbour := next(neighbours[block.ip], None)) is not None:
                return InFabric(fabric, neighbour.base)
            if not block.vlnv.startswith(VENDOR) and (mine := next(own, None)) is not None:
                return InFabric(fabric, mine.link.dma.address + REGISTERS_AT)
            return None

        return cls((*((block, behind(block)) for block in blocks), *_clocks(system)))

    @cached_property
    def simulated(self) -> tuple[Block, ...]:
        return tuple(block for block, registers in self.blocks if registers is not None)

    def at(self, address: int, length: int) -> tuple[Registers, int]:
        """What answers in a window, and where in it the window begins. UsageError: nothing does."""
        for block, behind in self.blocks:
            if block.base <= address and address + length <= block.base + block.size:
                if behind is None:
                    raise UsageError(f"{block.name} ({block.vlnv}) at {address:#x} is not simulated")
                return behind, address - block.base
        raise UsageError(
            f"nothing is mapped at {address:#x} to {address + length - 1:#x}; there are "
            + ", ".join(f"{block.name} at {block.base:#x}" for block in self.simulated)
        )


def _shared(blocks: Sequence[Block], system: System) -> list[AcceleratorSpec]:
    """The accelerator of each DMA of a design. UsageError where there are too many."""
    numbers: list[int] = []
    lacks: dict[str, int] = {}  # channel to the accelerator of a DMA without it
    for block in blocks:
        said = {name.lower(): str(value) for name, value in block.parameters.items()}
        without = [name for name in ("mm2s", "s2mm") if said.get(f"c_include_{name}", "1") == "0"]
        other = {"mm2s": "s2mm", "s2mm": "mm2s"}
        if without and other[without[0]] in lacks:
            numbers.append(lacks.pop(other[without[0]]))
            continue
        number = max(numbers, default=-1) + 1
        numbers.append(number)
        lacks |= dict.fromkeys(without, number)
    if max(numbers, default=-1) >= len(system.devices):
        names = ", ".join(block.name for block in blocks)
        raise UsageError(
            f"the design has {len(blocks)} DMAs ({names}), and the simulated SoC {len(system.devices)}: "
            "name as many accelerators, --accel NAME,NAME"
        )
    return [system.devices[number] for number in numbers]


def _check_dma(block: Block, link: Link) -> None:
    """What a user's design says of its DMA has to hold for the simulated one."""
    ours = dma.block(block.name, link).parameters
    said = {name.lower(): value for name, value in block.parameters.items()}
    names = {
        "c_include_sg": "scatter-gather (--dma sg|simple)",
        "c_sg_length_width": "bits of LENGTH (`length_width` of `dma_config`)",
        "c_enable_multi_channel": "it has one channel each way",
    }
    for key, what in names.items():
        if key in said and str(said[key]) != str(ours[key]):
            raise UsageError(
                f"{block.name}: the design has {key} {said[key]}, the simulated DMA of {link.name} "
                f"{ours[key]}: {what}"
            )


def divisor(pll_mhz: int, fabric_mhz: int) -> int:
    """Six bits: what makes the fabric's clock of a PLL's, or the next slower one."""
    return min(ceil(pll_mhz / fabric_mhz), 63)


def _clocks(system: System) -> Iterator[tuple[Block, Registers]]:
    """Of the processing system: storage with what PYNQ computes clocks from."""
    fabric_mhz = max(system.profile.fabric_hz // 1_000_000, 1)
    if system.profile.cpu == "cortex_a9":
        # FDIV 18:12 of the PLLs for ARM, DDR and IO; dividers 13:8 and 25:20 of the four clocks.
        arm = max(round(2 * system.profile.cpu_hz / 1e6 / REFERENCE_MHZ), 1)
        values = {0x100: arm << 12, 0x104: 21 << 12, 0x108: 20 << 12, 0x120: 2 << 8}
        values |= {0x170 + 16 * i: 1 << 20 | divisor(1000, fabric_mhz) << 8 for i in range(4)}
        yield Block("slcr", "zynq:ps7:slcr:1.0", SLCR, SLCR_BYTES), Storage(values)
        return
    # FBDIV 14:8 of the PLLs; dividers 13:8 and 21:16 of PL0 to PL3.
    low = {0x20: 1 << 16 | 90 << 8, 0x30: 1 << 16 | 72 << 8}
    low |= {0xC0 + 4 * i: 1 << 24 | 1 << 16 | divisor(1500, fabric_mhz) << 8 for i in range(4)}
    high = {0x20: 1 << 16 | 72 << 8, 0x2C: 1 << 16 | 64 << 8, 0x38: 1 << 16 | 90 << 8, 0x60: 1 << 8}
    yield Block("crl_apb", "zynqmp:ps8:crl_apb:1.0", CRL_APB, CLOCK_BYTES), Storage(low)
    yield Block("crf_apb", "zynqmp:ps8:crf_apb:1.0", CRF_APB, CLOCK_BYTES), Storage(high)
