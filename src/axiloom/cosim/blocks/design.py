"""The blocks of a system: those of its accelerators, and the neighbours that somebody asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from axiloom.base.errors import UsageError
from axiloom.cosim.blocks import cdma, dma, fifo, gpio, timer
from axiloom.cosim.blocks.block import OWN, PAGE, Block, Drive, Kind
from axiloom.isa import Link

KINDS = {kind.ip: kind for kind in (dma.KIND, gpio.KIND, timer.KIND, cdma.KIND, fifo.KIND)}
CONTROL = "CTRL"
"""What Vivado calls the control register of a block of Vitis HLS."""
OWN_AT = 0x43C00000
"""Where Vivado puts the first block that is not one of the vendor's, or a FIFO."""
FABRIC, BEHIND = 0x40000000, 0xC0000000
"""Addresses that the general-purpose ports of a Zynq send into the fabric."""
MOST_LINES = 16
_FORM = re.compile(r"(?:(?P<name>[A-Za-z]\w*)=)?(?P<ip>\w+)(?:@(?P<base>\w+))?")


def kind_of(block: Block) -> Kind | None:
    """None: the vendor's API and the simulation know nothing of such a block."""
    return KINDS.get(block.ip)


def is_neighbour(block: Block) -> bool:
    """Whether a block is simulated beside an accelerator, or in its DMA's place."""
    kind = kind_of(block)
    return kind is not None and (kind.settings is not None or kind.takes_streams)


def neighbours(asked: Sequence[str | Block]) -> tuple[Block, ...]:
    """Blocks for ``[NAME=]IP[@ADDRESS][,KEY=VALUE]...``; one that is a block already stays as it is.

    KEY is a parameter of Vivado's, with or without ``C_``, or an input of the kind's: ``in=LEVELS[@CYCLE]``,
    which may stand several times. UsageError.
    """
    blocks: list[Block] = []
    for item in asked:
        blocks.append(_block(item, blocks) if isinstance(item, str) else _known(item))
    return tuple(blocks)


def design(links: Sequence[Link], beside: Sequence[Block] = ()) -> list[Block]:
    """All blocks of a system, as Vivado would name and place them: a DMA for each accelerator or a FIFO in
    its place, its own registers where it has some, and those `beside` it.

    UsageError where they do not fit.
    """
    streams = [block for block in beside if takes_streams(block)]
    if len(streams) > 1 or (streams and len(links) > 1):
        raise UsageError(f"--ip {streams[0].ip}: one FIFO takes the place of the DMA of one accelerator")
    if streams and links[0].stream_width != 32:
        raise UsageError(
            f"--ip {streams[0].ip}: its streams have 32 bits, {links[0].name}'s {links[0].stream_width}"
        )
    blocks = [
        dma.block(f"axi_dma_{number}", link, (2 * number, 2 * number + 1))
        for number, link in enumerate(links)
        if not streams
    ]
    blocks += _registers(links, OWN_AT + len(streams) * PAGE)
    line = 2 * len(links)
    for block in beside:
        if takes_streams(block):
            blocks.append(replace(block, lines=(0,)))
        else:
            blocks.append(replace(block, lines=(line,)))
            line += 1
    if line > MOST_LINES:
        raise UsageError(f"--ip: {line} interrupts of the fabric, and a Zynq has {MOST_LINES}")
    _check(blocks)
    return blocks


def _registers(links: Sequence[Link], first: int) -> Iterator[Block]:
    for number, link in enumerate(link for link in links if link.rtl.registers):
        named = {
            CONTROL if at == 0 and name == "control" else name: at for name, at in link.rtl.registers.items()
        }
        vlnv = f"{OWN}:{link.name}:1.0"
        yield Block(f"{link.name}_{number}", vlnv, first + number * PAGE, port="S_AXI_CTRL", registers=named)


def takes_streams(block: Block) -> bool:
    """Whether it stands in the DMA's place."""
    kind = kind_of(block)
    return kind is not None and kind.takes_streams


def _check(blocks: Sequence[Block]) -> None:
    for number, block in enumerate(blocks):
        for other in blocks[:number]:
            if block.name == other.name:
                raise UsageError(f"--ip: two blocks are called {block.name}: name one, --ip NAME={block.ip}")
            if block.base < other.base + other.size and other.base < block.base + block.size:
                raise UsageError(
                    f"--ip: {block.name} at {block.base:#x} and {other.name} at {other.base:#x} overlap: "
                    f"a block has {PAGE:#x} bytes of addresses"
                )


def _block(text: str, before: Sequence[Block]) -> Block:
    first, *settings = text.split(",")
    form = _FORM.fullmatch(first)
    kinds = {ip: kind for ip, kind in KINDS.items() if kind is not dma.KIND}
    if form is None or form["ip"] not in kinds:
        raise UsageError(f"--ip {text!r}: [NAME=]IP[@ADDRESS][,KEY=VALUE]..., where IP is {', '.join(kinds)}")
    kind = kinds[form["ip"]]
    count = sum(block.ip == kind.ip for block in before)
    base = kind.base + count * PAGE if form["base"] is None else _number(text, form["base"])
    if base % PAGE or not FABRIC <= base < BEHIND:
        raise UsageError(
            f"--ip {text!r}: a block stands at a multiple of {PAGE:#x} from {FABRIC:#x} to {BEHIND - PAGE:#x}"
        )
    parameters, drives = dict(kind.parameters), []
    for setting in settings:
        key, _, value = setting.partition("=")
        if key in kind.inputs:
            levels, _, cycle = value.partition("@")
            drives.append(Drive(_number(text, cycle or "0"), kind.inputs[key], _number(text, levels)))
            continue
        name = next((name for name in (key.upper(), f"C_{key.upper()}") if name in parameters), None)
        if name is None:
            there = ", ".join([*(name.removeprefix("C_").lower() for name in parameters), *kind.inputs])
            raise UsageError(
                f"--ip {text!r}: {kind.ip} has {f'no {key}: it has {there}' if there else 'no settings'}"
            )
        parameters[name] = _number(text, value)
    name = form["name"] or f"{kind.ip}_{count}"
    drives.sort(key=lambda drive: drive.cycle)
    return _known(Block(name, kind.vlnv, base, PAGE, kind.port, parameters, drives=tuple(drives)))


def _known(block: Block) -> Block:
    """With what its kind says of it. UsageError for parameters that are not simulated."""
    kind = KINDS[block.ip]
    given = {key.upper(): value for key, value in block.parameters.items()}
    block = replace(block, parameters={key: given.get(key, value) for key, value in kind.parameters.items()})
    for name in block.parameters:
        least, most = kind.ranges.get(name, (0, 1))
        number = block.number(name)
        if not least <= number <= most or (name.endswith("DATA_WIDTH") and number & (number - 1)):
            accepted = f"{least:#x} alone" if least == most else f"{least:#x} to {most:#x}"
            raise UsageError(f"{block.name} ({block.ip}): {name} is simulated as {accepted}, not {number:#x}")
    return replace(block, port=kind.port, registers=kind.registers)


def _number(text: str, value: str) -> int:
    try:
        number = int(value, 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 32:
        raise UsageError(f"--ip {text!r}: {value!r} is no number of 32 bits")
    return number
