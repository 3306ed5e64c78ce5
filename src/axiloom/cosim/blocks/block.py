"""A block of the fabric, and a kind of block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from axiloom.boards import Board

PAGE = 0x10000
"""Bytes of addresses that Vivado gives a block."""
VENDOR, OWN = "xilinx.com:ip:", "axiloom:user"
GIC = 0xF8F01000
"""The distributor of a Zynq-7000: xparameters.h of SDT says by it whose an interrupt is."""


def interrupt_of(line: int) -> int:
    """Of IRQ_F2P[line] at the interrupt controller of a Zynq-7000: UG585, table 7-4."""
    return 61 + line if line < 8 else 76 + line


@dataclass(frozen=True)
class Drive:
    """Somebody outside puts `levels` on the pins of `port`, at a fabric cycle of the run."""

    cycle: int
    port: int
    levels: int


@dataclass(frozen=True)
class Block:
    """An IP of the design, as PYNQ sees it."""

    name: str
    """With its hierarchy: ``hier_0/axi_dma_0``."""
    vlnv: str
    """``vendor:library:name:major.minor``: it selects PYNQ's driver."""
    base: int
    size: int = PAGE
    port: str = "S_AXI_LITE"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    registers: Mapping[str, int] = field(default_factory=dict)
    """Name to offset: PYNQ's ``register_map``."""
    lines: tuple[int, ...] = ()
    """Its interrupts: bits of IRQ_F2P."""
    drives: tuple[Drive, ...] = ()

    @property
    def ip(self) -> str:
        """Vivado's name of a block of the vendor's; of another one the whole of its name."""
        kind = self.vlnv.rpartition(":")[0]
        return kind.removeprefix(VENDOR)

    def number(self, name: str) -> int:
        """A parameter, however it is spelled; Vivado says some as ``true``."""
        values = {key.upper(): value for key, value in self.parameters.items()}
        text = str(values[name]).lower()
        return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(text, 0)


Wired = Callable[[Block, "Board"], Sequence[int]]
"""What the device in the native core is told of a block: ``settings`` of axl_neighbour_t."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of IP, as Vivado, the vendor's API and PYNQ know it."""

    ip: str
    version: str
    base: int
    """Where Vivado puts the first."""
    port: str
    driver: str
    """Of its driver's structures and functions: ``XGpio``."""
    fields: Callable[[Block, Board], Sequence[object]]
    """Of the driver's configuration, behind the base address."""
    registers: Mapping[str, int]
    parameters: Mapping[str, int] = field(default_factory=dict)
    """What may be set, as Vivado names it, with the default of a block of ours."""
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The least and the most of those that are more than a flag."""
    interrupts: tuple[str, ...] = ("INTERRUPT",)
    macros: Callable[[Board], Mapping[str, object]] = lambda _board: {}
    """In xparameters.h, beside the parameters."""
    aliases: tuple[str, ...] = ()
    """More prefixes of its macros in xparameters.h, beside the driver's and the block's own name."""
    last_fields: Callable[[Block], Sequence[object]] = lambda _block: ()
    """... behind the interrupt in the form of SDT."""
    settings: Wired | None = None
    """None: the native core has no such device."""
    inputs: Mapping[str, int] = field(default_factory=dict)
    """Pins that an option drives: its key to the port."""
    takes_streams: bool = False
    """It stands in the DMA's place."""

    @property
    def vlnv(self) -> str:
        return f"{VENDOR}{self.ip}:{self.version}"
