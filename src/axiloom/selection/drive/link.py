"""How a host reaches a device of commands: commands with their payload go in, a packet of each that stores
comes back. What they compute is in the device's text."""

from __future__ import annotations

from axiloom.base.errors import SpecError
from axiloom.isa.check.link import check_link
from axiloom.isa.contract.spec import Link
from axiloom.isa.contract.types import DmaConfig

_WINDOW = 1 << 16


def link(name: str, stream_width: int = 64, multipliers: int = 1) -> Link:
    """Through streams of `stream_width` bits. A driver of a program does not use the DMA's windows.

    Raises SpecError for a width that no DMA has.
    """
    place = DmaConfig()
    dma = DmaConfig(
        input_buffer_size=_WINDOW,
        output_address=max(place.output_address, place.input_address + _WINDOW),
        output_buffer_size=_WINDOW,
        scatter_gather=True,
    )
    link = Link(
        name=name,
        description="executes commands",
        dma=dma,
        macs=max(multipliers, 1),
        stream_width=stream_width,
    )
    if faults := check_link(link):
        raise SpecError([f"{name}: {fault}" for fault in faults])
    return link
