"""Mistakes of a driver with the DMA's registers, as lines: register, rule and place in the source.

``native/bus/driver_rules.hpp`` sees them. The rules are those of AMD PG021 (AXI DMA v7.1): "Direct Register
Mode", "Scatter/Gather Mode", and the pages of the registers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axiloom.cosim import native
from axiloom.cosim.lines import NOWHERE, Source
from axiloom.isa.contract import dma_registers
from axiloom.isa.contract.dma_registers import Channel
from axiloom.isa.contract.rtl import REGISTERS_AT

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec


def teach(library: Any, spec: AcceleratorSpec) -> None:
    """Tell the core what the DMA of the selected accelerator is."""
    dma = spec.dma
    made = native.Dma(dma.length_width, spec.stream_width // 8, dma.scatter_gather, bool(spec.rtl.registers))
    library.axl_dma(ctypes.byref(made))


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
        begin = dma_registers.TAILDESC if spec.dma.scatter_gather else dma_registers.LENGTH
        return [
            f"the driver never wrote {begin.name_of(channel)}, so nothing was {what}"
            for channel, what, started in zip(Channel, ("sent", "received"), state.started, strict=True)
            if not started and any(state.started)
        ]

    def _line(self, raw: Any) -> str:
        spec = self.specs[raw.dma]
        name = f"{spec.name}: " if len(self.specs) > 1 else ""
        times = f"; {raw.count} times" if raw.count > 1 else ""
        said = _SAID[raw.kind](raw, spec, self.source)
        return f"{name}{self.source.place(raw.pc, raw.call)} {said}{times}, first at fabric cycle {raw.cycle}"


def refusal(found: Sequence[str]) -> str:
    """What is said of a run with mistakes: the first, and how many there are."""
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return f"a mistake of the driver's: {found[0]}{more}"


def register(at: int, spec: AcceleratorSpec) -> str:
    """``MM2S_LENGTH (0x40400028)``, or the address alone of what is no register."""
    address = f"0x{spec.dma.address + at:08X}"
    for channel in Channel:
        for one in dma_registers.registers(spec.dma.scatter_gather):
            if one.at(channel) == at:
                return f"{one.name_of(channel)} ({address})"
    return address


def _control(at: int) -> str:
    return dma_registers.DMACR.name_of(Channel.S2MM if at >= Channel.S2MM else Channel.MM2S)


def _channel(at: int) -> str:
    return (Channel.S2MM if at >= Channel.S2MM else Channel.MM2S).name


def _status(at: int) -> str:
    return dma_registers.DMASR.name_of(Channel.S2MM if at >= Channel.S2MM else Channel.MM2S)


def _writes(raw: Any, spec: AcceleratorSpec) -> str:
    return f"writes 0x{raw.value:X} to {register(raw.at, spec)}"


def _length_cut(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    kept = raw.value & ((1 << raw.detail) - 1)
    return (
        f"writes {raw.value} to {register(raw.at, spec)}, which has {raw.detail} bits: {kept} is left of it, "
        f"{'and no transfer begins' if not kept else 'and so much is moved'}; "
        f"at most {(1 << raw.detail) - 1} fit"
    )


def _length_zero(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return f"writes 0 to {register(raw.at, spec)}: no transfer begins"


def _length_small(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"writes {raw.value} to {register(raw.at, spec)}: "
        f"less than a beat of {raw.detail} bytes cannot be received"
    )


def _busy(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"{_writes(raw, spec)} while {_channel(raw.at)} is busy with a transfer: LENGTH may be written when "
        f"{_status(raw.at)} has Idle, or after a reset before the first one"
    )


def _not_running(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"{_writes(raw, spec)} while {_control(raw.at)} has RS 0: the channel was not started, "
        "so nothing begins; set RS first"
    )


def _unaligned(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"starts a transfer with 0x{raw.value:08X} in {register(raw.at, spec)}: without a realignment engine "
        f"(DRE) the address is a multiple of {raw.detail} bytes"
    )


def _no_address(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return f"starts a transfer, and {register(raw.at, spec)} was not written since the reset"


def _receive_short(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"asks for {raw.value} bytes by {register(raw.at, spec)}, and the packet is longer: after "
        f"{raw.detail} words there was no TLAST; the buffer has to take the whole packet"
    )


def _reset_busy(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"writes Reset to {register(raw.at, spec)} while {_channel(raw.value)} is busy with a transfer, "
        "which is broken off: its words are lost"
    )


def _current_running(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"{_writes(raw, spec)} while {_control(raw.at)} has RS 1: "
        "it may be written while the channel is halted"
    )


def _no_current(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    current = dma_registers.CURDESC.name_of(Channel.S2MM if raw.at >= Channel.S2MM else Channel.MM2S)
    return f"{_writes(raw, spec)}, and {current} was not written since the reset: it says where to begin"


def _descriptor_place(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return f"{_writes(raw, spec)}: a descriptor lies at a multiple of 64 bytes"


def _tail_unreached(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"{_writes(raw, spec)}, and NXTDESC does not lead there from the descriptor at 0x{raw.detail:08X}, "
        "the first one that is not done"
    )


def _descriptor_done(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"hands over the descriptor at 0x{raw.value:08X} by {register(raw.at, spec)} while its STATUS is "
        f"0x{raw.detail:08X} with Cmplt: it was used, and STATUS has to be cleared first (SGIntErr)"
    )


def _descriptor_empty(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"hands over the descriptor at 0x{raw.value:08X} by {register(raw.at, spec)} with a length of 0 in "
        "CONTROL (DMAIntErr)"
    )


def _descriptor_buffer(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"hands over the descriptor at 0x{raw.value:08X} by {register(raw.at, spec)} with BUFFER_ADDRESS "
        f"0x{raw.detail:08X}, which is no multiple of {spec.stream_width // 8} bytes"
    )


def _no_register(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    mode = "scatter-gather" if spec.dma.scatter_gather else "direct register"
    owner = (
        "the accelerator has no registers"
        if raw.at >= REGISTERS_AT
        else f"the DMA in {mode} mode has none there"
    )
    other = "".join(
        f"; {one.name_of(channel)} is of the other mode"
        for channel in Channel
        for one in dma_registers.registers(not spec.dma.scatter_gather)
        if one.at(channel) == raw.at
    )
    return f"{_writes(raw, spec)}, which is no register: {owner}{other}"


def _read_only(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
    return (
        f"{_writes(raw, spec)}, which changes nothing: of it only IOC_Irq, Dly_Irq and Err_Irq can be "
        "written, and a 1 clears them"
    )


def _early(does: str) -> Callable[[Any, AcceleratorSpec, Source], str]:
    def said(raw: Any, spec: AcceleratorSpec, source: Source) -> str:
        owner = source.object_at(raw.value, raw.value)
        where = f"{owner.name} at 0x{raw.value:08X}" if owner else f"0x{raw.value:08X}"
        moves = "writes" if raw.at >= Channel.S2MM else "reads"
        return (
            f"{does} {where} while {_channel(raw.at)} still {moves} that buffer: "
            f"wait until {_status(raw.at)} has Idle"
        )

    return said


_SAID: tuple[Callable[[Any, AcceleratorSpec, Source], str], ...] = (
    _length_cut,
    _length_zero,
    _length_small,
    _busy,
    _not_running,
    _unaligned,
    _receive_short,
    _reset_busy,
    _current_running,
    _no_current,
    _descriptor_place,
    _tail_unreached,
    _descriptor_done,
    _descriptor_empty,
    _descriptor_buffer,
    _no_register,
    _read_only,
    _early("reads"),
    _early("writes"),
    _no_address,
)
"""By axl_mistake_kind."""
