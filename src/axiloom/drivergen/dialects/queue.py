"""Operations of the `accel` dialect for a scatter-gather DMA: tiles travel without a copy by the CPU.

What is to be sent is appended to a queue that the DMA works through, and tiles are received in the order in
which the device sends them; nothing here waits for a single transfer. See ``sw/include/axiloom_sg.h``.

The last two ops are what is left at the stage of calls: a function that takes tiles, and its name.

Descriptors lie in the caches behind a coherent port. They could stay uncached, as with a plain port. But
Linux maps a region with ``dma-coherent`` as cached whatever it is asked for, and memory that the DMA says
is cached must be cached for the CPU as well. A ring that is linked at the start would bring 192 lines
from DDR into the caches first, 2,700 fabric cycles. So each descriptor is linked when it is filled in.

A ring is linked as it is used. Of the 192 descriptors of a DMA with scatter-gather 16 are linked by
``dma_init``, the others when the DMA is told of them for the first time. That took 500 fabric cycles
before the first call. To bring less code into L2 before ``main`` was tried, too: with 6 KB in place of 8
KB the layer ``28_128_1_256_2`` is 0.6 % faster and 64^3 is 1 % slower.

Slots on-chip are not dropped from L1 before the DMA writes them. The start of the program leaves L1
empty, nobody but the DMA ever writes to slots, and what the CPU reads there it drops behind it. The first
rows of a queue are told to the DMA at once, as it has nothing else to do; unrolling the loops over cache
lines by four was tried, and lost as much by cold code as it won.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnrankedMemRefType,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from axiloom.drivergen.dialects.elements import element_bits

IN_PLACE = "in place"
"""The DMA reads or writes the matrix itself."""
THROUGH_WINDOW = "through the window"
"""The CPU copies: what is sent into the input window, what is received out of the output window."""
EITHER = "whole in place"
"""Whole tiles in place, those at an edge through the window."""


def _integers(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(values))


@irdl_op_definition
class QueueOpenOp(IRDLOperation):
    """Begin to queue. `words`: of a tile that comes back."""

    name = "accel.queue_open"

    words = prop_def(IntegerAttr[I64])
    assembly_format = "$words attr-dict"

    def __init__(self, words: int) -> None:
        super().__init__(properties={"words": IntegerAttr(words, i64)})


@irdl_op_definition
class QueueWordOp(IRDLOperation):
    """Send one word: an opcode or an argument."""

    name = "accel.queue_word"

    word = operand_def(i32)
    assembly_format = "$word attr-dict"

    def __init__(self, word: SSAValue | Operation) -> None:
        super().__init__(operands=[word])


@irdl_op_definition
class QueueCleanOp(IRDLOperation):
    """Let the DMA see what the CPU wrote to `tile`, in the first iterations of loops (counters `first`).

    In all other iterations that has happened already.
    """

    name = "accel.queue_clean"

    tile = operand_def(MemRefType)
    first = var_operand_def(IndexType)
    assembly_format = "$tile `first` `(` $first `)` attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue, first: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tile, list(first)])


class _TileOp(IRDLOperation):
    tile = operand_def(MemRefType)
    shape = prop_def(DenseArrayBase.constr(i64))
    permutation = prop_def(DenseArrayBase.constr(i64))
    how = prop_def(StringAttr)

    HOW: ClassVar[tuple[str, ...]] = (IN_PLACE, THROUGH_WINDOW, EITHER)

    def words(self) -> int:
        """Number of words of a whole tile."""
        assert isinstance(self.tile.type, MemRefType)
        return int(prod(self.shape.get_values()) * element_bits(self.tile.type) // 32)

    def verify_(self) -> None:
        if self.how.data not in self.HOW:
            raise VerifyException(f"how must be one of {', '.join(self.HOW)}, not {self.how.data}")
        if len(self.shape.get_values()) != 2 or len(self.permutation.get_values()) != 2:
            raise VerifyException("only tiles of matrices can be queued")


@irdl_op_definition
class QueueTileOp(_TileOp):
    """Send a tile: operands as of `accel.send`; `how` it leaves memory."""

    name = "accel.queue_tile"
    assembly_format = "$tile `as` $shape `permutation` $permutation $how attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue, shape: Sequence[int], permutation: Sequence[int], how: str) -> None:
        super().__init__(
            operands=[tile],
            properties={
                "shape": _integers(shape),
                "permutation": _integers(permutation),
                "how": StringAttr(how),
            },
        )


@irdl_op_definition
class QueueReceiveOp(_TileOp):
    """The next tile that the device sends belongs here: operands as of `accel.recv`; `how` it gets there."""

    name = "accel.queue_receive"

    mode = prop_def(StringAttr)
    assembly_format = (
        "$tile `as` $shape `permutation` $permutation $how `mode` $mode attr-dict `:` type($tile)"
    )

    HOW: ClassVar[tuple[str, ...]] = (IN_PLACE, THROUGH_WINDOW)

    def __init__(
        self, tile: SSAValue, shape: Sequence[int], permutation: Sequence[int], how: str, mode: str
    ) -> None:
        super().__init__(
            operands=[tile],
            properties={
                "shape": _integers(shape),
                "permutation": _integers(permutation),
                "how": StringAttr(how),
                "mode": StringAttr(mode),
            },
        )


@irdl_op_definition
class QueueOwnOp(IRDLOperation):
    """Until the queue is closed only the DMA writes to `array`, and nobody reads it."""

    name = "accel.queue_own"

    array = operand_def(MemRefType)
    assembly_format = "$array attr-dict `:` type($array)"

    def __init__(self, array: SSAValue) -> None:
        super().__init__(operands=[array])


@irdl_op_definition
class QueueCleanAllOp(IRDLOperation):
    """The queue will clean `bytes` bytes, which nobody writes to from here on: the caches may be cleaned as a
    whole instead."""

    name = "accel.queue_clean_all"

    bytes = prop_def(IntegerAttr)
    assembly_format = "$bytes attr-dict"

    def __init__(self, count: int) -> None:
        super().__init__(properties={"bytes": IntegerAttr(count, i32)})


@irdl_op_definition
class QueueCloseOp(IRDLOperation):
    """Wait until everything is sent and every tile is where it belongs."""

    name = "accel.queue_close"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CleanRowsOp(IRDLOperation):
    """`accel.queue_clean`, lowered: `rows` rows of `row_bytes` bytes that begin `stride` bytes apart."""

    name = "accel.clean_rows"

    address = operand_def(UnrankedMemRefType)
    row_bytes = operand_def(IndexType)
    rows = operand_def(IndexType)
    stride = operand_def(IndexType)
    first = var_operand_def(IndexType)
    assembly_format = (
        "$address `,` $row_bytes `,` $rows `,` $stride `first` `(` $first `)` attr-dict `:` type($address)"
    )

    def __init__(
        self,
        address: SSAValue,
        row_bytes: SSAValue,
        rows: SSAValue,
        stride: SSAValue,
        first: Sequence[SSAValue],
    ) -> None:
        super().__init__(operands=[address, row_bytes, rows, stride, list(first)])


@irdl_op_definition
class BytesOp(IRDLOperation):
    """The same address, whatever the elements are: what a function takes that moves bytes."""

    name = "accel.bytes"

    address = operand_def(UnrankedMemRefType)
    result = result_def(UnrankedMemRefType)
    assembly_format = "$address attr-dict `:` type($address) `to` type($result)"

    def __init__(self, address: SSAValue) -> None:
        super().__init__(operands=[address], result_types=[UnrankedMemRefType.from_type(i8)])


@irdl_op_definition
class TakerOp(IRDLOperation):
    """Of a module: a function that adds received tiles to a matrix, or copies them (`mode` of accel.recv).

    `shape`: of a tile; `strides`: of the matrix, in elements, by dim of the tile; `element`: their type.
    """

    name = "accel.taker"

    sym_name = prop_def(StringAttr)
    mode = prop_def(StringAttr)
    element = prop_def(Attribute)
    shape = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$sym_name $mode $shape `strides` $strides `of` $element attr-dict"

    def __init__(
        self, name: str, mode: str, shape: Sequence[int], strides: Sequence[int], element: Attribute
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "mode": StringAttr(mode),
                "shape": _integers(shape),
                "strides": _integers(strides),
                "element": element,
            }
        )


@irdl_op_definition
class TakerNameOp(IRDLOperation):
    """The address of an `accel.taker`; without a name, of none."""

    name = "accel.taker_name"

    of = prop_def(StringAttr)
    result = result_def(IndexType)
    assembly_format = "$of attr-dict"

    def __init__(self, of: str) -> None:
        super().__init__(properties={"of": StringAttr(of)}, result_types=[IndexType()])


QUEUE_OPS: list[type[Operation]] = [
    QueueOpenOp,
    QueueWordOp,
    QueueCleanOp,
    QueueTileOp,
    QueueReceiveOp,
    QueueOwnOp,
    QueueCleanAllOp,
    QueueCloseOp,
    CleanRowsOp,
    BytesOp,
    TakerOp,
    TakerNameOp,
]
