"""Checks of sizes: dims, tiles, buffers, multiply-adds, streams and DMA. See :mod:`axiloom.isa.check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import prod

from axiloom.isa.framing import sent_words
from axiloom.isa.names import hint, listed
from axiloom.isa.spec import AcceleratorSpec
from axiloom.isa.types import Opcode

KERNEL = "linalg.matmul"
DIMS = ("m", "n", "k")
OPERANDS = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""Operands of the kernel and the dims they have; a specification may list an operand's dims in any order."""
STREAM_WIDTHS = (32, 64, 128)
LENGTH_WIDTHS = range(8, 27)
"""Widths of the LENGTH register (PG021, "Width of Buffer Length Register")."""
_ADDRESS_SPACE = 1 << 32
_DMA_REGISTERS = 1 << 16  # bytes of address space that a block design gives the DMA's registers


# --- kernel, dims, data, tile ------------------------------------------------------------------------


def kernel(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.kernel != KERNEL:
        yield f"kernel: `{spec.kernel}` is not supported; only {KERNEL} is{hint(spec.kernel, [KERNEL])}"


def dims(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.dims != DIMS:
        given = listed(spec.dims)
        yield f"dims: {given} are not those of {KERNEL}, which are {listed(DIMS)}, in this order"


def data(spec: AcceleratorSpec) -> Iterator[str]:
    these = "the operands are " + ", ".join(f"{o} ({listed(d)})" for o, d in OPERANDS.items())
    for operand in spec.data:
        if operand not in OPERANDS:
            yield f"data.{operand}: unknown operand `{operand}`{hint(operand, OPERANDS)}; {these}"
    for operand, own in OPERANDS.items():
        if operand not in spec.data:
            yield f"data: operand `{operand}` is missing; {these}"
        elif sorted(spec.data[operand]) != sorted(own):
            given = listed(spec.data[operand])
            yield f"data.{operand}: {given} are not its dims, which are {listed(own)}, in any order"


def tile_form(spec: AcceleratorSpec) -> Iterator[str]:
    for place, tile in (("accel_size", spec.tile.size), ("tile.granule", spec.tile.granule)):
        if tile is not None and len(tile) != len(spec.dims):
            yield f"{place}: {_times(tile)} has {len(tile)} sizes; the dims are {listed(spec.dims)}"
        elif tile is not None and any(size < 1 for size in tile):
            yield f"{place}: {_times(tile)} has a size below 1"


def granule(spec: AcceleratorSpec) -> Iterator[str]:
    for fault in off_granule(spec, spec.tile.size):
        yield f"accel_size: {fault}"


def off_granule(spec: AcceleratorSpec, tile: tuple[int, ...]) -> Iterator[str]:
    for dim, size, unit in zip(spec.dims, tile, spec.tile.granule or (), strict=False):
        if size % unit:
            yield f"size {size} of dim {dim} is not a multiple of the granule {unit}"


def rows(spec: AcceleratorSpec) -> Iterator[str]:
    place = "tile.granule" if spec.tile.granule else "accel_size"
    for operand in spec.data:
        for fault in _ragged(spec, operand, spec.tile.granule or spec.tile.size):
            yield f"{place}: {fault}"


def _ragged(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...]) -> Iterator[str]:
    """Rows that are not whole words."""
    kind = spec.operand_type(operand)
    row = spec.operand_shape(operand, tile)[-1]
    if row % kind.per_word:
        yield (
            f"a row of {operand} has {row} elements of {kind.value}, not a whole number of words: "
            f"dim {spec.data[operand][-1]} must be a multiple of {kind.per_word}"
        )


# --- buffers, multiply-adds, stream ------------------------------------------------------------------


def buffer_names(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.buffers:
        if operand not in spec.data:
            known = f"{hint(operand, spec.data)}; they are {listed(spec.data)}"
            yield f"buffers.{operand}: unknown operand `{operand}`{known}"
    for operand in spec.data:
        if operand not in spec.buffers:
            yield f"buffers: the buffer of operand `{operand}` is missing"
        elif spec.buffers[operand] < 1:
            yield f"buffers.{operand}: {spec.buffers[operand]} words are too few: at least 1"


def buffer_fit(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.data:
        if not list(_ragged(spec, operand, spec.tile.size)):
            for fault in unfit(spec, operand, spec.tile.size):
                yield f"accel_size: {fault}"


def unfit(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...]) -> Iterator[str]:
    """Why an operand's tile does not go into its buffer."""
    yield from _ragged(spec, operand, tile)
    words, capacity = spec.operand_words(operand, tile), spec.buffers.get(operand)
    if capacity is not None and words > capacity:
        shape = _times(spec.operand_shape(operand, tile))
        kind = spec.operand_type(operand).value
        yield f"a {shape} tile of {operand} ({kind}) has {words} words; its buffer holds {capacity}"


def macs(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.macs < 1 or spec.macs & (spec.macs - 1):
        yield f"macs: {spec.macs} is not a power of two"
        return
    elements = prod((spec.tile.granule or spec.tile.size)[:2])
    if elements % spec.macs:
        what = "granule" if spec.tile.granule else "tile"
        yield f"macs: {spec.macs} does not divide the {elements} elements of C in a {what} (m x n)"


def stream(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.stream_width not in STREAM_WIDTHS:
        yield f"stream_width: {spec.stream_width} is not one of {', '.join(map(str, STREAM_WIDTHS))}"


def beats(spec: AcceleratorSpec) -> Iterator[str]:
    """Each tile is whole beats of the stream; where the granules' are, those of all sizes are."""
    key, tile = ("tile.granule", spec.tile.granule) if spec.tile.granule else ("accel_size", spec.tile.size)
    for operand in spec.data:
        if not list(_ragged(spec, operand, tile)) and spec.operand_words(operand, tile) % spec.beat_words:
            shape, kind = _times(spec.operand_shape(operand, tile)), spec.operand_type(operand).value
            yield (
                f"stream_width: a {shape} tile of {operand} ({kind}) has {spec.operand_words(operand, tile)} "
                f"words, not a multiple of the {spec.beat_words} in {spec.stream_width} bits; "
                f"take a narrower stream or another {key}"
            )


# --- DMA ---------------------------------------------------------------------------------------------


def dma(spec: AcceleratorSpec) -> Iterator[str]:
    config = spec.dma
    if config.length_width not in LENGTH_WIDTHS:
        low, high = LENGTH_WIDTHS[0], LENGTH_WIDTHS[-1]
        yield f"dma_config.lengthWidth: {config.length_width} bits: the LENGTH register has {low} to {high}"
    beat = spec.stream_width // 8 if spec.stream_width in STREAM_WIDTHS else 4
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


def transfers_of_default_tile(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    return transfers(spec, opcode, spec.tile.size)


def transfers(spec: AcceleratorSpec, opcode: Opcode, tile: tuple[int, ...]) -> Iterator[str]:
    """Each way, an opcode with its payload is one transfer: it fits its window and the LENGTH register."""
    config = spec.dma
    received = 4 * sum(spec.operand_words(o, tile) for o in opcode.receives)
    sent = 4 * sent_words(spec, opcode, tile)
    for verb, size, key, window in (
        ("sends", sent, "inputBufferSize", config.input_buffer_size),
        ("receives", received, "outputBufferSize", config.output_buffer_size),
    ):
        if size > window:
            yield f"dma_config.{key}: {window} bytes are too few: `{opcode.name}` {verb} {size} at once"
        if size >> config.length_width:
            yield (
                f"dma_config.lengthWidth: `{opcode.name}` {verb} {size} bytes in one transfer; "
                f"{config.length_width} bits hold at most {(1 << config.length_width) - 1}"
            )


def _times(tile: Collection[int]) -> str:
    return "x".join(map(str, tile))
