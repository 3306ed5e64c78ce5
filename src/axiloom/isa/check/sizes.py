"""Checks of sizes: dims, tiles, buffers, multiply-adds, beats. See
:mod:`axiloom.isa.check.check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import prod

from axiloom.base.wording.names import hint, listed, shortened
from axiloom.isa.check.link import transfer
from axiloom.isa.contract.framing import sent_words
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS, Opcode
from axiloom.isa.kernels.forms import COPY, KERNELS
from axiloom.isa.kernels.language.body import numbers
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.numerics import INT8, INT32, Numerics

LARGEST = (1 << 31) - 1
"""Size of a dim: words that say it have 32 bits."""
_BEYOND_INT32 = 1 << 31


# --- kernel, dims, data, tile ------------------------------------------------------------------------


def kernel(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.own_kernel is None and spec.kernel not in KERNELS:
        more = "`axiloom spec kernels` lists those with a name, and a file may write one out"
        yield f"kernel: `{shortened(spec.kernel)}` is no kernel; {more}{hint(spec.kernel, KERNELS)}"
    for fault in not_int32(spec.own_kernel, spec.data_type) if spec.own_kernel else ():
        yield f"kernel.body: {fault}"


def not_int32(kernel: Kernel, kind: Numerics) -> Iterator[str]:
    """Numbers of a body that a device which computes in integers does not hold."""
    for number in numbers(kernel.body) if kind.accumulator == INT32 else ():
        if not isinstance(number, int) or not -_BEYOND_INT32 <= number < _BEYOND_INT32:
            yield f"{number} is no int32, which the device computes in"


def dims(spec: AcceleratorSpec) -> Iterator[str]:
    form = spec.form
    if spec.dims != form.dims:
        names = listed(spec.dims)
        yield f"dims: {names} are not those of {form.kernel}, which are {listed(form.dims)}, in this order"


def data(spec: AcceleratorSpec) -> Iterator[str]:
    form = spec.form
    these = "the operands are " + ", ".join(f"{o} ({listed(d)})" for o, d in form.operands.items())
    order = "in this order" if form.dense else "in any order"
    for operand in spec.data:
        if operand not in form.operands:
            yield f"data.{operand}: unknown operand `{operand}`{hint(operand, form.operands)}; {these}"
    for operand, own in form.operands.items():
        dims = spec.data.get(operand)
        if dims is None:
            yield f"data: operand `{operand}` is missing; {these}"
        elif dims != own and (form.dense or sorted(dims) != sorted(own)):
            yield f"data.{operand}: {listed(dims)} are not its dims, which are {listed(own)}, {order}"


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


def shape(spec: AcceleratorSpec) -> Iterator[str]:
    for fault in misshapen(spec, spec.tile.size):
        yield f"accel_size: {fault}"


def misshapen(
    spec: AcceleratorSpec, tile: tuple[int, ...], settings: Mapping[str, int] | None = None
) -> Iterator[str]:
    """Sizes that the form of the kernel does not leave open."""
    sizes = dict(zip(spec.dims, tile, strict=True))
    for dim in spec.form.unit:
        if sizes[dim] != 1:
            yield f"size {sizes[dim]} of dim {dim} must be 1: the device takes one window at a time"
    for dim, other in spec.tied.items():
        if sizes[dim] != sizes[other]:
            yield f"size {sizes[dim]} of dim {dim} must be the {sizes[other]} of {other}: no word sets {dim}"
    values = spec.sizes(tile, settings)
    for setting in spec.settings:
        if values[setting.name] < setting.lowest:
            yield f"{setting.name} = {values[setting.name]} is below {setting.lowest}"
    for name, highest in spec.form.highest.items():
        if values[name] > highest:
            yield f"{name} = {values[name]} is above {highest}, the most that a device holds"


def rows(spec: AcceleratorSpec) -> Iterator[str]:
    place = "tile.granule" if spec.tile.granule else "accel_size"
    for operand in spec.data:
        for fault in _ragged(spec, operand, spec.tile.granule or spec.tile.size):
            yield f"{place}: {fault}"


def _ragged(spec: AcceleratorSpec, operand: str, tile: tuple[int, ...]) -> Iterator[str]:
    """Rows that are not whole words, where rows must be."""
    if spec.form.dense:
        return
    row = spec.operand_shape(operand, tile)[-1]
    for kind in _kinds(spec, operand):
        if row % kind.per_word:
            yield (
                f"a row of {operand} has {row} elements of {kind.value}, not a whole number of words: "
                f"dim {spec.data[operand][-1]} must be a multiple of {kind.per_word}"
            )


def _kinds(spec: AcceleratorSpec, operand: str) -> list[Numerics]:
    """The types in which an operand travels."""
    kinds = [spec.operand_type(operand)]
    if any(operand in opcode.receives and opcode.requantises for opcode in spec.opcodes.values()):
        kinds.append(INT8)
    return kinds


# --- buffers, multiply-adds, stream ------------------------------------------------------------------


def buffer_names(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.buffers:
        if operand not in spec.operands:
            known = f"{hint(operand, spec.operands)}; they are {listed(spec.operands)}"
            yield f"buffers.{operand}: unknown operand `{operand}`{known}"
    for operand in spec.operands:
        if operand not in spec.buffers:
            yield f"buffers: the buffer of operand `{operand}` is missing"
        elif spec.buffers[operand] < 1:
            yield f"buffers.{operand}: {spec.buffers[operand]} words are too few: at least 1"


def buffer_fit(spec: AcceleratorSpec) -> Iterator[str]:
    for operand in spec.operands:
        if operand not in spec.data or not list(_ragged(spec, operand, spec.tile.size)):
            for fault in unfit(spec, operand, spec.tile.size):
                yield f"accel_size: {fault}"


def unfit(
    spec: AcceleratorSpec, operand: str, tile: tuple[int, ...], settings: Mapping[str, int] | None = None
) -> Iterator[str]:
    """Why an operand's tile does not go into its buffer."""
    if operand in spec.data:
        yield from _ragged(spec, operand, tile)
    shape, capacity = spec.operand_shape(operand, tile, settings), spec.buffers.get(operand)
    words = spec.held_words(operand, shape)
    if capacity is not None and words > capacity:
        text, kind = _times(shape), spec.operand_type(operand).value
        needs = "has" if spec.form.array is None else "needs"
        yield f"a {text} tile of {operand} ({kind}) {needs} {words} words; its buffer holds {capacity}"


def macs(spec: AcceleratorSpec) -> Iterator[str]:
    if spec.macs < 1 or spec.macs & (spec.macs - 1):
        yield f"macs: {spec.macs} is not a power of two"
        return
    if spec.form.dense:
        return  # what a tile does not fill up is masked
    elements = prod((spec.tile.granule or spec.tile.size)[:2])
    if elements % spec.macs:
        what = "granule" if spec.tile.granule else "tile"
        yield f"macs: {spec.macs} does not divide the {elements} elements of C in a {what} (m x n)"


def beats(spec: AcceleratorSpec) -> Iterator[str]:
    """Each tile is whole beats of the stream; where the granules' are, those of all sizes are."""
    if spec.form.dense:
        return  # zeros fill them up
    key, tile = ("tile.granule", spec.tile.granule) if spec.tile.granule else ("accel_size", spec.tile.size)
    for operand in spec.data:
        if list(_ragged(spec, operand, tile)):
            continue
        shape = spec.operand_shape(operand, tile)
        for kind in _kinds(spec, operand):
            words = prod(shape) * kind.bits // WORD_BITS
            if words % spec.link.beat_words:
                yield (
                    f"stream_width: a {_times(shape)} tile of {operand} ({kind.value}) has {words} "
                    f"words, not a multiple of the {spec.link.beat_words} in {spec.link.stream_width} bits; "
                    f"take a narrower stream or another {key}"
                )


def transfers_of_default_tile(spec: AcceleratorSpec, opcode: Opcode) -> Iterator[str]:
    return transfers(spec, opcode, spec.tile.size)


def transfers(
    spec: AcceleratorSpec,
    opcode: Opcode,
    tile: tuple[int, ...],
    settings: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """Each way, an opcode with its payload is one transfer: it fits its window and the LENGTH register."""
    received = 4 * spec.received_words(opcode, tile, settings)
    sent = 4 * sent_words(spec, opcode, tile, settings)
    return transfer(spec.link.dma, f"`{opcode.name}`", sent, received)


def sums(spec: AcceleratorSpec) -> Iterator[str]:
    """What post-processing begins with."""
    if spec.post and spec.data_type.accumulator != INT32:
        kind = spec.data_type
        yield f"post: it rounds sums of int32 to int8, and sums of {kind} are {kind.accumulator}"


def words_only(spec: AcceleratorSpec) -> Iterator[str]:
    """A copy has int32 words, one tile size in whole beats, and no post-processing."""
    if spec.form is not COPY:
        return
    if spec.data_type != INT32:
        yield f"data_type: {spec.kernel} moves words: int32, not {spec.data_type.value}"
    if spec.tile.flexible:
        yield f"tile: {spec.kernel} has tiles of one size: leave tile out"
    for size in spec.tile.size if len(spec.tile.size) == len(spec.form.dims) else ():
        if size % spec.link.beat_words and not spec.passes_packets:
            yield f"accel_size: {size} words are no whole beats of {spec.link.stream_width} bits"
    if spec.post:
        yield f"post: {spec.kernel} has no post-processing"


def _times(tile: Collection[int]) -> str:
    return "x".join(map(str, tile))
