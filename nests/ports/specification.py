"""The specification of a nest behind ports: one opcode without a word, a packet in, a packet out.

What the nest computes is in its program and its RTL. The specification says how to reach it: the words of the
packets, the stream, the DMA and its windows, and how many multipliers there are.
"""

from __future__ import annotations

from axiloom.errors import SpecError
from axiloom.isa.check.check import check
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    DmaConfig,
    Load,
    Opcode,
    Recv,
    Scope,
    Send,
    Store,
    TileRule,
)
from axiloom.isa.kernels.forms import PACKET
from axiloom.isa.numerics import INT32
from axiloom.nests.ports.packet import Packet

RUN, ONCE = "run", "once"
"""The opcode, and the flow."""
_LEAST_WINDOW = 1 << 16
_PAGE = 1 << 12


def specification(
    name: str,
    inputs: Packet,
    outputs: Packet,
    *,
    multipliers: int,
    scatter_gather: bool = True,
    description: str = "",
) -> AcceleratorSpec:
    """Of an accelerator whose RTL takes `inputs` and gives `outputs`. SpecError for what no DMA can move.

    Each window holds a whole packet: what does not lie in memory as it travels is packed there.
    """
    sent, received = (max(4 * one.words, _LEAST_WINDOW) for one in (inputs, outputs))
    first = DmaConfig().input_address
    place = DmaConfig().output_address
    dma = DmaConfig(
        input_buffer_size=_pages(sent),
        output_address=max(place, first + _pages(sent)),
        output_buffer_size=_pages(received),
        scatter_gather=scatter_gather,
    )
    run = Opcode(RUN, (Send("X"), Recv("Y")), (Load("X"), Compute(), Store("Y"), Clear("Y")))
    spec = AcceleratorSpec(
        name=name,
        version="1.0",
        description=description,
        kernel=PACKET.kernel,
        data_type=INT32,
        dims=PACKET.dims,
        data=PACKET.operands,
        opcodes={RUN: run},
        flows={ONCE: Scope((RUN,))},
        selected_flow=ONCE,
        init_opcodes=(),
        dma=dma,
        buffers={"X": inputs.words, "Y": outputs.words},
        tile=TileRule((inputs.words, outputs.words)),
        macs=max(multipliers, 1),
        stream_width=inputs.parts[0].width,
    )
    if faults := check(spec):
        raise SpecError([f"{name}: {fault}" for fault in faults])
    return spec


def _pages(size: int) -> int:
    return -(-size // _PAGE) * _PAGE
