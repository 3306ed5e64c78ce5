"""AXI Timer: AMD PG079."""

from __future__ import annotations

from axiloom.cosim.blocks.block import Kind

KIND = Kind(
    "axi_timer",
    "2.0",
    0x42800000,
    "S_AXI",
    "XTmrCtr",
    lambda _block, board: [board.fabric_hz],
    {
        f"{name}{number}": 16 * number + 4 * at
        for number in range(2)
        for at, name in enumerate(("TCSR", "TLR", "TCR"))
    },
    {"C_ONE_TIMER_ONLY": 0},
    macros=lambda board: {"CLOCK_FREQ_HZ": board.fabric_hz},
    settings=lambda block, _board: [block.number("C_ONE_TIMER_ONLY")],
    inputs={"capture": 0},
)
