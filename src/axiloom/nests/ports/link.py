"""How a host reaches a nest behind ports: its packets, the DMA and its windows.

What the nest computes is in its program and its RTL.
"""

from __future__ import annotations

from axiloom.base.errors import SpecError
from axiloom.isa.check.link import check_link
from axiloom.isa.contract.spec import Link
from axiloom.isa.contract.types import DmaConfig
from axiloom.nests.ports.packet import Packet

_LEAST_WINDOW = 1 << 16
_PAGE = 1 << 12


def link(
    name: str,
    inputs: Packet,
    outputs: Packet,
    *,
    multipliers: int,
    scatter_gather: bool = True,
    description: str = "",
) -> Link:
    """To an accelerator whose RTL takes `inputs` and gives `outputs`. SpecError for what no DMA can move.

    Each window holds a whole packet: what does not lie in memory as it travels is packed there.
    """
    sent, received = (max(4 * packet.words, _LEAST_WINDOW) for packet in (inputs, outputs))
    place = DmaConfig()
    dma = DmaConfig(
        input_buffer_size=_pages(sent),
        output_address=max(place.output_address, place.input_address + _pages(sent)),
        output_buffer_size=_pages(received),
        scatter_gather=scatter_gather,
    )
    connection = Link(
        name=name,
        description=description,
        dma=dma,
        macs=max(multipliers, 1),
        stream_width=inputs.parts[0].width,
        packets=(inputs.words, outputs.words),
    )
    if faults := check_link(connection):
        raise SpecError([f"{name}: {fault}" for fault in faults])
    return connection


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE
