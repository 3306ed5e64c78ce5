"""`Link`: how a host reaches a device. What the device computes, its instructions say elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.contract.types import WORD_BITS, Access, DmaConfig

if TYPE_CHECKING:
    from axiloom.isa.contract.spec import AcceleratorSpec


@dataclass(frozen=True, kw_only=True)
class Link:
    """Streams of `stream_width` bits, the DMA behind them, and the ports of the device's RTL.

    By itself it is of a device whose driver another compiler makes: of loop nests, or of a text of
    instructions. With an opcode map it is an :class:`~axiloom.isa.contract.spec.AcceleratorSpec`.
    """

    name: str
    version: str = "1.0"
    description: str = ""
    dma: DmaConfig = field(default_factory=DmaConfig)
    macs: int = 1
    """Parallel multiply-adds."""
    stream_width: int = WORD_BITS
    cpu: Mapping[str, Any] = field(default_factory=dict)
    """The ``cpu`` part of the file (cache levels and types), kept as it was."""
    rtl: RtlPorts = field(default_factory=RtlPorts)
    """What is to be known of Verilog of the user's own."""
    guessed: tuple[str, ...] = ()
    """Keys of its file that ``axiloom spec from-rtl`` guessed, and that nobody has made sure of since."""
    packets: tuple[int, int] | None = None
    """32-bit words of each packet in and of each packet back, where that never changes."""

    @property
    def parts(self) -> tuple[AcceleratorSpec, ...]:
        """Of an opcode map: one a kernel with flows of its own. An op of the host is for one of them."""
        return ()

    @property
    def accesses(self) -> Mapping[str, tuple[tuple[Access, ...], tuple[Access, ...]]]:
        """Opcode to the registers that the host accesses before and after it, where there are such."""
        return {}

    @property
    def has_registers(self) -> bool:
        """Whether the host accesses registers of the device between transfers, which then cannot be moved."""
        return False

    @property
    def keeps_packets(self) -> bool:
        """Whether each instruction is a packet of its own, which no pass may join with another."""
        return True

    @property
    def has_pointers(self) -> bool:
        """Whether the device reads and writes memory itself: no operand travels on a stream."""
        return False

    @property
    def beat_words(self) -> int:
        """32-bit words that the stream takes at once, the lowest in the lowest bits."""
        return self.stream_width // WORD_BITS

    @property
    def result_words(self) -> int | None:
        """Words of each result that comes back, where that never changes: there TLAST can be counted."""
        return None if self.packets is None else self.packets[1]

    def has_whole_beats(self, bits: int, *, into: bool) -> bool:
        """Whether all that travels one way (`into` the device, or back) fills beats of `bits`."""
        return self.packets is not None and self.packets[not into] * WORD_BITS % bits == 0

    def replace(self, **changes: Any) -> Self:
        return replace(self, **changes)


AnyLink = TypeVar("AnyLink", bound=Link)
