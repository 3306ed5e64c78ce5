"""AXI DMA with both channels: AMD PG021. Each accelerator has one."""

from __future__ import annotations

from axiloom.boards import Board
from axiloom.cosim.blocks.block import Block, Kind
from axiloom.isa import Link
from axiloom.isa.contract.dma_registers import Channel, registers


def _fields(block: Block, _board: Board) -> list[object]:
    widths = [block.number(f"C_M_AXI_{channel.name}_DATA_WIDTH") for channel in Channel]
    streams = [0, *(value for width in widths for value in (1, 0, width)), block.number("C_INCLUDE_SG")]
    return [*streams, 1, 1, 16, 16, 0, 32, block.number("C_SG_LENGTH_WIDTH")]


KIND = Kind(
    "axi_dma",
    "7.1",
    0x40400000,
    "S_AXI_LITE",
    "XAxiDma",
    _fields,
    {},
    interrupts=("MM2S_INTROUT", "S2MM_INTROUT"),
)


def block(name: str, link: Link, lines: tuple[int, ...] = ()) -> Block:
    """Of an accelerator: the parameters that PYNQ's driver and the vendor's API read."""
    parameters = {
        "c_include_sg": int(link.dma.scatter_gather),
        "c_sg_length_width": link.dma.length_width,
        "c_sg_include_stscntrl_strm": 0,
        "c_micro_dma": 0,
        "c_enable_multi_channel": 0,
        "c_addr_width": 32,
    }
    for channel in ("mm2s", "s2mm"):
        parameters |= {
            f"c_include_{channel}": 1,
            f"c_include_{channel}_dre": 0,
            f"c_{channel}_burst_size": 16,
            f"c_num_{channel}_channels": 1,
            f"c_m_axi_{channel}_data_width": link.stream_width,
        }
    named = {
        register.name_of(channel): register.at(channel)
        for channel in Channel
        for register in registers(link.dma.scatter_gather)
        if not register.extension
    }
    return Block(name, KIND.vlnv, link.dma.address, parameters=parameters, registers=named, lines=lines)
