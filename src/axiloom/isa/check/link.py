"""Checks of a link: streams, DMA, registers, and packets that never change; and sound links of devices whose
driver another compiler makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from axiloom.base.errors import SpecError
from axiloom.isa.contract.rtl import REGISTERS_AT
from axiloom.isa.contract.spec import Link
from axiloom.isa.contract.types import DmaConfig

STREAM_WIDTHS = (32, 64, 128)
"""Bits of the DMA's streams."""
LENGTH_WIDTHS = range(8, 27)
"""Widths of the LENGTH register (PG021, "Width of Buffer Length Register")."""
_ADDRESS_SPACE = 1 << 32
_DMA_REGISTERS = 1 << 16  # bytes of address space that a block design gives the DMA's registers
_LEAST_WINDOW = 1 << 16
_PAGE = 1 << 12


def link(
    name: str,
    *,
    packets: tuple[int, int] | None = None,
    stream_width: int = 64,
    multipliers: int = 1,
    scatter_gather: bool = True,
    description: str = "",
) -> Link:
    """To a device that takes commands, or `packets`: words in and words back. Each window holds a whole
    packet, as what does not lie in memory as it travels is packed there.

    Raises SpecError for what no DMA can move.
    """
    place = DmaConfig()
    sent, received = (-(-max(4 * words, _LEAST_WINDOW) // _PAGE) * _PAGE for words in packets or (0, 0))
    dma = DmaConfig(
        input_buffer_size=sent,
        output_address=max(place.output_address, place.input_address + sent),
        output_buffer_size=received,
        scatter_gather=scatter_gather,
    )
    macs = max(multipliers, 1)
    connection = Link(
        name=name, description=description, dma=dma, macs=macs, stream_width=stream_width, packets=packets
    )
    if faults := check_link(connection):
        raise SpecError([f"{name}: {fault}" for fault in faults])
    return connection


def check_link(link: Link, broken: Collection[str] = ()) -> list[str]:
    """All faults of `link`, each with its JSON path; empty if it is sound. `broken`: keys that could not be
    read."""
    return [fault for needs, rule in _RULES if not needs & {*broken} for fault in rule(link)]


def stream(link: Link) -> Iterator[str]:
    if link.stream_width not in STREAM_WIDTHS:
        yield f"stream_width: {link.stream_width} is not one of {', '.join(map(str, STREAM_WIDTHS))}"


def registers(link: Link) -> Iterator[str]:
    """They are words, in the range that the accelerator has."""
    for name, at in link.rtl.registers.items():
        if at % 4 or not 0 <= at < REGISTERS_AT:
            yield f"rtl.registers.{name}: {at:#x} is no offset of a word below {REGISTERS_AT:#x}"


def dma(link: Link) -> Iterator[str]:
    config = link.dma
    if config.length_width not in LENGTH_WIDTHS:
        low, high = LENGTH_WIDTHS[0], LENGTH_WIDTHS[-1]
        yield f"dma_config.lengthWidth: {config.length_width} bits: the LENGTH register has {low} to {high}"
    beat = link.stream_width // 8 if link.stream_width in STREAM_WIDTHS else 4
    regions = [
        ("address", config.address, _DMA_REGISTERS),
        ("inputAddress", config.input_address, config.input_buffer_size),
        ("outputAddress", config.output_address, config.output_buffer_size),
    ]
    for key, start, size in regions:
        unit = 4 if key == "address" else beat
        if start % unit:
            yield f"dma_config.{key}: {start:#x} is not a multiple of {unit} bytes"
        if start < 0 or start + size > _ADDRESS_SPACE:
            yield f"dma_config.{key}: {size} bytes from {start:#x} do not fit the address space of 32 bits"
    for index, (key, start, size) in enumerate(regions):
        for other, begin, length in regions[:index]:
            if start < begin + length and begin < start + size:
                yield f"dma_config.{key}: {size} bytes from {start:#x} overlap what lies at {other}"
    for key, size in (("input", config.input_buffer_size), ("output", config.output_buffer_size)):
        if size < beat or size % beat:
            yield f"dma_config.{key}BufferSize: {size} is not a multiple of {beat} bytes"


def packets(link: Link) -> Iterator[str]:
    """They fit."""
    if link.packets is not None:
        into, back = link.packets
        yield from transfer(link.dma, "a packet", 4 * into, 4 * back)


def transfer(config: DmaConfig, who: str, sent: int, received: int) -> Iterator[str]:
    """Each way, so many bytes are one transfer: it fits its window and the LENGTH register."""
    for verb, size, key, window in (
        ("sends", sent, "inputBufferSize", config.input_buffer_size),
        ("receives", received, "outputBufferSize", config.output_buffer_size),
    ):
        if size > window:
            yield f"dma_config.{key}: {window} bytes are too few: {who} {verb} {size} at once"
        if size >> config.length_width:
            yield (
                f"dma_config.lengthWidth: {who} {verb} {size} bytes in one transfer; "
                f"{config.length_width} bits hold at most {(1 << config.length_width) - 1}"
            )


_RULES: tuple[tuple[set[str], Callable[[Link], Iterator[str]]], ...] = (
    ({"stream_width"}, stream),
    ({"rtl"}, registers),
    ({"dma_config"}, dma),
    ({"dma_config", "packets"}, packets),
)
