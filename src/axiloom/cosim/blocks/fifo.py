"""AXI4-Stream FIFO: AMD PG080."""

from __future__ import annotations

from axiloom.cosim.blocks.block import Kind
from axiloom.isa.contract.fifo_registers import Fifo

KIND = Kind(
    "axi_fifo_mm_s",
    "4.3",
    0x43C00000,
    "S_AXI",
    "XLlFifo",
    lambda _block, _board: [0, 0],  # words by the registers, none by AXI4
    {register.name: int(register) for register in Fifo},
    parameters={
        "C_DATA_INTERFACE_TYPE": 0,
        "C_USE_TX_CUT_THROUGH": 0,
        "C_USE_RX_CUT_THROUGH": 0,
        "C_TX_FIFO_DEPTH": 512,
        "C_RX_FIFO_DEPTH": 512,
    },
    ranges={
        "C_DATA_INTERFACE_TYPE": (0, 0),
        "C_USE_TX_CUT_THROUGH": (0, 0),
        "C_USE_RX_CUT_THROUGH": (0, 0),
        "C_TX_FIFO_DEPTH": (512, 512),
        "C_RX_FIFO_DEPTH": (512, 512),
    },
    macros=lambda _board: {"AXI4_BASEADDR": 0, "AXI4_HIGHADDR": 0},
    aliases=("AXI_FIFO",),
    takes_streams=True,
)
