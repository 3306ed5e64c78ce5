"""What stands in the fabric beside a processing system: one list of blocks, with addresses and interrupts.

The bus of a simulation, ``xparameters.h`` and the device tables of a program on the vendor's API, PYNQ's
``.hwh`` and ``ax.soc`` are all made from the :class:`Block` list of a system (:func:`design`).

A neighbour of an accelerator (``--ip axi_gpio``) is the vendor's own IP on a board: nobody would take RTL
of ours there. So GPIO, Timer and CDMA are devices of the native core (``native/neighbours/``), with the
registers of their product guides, in fabric cycles. The AXI4-Stream FIFO takes the DMA's place on the
accelerator's streams, word by word and cycle by cycle: it is RTL (:mod:`axiloom.hw.dma.axi_fifo`).

A kind of block is one file here and one entry in :data:`KINDS`.
"""

from __future__ import annotations

from axiloom.cosim.blocks.block import GIC, OWN, PAGE, VENDOR, Block, Drive, Kind, interrupt_of
from axiloom.cosim.blocks.design import (
    CONTROL,
    KINDS,
    design,
    is_neighbour,
    kind_of,
    neighbours,
    takes_streams,
)

__all__ = [
    "CONTROL",
    "GIC",
    "KINDS",
    "OWN",
    "PAGE",
    "VENDOR",
    "Block",
    "Drive",
    "Kind",
    "design",
    "interrupt_of",
    "is_neighbour",
    "kind_of",
    "neighbours",
    "takes_streams",
]
