"""AXI GPIO: AMD PG144."""

from __future__ import annotations

from axiloom.boards import Board
from axiloom.cosim.blocks.block import Block, Kind

_WIDTHS = ("C_GPIO_WIDTH", "C_GPIO2_WIDTH")
_DEFAULTS = (
    ("C_DOUT_DEFAULT", "C_TRI_DEFAULT", "C_ALL_INPUTS", "C_ALL_OUTPUTS"),
    ("C_DOUT_DEFAULT_2", "C_TRI_DEFAULT_2", "C_ALL_INPUTS_2", "C_ALL_OUTPUTS_2"),
)


def _settings(block: Block, _board: Board) -> list[int]:
    told = []
    for second, (width, names) in enumerate(zip(_WIDTHS, _DEFAULTS, strict=True)):
        there = not second or block.number("C_IS_DUAL")
        told += [block.number(width) if there else 0, *(block.number(name) for name in names)]
    return [*told, block.number("C_INTERRUPT_PRESENT")]


KIND = Kind(
    "axi_gpio",
    "2.0",
    0x41200000,
    "S_AXI",
    "XGpio",
    lambda block, _board: [block.number("C_INTERRUPT_PRESENT"), block.number("C_IS_DUAL")],
    {
        "GPIO_DATA": 0x0,
        "GPIO_TRI": 0x4,
        "GPIO2_DATA": 0x8,
        "GPIO2_TRI": 0xC,
        "GIER": 0x11C,
        "IP_ISR": 0x120,
        "IP_IER": 0x128,
    },
    {
        "C_GPIO_WIDTH": 32,
        "C_GPIO2_WIDTH": 32,
        "C_IS_DUAL": 1,
        "C_INTERRUPT_PRESENT": 1,
        **{name: 0xFFFFFFFF if "TRI" in name else 0 for names in _DEFAULTS for name in names},
    },
    dict.fromkeys(_WIDTHS, (1, 32))
    | {name: (0, 0xFFFFFFFF) for names in _DEFAULTS for name in names if "DEFAULT" in name},
    interrupts=("IP2INTC_IRPT",),
    last_fields=lambda block: [block.number("C_GPIO_WIDTH")],
    settings=_settings,
    inputs={"in": 0, "in2": 1},
)
