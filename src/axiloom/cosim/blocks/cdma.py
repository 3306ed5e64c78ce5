"""AXI CDMA: AMD PG034."""

from __future__ import annotations

from axiloom.boards import Board
from axiloom.cosim.blocks.block import Block, Kind


def _settings(block: Block, board: Board) -> list[int]:
    lane = block.number("C_M_AXI_DATA_WIDTH") // 8
    flags = [block.number("C_INCLUDE_SG"), lane, block.number("C_INCLUDE_DRE")]
    return [*flags, board.ddr_read_cycles, board.ddr_write_cycles]


KIND = Kind(
    "axi_cdma",
    "4.1",
    0x4E200000,
    "S_AXI_LITE",
    "XAxiCdma",
    lambda block, _board: [
        block.number("C_INCLUDE_DRE"),
        0,
        block.number("C_M_AXI_DATA_WIDTH"),
        block.number("C_M_AXI_MAX_BURST_LEN"),
        32,
    ],
    {
        "CDMACR": 0x00,
        "CDMASR": 0x04,
        "CURDESC_PNTR": 0x08,
        "TAILDESC_PNTR": 0x10,
        "SA": 0x18,
        "DA": 0x20,
        "BTT": 0x28,
    },
    {
        "C_INCLUDE_SG": 1,
        "C_INCLUDE_DRE": 0,
        "C_M_AXI_DATA_WIDTH": 32,
        "C_M_AXI_MAX_BURST_LEN": 16,
        "C_USE_DATAMOVER_LITE": 0,
    },
    {"C_M_AXI_DATA_WIDTH": (32, 1024), "C_M_AXI_MAX_BURST_LEN": (2, 256), "C_USE_DATAMOVER_LITE": (0, 0)},
    interrupts=("CDMA_INTROUT",),
    settings=_settings,
)
