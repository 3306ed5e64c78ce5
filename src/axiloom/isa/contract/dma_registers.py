"""The DMA's register map: the one place that says where a register is, what its bits are, its reset value.

Source: AMD PG021 (AXI DMA v7.1), "Direct Register Mode Register Address Map" and "Scatter/Gather Mode
Register Address Map", and the pages of the registers. The RTL and all Python take their numbers from here;
``python -m tools.registers --write`` prints the map for C, C++, Verilog and the board's Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Channel(IntEnum):
    """Where a channel's registers begin, in bytes from the DMA's."""

    MM2S = 0x00
    S2MM = 0x30


@dataclass(frozen=True)
class Field:
    """Bits of a register, `width` of them from bit `low` on. `reset`: what they read after a reset."""

    name: str
    low: int
    width: int = 1
    reset: int = 0
    is_error: bool = False

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    """A register of each channel. Bits that are of no field read as zero."""

    name: str
    offset: int
    """Bytes from the channel's base."""
    purpose: tuple[str, str]
    """In a few words: of MM2S, of S2MM."""
    fields: tuple[Field, ...] = ()
    direct: bool = True
    scatter_gather: bool = True
    extension: bool = False
    """It is ours: at a reserved address of PG021's, to which a write has no effect there."""
    documented: tuple[str, str] = ("", "")
    """PG021's name of it, of MM2S and of S2MM, where it is not `name`."""

    def at(self, channel: Channel) -> int:
        """Bytes from the DMA's registers."""
        return channel + self.offset

    def name_of(self, channel: Channel) -> str:
        """As PG021 has it: ``MM2S_SA``."""
        return f"{channel.name}_{self.documented[channel is Channel.S2MM] or self.name}"

    def purpose_of(self, channel: Channel) -> str:
        return self.purpose[channel is Channel.S2MM]

    def field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)

    @property
    def reset(self) -> int:
        return sum(field.reset << field.low for field in self.fields)

    @property
    def errors(self) -> int:
        """The bits that say why a channel stopped."""
        return sum(field.mask for field in self.fields if field.is_error)


DMACR = Register(
    "DMACR",
    0x00,
    ("control of MM2S: run, reset, interrupts", "control of S2MM"),
    (
        Field("RS", 0),
        Field("Reserved", 1, reset=1),
        Field("Reset", 2),
        # 3 Keyhole is not built in.
        Field("Cyclic_BD_Enable", 4),  # in scatter-gather mode alone
        Field("IOC_IrqEn", 12),
        Field("Dly_IrqEn", 13),
        Field("Err_IrqEn", 14),
        Field("IRQThreshold", 16, 8, reset=1),
        Field("IRQDelay", 24, 8),
    ),
)
DMASR = Register(
    "DMASR",
    0x04,
    ("status of MM2S: halted, idle, errors, interrupts", "status of S2MM"),
    (
        Field("Halted", 0, reset=1),
        Field("Idle", 1),
        Field("SGIncld", 3),  # reads 1 in scatter-gather mode
        Field("DMAIntErr", 4, is_error=True),
        Field("DMASlvErr", 5, is_error=True),
        Field("DMADecErr", 6, is_error=True),
        Field("SGIntErr", 8, is_error=True),
        Field("SGSlvErr", 9, is_error=True),
        Field("SGDecErr", 10, is_error=True),
        Field("IOC_Irq", 12),
        Field("Dly_Irq", 13),
        Field("Err_Irq", 14),
    ),
)
CURDESC = Register(
    "CURDESC",
    0x08,
    ("first descriptor of MM2S, written while halted", "first descriptor of S2MM, written while halted"),
    direct=False,
)
TAILDESC = Register(
    "TAILDESC",
    0x10,
    (
        "last descriptor of MM2S; a write goes on as far as that",
        "last descriptor of S2MM; a write goes on as far as that",
    ),
    direct=False,
)
AHEADDESC = Register(
    "AHEADDESC",
    0x20,
    (
        "MM2S fetches descriptors up to this one before TAILDESC covers them; 0: it forgets them",
        "S2MM fetches descriptors up to this one before TAILDESC covers them; 0: it forgets them",
    ),
    direct=False,
    extension=True,
)
ADDRESS = Register(
    "ADDRESS",
    0x18,
    ("address that MM2S reads from", "address that S2MM writes to"),
    scatter_gather=False,
    documented=("SA", "DA"),
)
LENGTH = Register(
    "LENGTH",
    0x28,
    (
        "bytes; a write begins the transfer",
        "bytes; a write begins the transfer, reads are the bytes received",
    ),
    scatter_gather=False,
)

REGISTERS = (DMACR, DMASR, CURDESC, TAILDESC, ADDRESS, AHEADDESC, LENGTH)
"""Each channel has them, from its base on. Every other address reads as zero."""


def registers(scatter_gather: bool) -> tuple[Register, ...]:
    """What a DMA of this mode has, by offset."""
    return tuple(
        register for register in REGISTERS if (register.scatter_gather if scatter_gather else register.direct)
    )
