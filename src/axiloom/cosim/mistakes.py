"""Mistakes of a driver with the DMA's registers, as lines: register, rule and place in the source.

``native/bus/driver_rules.hpp`` sees them. The rules are those of AMD PG021 (AXI DMA v7.1): "Direct Register
Mode", "Scatter/Gather Mode", and the pages of the registers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axiloom.cosim import diagnosis, native
from axiloom.cosim.lines import NOWHERE, Source
from axiloom.isa.contract import dma_registers
from axiloom.isa.contract.dma_registers import Channel, Register
from axiloom.isa.contract.rtl import REGISTERS_AT

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec, Link


def teach(library: Any, link: Link, *, has_dma: bool = True) -> None:
    """Tell the core what the DMA of the selected accelerator is; without one there are no rules."""
    dma = link.dma
    told = native.Dma(
        dma.length_width if has_dma else 0,
        link.stream_width // 8,
        dma.scatter_gather,
        bool(link.rtl.registers),
    )
    library.axl_dma(ctypes.byref(told))


@dataclass(frozen=True)
class Report:
    """The mistakes of a run, by the core's own numbers."""

    library: Any
    specs: Sequence[AcceleratorSpec]
    source: Source = NOWHERE

    def lines(self) -> list[str]:
        """One for each register and place in the program, oldest first."""
        reports = (self.library.axl_mistake(i).contents for i in range(self.library.axl_mistake_count()))
        return [self._line(raw) for raw in reports]

    def hints(self, number: int) -> list[str]:
        """What the driver has left undone with accelerator `number`: for a run that hangs."""
        spec = self.specs[number]
        state = self.library.axl_dma_state(number).contents
        begin = dma_registers.TAILDESC if spec.link.dma.scatter_gather else dma_registers.LENGTH
        return [
            f"the driver never wrote {begin.name_of(channel)}, so nothing was {what}"
            for channel, what, started in zip(Channel, ("sent", "received"), state.started, strict=True)
            if not started and any(state.started)
        ]

    def _line(self, raw: Any) -> str:
        spec = self.specs[raw.dma]
        name = f"{spec.name}: " if len(self.specs) > 1 else ""
        times = f"; {raw.count} times" if raw.count > 1 else ""
        does = DOES[_KINDS[raw.kind]](_Write(raw, spec, self.source))
        return f"{name}{self.source.place(raw.pc, raw.call)} {does}{times}, first at fabric cycle {raw.cycle}"


def refusal(mistakes: Sequence[str]) -> str:
    """What is said of a run with mistakes."""
    return diagnosis.first_of("a mistake of the driver's", mistakes)


def register(at: int, link: Link) -> str:
    """``MM2S_LENGTH (0x40400028)``, or the address alone of what is no register."""
    address = f"0x{link.dma.address + at:08X}"
    return next((f"{name} ({address})" for name in _names(at, link.dma.scatter_gather)), address)


def _names(at: int, scatter_gather: bool) -> list[str]:
    """Of the register at this offset, in that mode of the DMA; none: there is none."""
    registers = dma_registers.registers(scatter_gather)
    return [reg.name_of(channel) for channel in Channel for reg in registers if reg.at(channel) == at]


@dataclass(frozen=True)
class _Write:
    """A mistake, and the names that its text needs."""

    raw: Any
    spec: AcceleratorSpec
    source: Source

    @property
    def value(self) -> int:
        return int(self.raw.value)

    @property
    def detail(self) -> int:
        return int(self.raw.detail)

    @property
    def channel(self) -> Channel:
        return Channel.S2MM if self.raw.at >= Channel.S2MM else Channel.MM2S

    @property
    def at(self) -> str:
        return register(self.raw.at, self.spec.link)

    @property
    def writes(self) -> str:
        return f"writes 0x{self.value:X} to {self.at}"

    @property
    def hands_over(self) -> str:
        return f"hands over the descriptor at 0x{self.value:08X} by {self.at}"

    def of(self, which: Register) -> str:
        """Another register of this channel."""
        return which.name_of(self.channel)

    @property
    def cut(self) -> str:
        left, most = self.value & ((1 << self.detail) - 1), (1 << self.detail) - 1
        moves = "and so much is moved" if left else "and no transfer begins"
        return f"{left} is left of it, {moves}; at most {most} fit"

    @property
    def no_register(self) -> str:
        queue = self.spec.link.dma.scatter_gather
        mode = "scatter-gather" if queue else "direct register"
        other = "".join(f"; {name} is of the other mode" for name in _names(self.raw.at, not queue))
        if self.raw.at >= REGISTERS_AT:
            return "the accelerator has no registers"
        return f"the DMA in {mode} mode has none there{other}"

    @property
    def early(self) -> str:
        owner = self.source.object_at(self.value, self.value)
        where = f"{owner.name} at 0x{self.value:08X}" if owner else f"0x{self.value:08X}"
        moves = "writes" if self.channel is Channel.S2MM else "reads"
        idle = f"wait until {self.of(dma_registers.DMASR)} has Idle"
        return f"{where} while {self.channel.name} still {moves} that buffer: {idle}"


_KINDS = tuple(native.numbers("axl_mistake_kind", "AXL_MISTAKE_"))
DOES: Mapping[str, Callable[[_Write], str]] = {
    "LENGTH_CUT": lambda w: f"writes {w.value} to {w.at}, which has {w.detail} bits: {w.cut}",
    "LENGTH_ZERO": lambda w: f"writes 0 to {w.at}: no transfer begins",
    "LENGTH_SMALL": lambda w: (
        f"writes {w.value} to {w.at}: less than a beat of {w.detail} bytes cannot be received"
    ),
    "BUSY": lambda w: (
        f"{w.writes} while {w.channel.name} is busy with a transfer: LENGTH may be written when "
        f"{w.of(dma_registers.DMASR)} has Idle, or after a reset before the first one"
    ),
    "NOT_RUNNING": lambda w: (
        f"{w.writes} while {w.of(dma_registers.DMACR)} has RS 0: the channel was not started, "
        "so nothing begins; set RS first"
    ),
    "UNALIGNED": lambda w: (
        f"starts a transfer with 0x{w.value:08X} in {w.at}: without a realignment engine "
        f"(DRE) the address is a multiple of {w.detail} bytes"
    ),
    "RECEIVE_SHORT": lambda w: (
        f"asks for {w.value} bytes by {w.at}, and the packet is longer: after {w.detail} words there was no "
        "TLAST; the buffer has to take the whole packet"
    ),
    "RESET_BUSY": lambda w: (
        f"writes Reset to {w.at} while {Channel(w.value).name} is busy with a transfer, "
        "which is broken off: its words are lost"
    ),
    "CURRENT_RUNNING": lambda w: (
        f"{w.writes} while {w.of(dma_registers.DMACR)} has RS 1: it may be written while the channel is "
        "halted"
    ),
    "NO_CURRENT": lambda w: (
        f"{w.writes}, and {w.of(dma_registers.CURDESC)} was not written since the reset: "
        "it says where to begin"
    ),
    "DESCRIPTOR_PLACE": lambda w: f"{w.writes}: a descriptor lies at a multiple of 64 bytes",
    "TAIL_UNREACHED": lambda w: (
        f"{w.writes}, and NXTDESC does not lead there from the descriptor at 0x{w.detail:08X}, "
        "the first one that is not done"
    ),
    "DESCRIPTOR_DONE": lambda w: (
        f"{w.hands_over} while its STATUS is 0x{w.detail:08X} with Cmplt: it was used, and STATUS has to be "
        "cleared first (SGIntErr)"
    ),
    "DESCRIPTOR_EMPTY": lambda w: f"{w.hands_over} with a length of 0 in CONTROL (DMAIntErr)",
    "DESCRIPTOR_BUFFER": lambda w: (
        f"{w.hands_over} with BUFFER_ADDRESS 0x{w.detail:08X}, which is no multiple of "
        f"{w.spec.link.stream_width // 8} bytes"
    ),
    "NO_REGISTER": lambda w: f"{w.writes}, which is no register: {w.no_register}",
    "READ_ONLY": lambda w: (
        f"{w.writes}, which changes nothing: of it only IOC_Irq, Dly_Irq and Err_Irq can be written, "
        "and a 1 clears them"
    ),
    "EARLY_LOAD": lambda w: f"reads {w.early}",
    "EARLY_STORE": lambda w: f"writes {w.early}",
    "NO_ADDRESS": lambda w: f"starts a transfer, and {w.at} was not written since the reset",
}
"""By axl_mistake_kind: what the driver does there."""
