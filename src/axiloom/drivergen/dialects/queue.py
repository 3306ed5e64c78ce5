"""Operations of the `accel` dialect for a scatter-gather DMA, beside calls of ``sw/include/axiloom_sg.h``.

What is to be sent is appended to a queue that the DMA works through, and tiles are received in the order in
which the device sends them; nothing waits for a single transfer.

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

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    UnrankedMemRefType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

IN_PLACE = "in place"
"""The DMA reads or writes the matrix itself."""
THROUGH_WINDOW = "through the window"
"""The CPU copies: what is sent into the input window, what is received out of the output window."""
EITHER = "whole in place"
"""Whole tiles in place, those at an edge through the window."""


def _integers(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(values))


@irdl_op_definition
class CleanRowsOp(IRDLOperation):
    """Let the DMA see what the CPU wrote to `rows` rows of `row_bytes` bytes that begin `stride` bytes apart.

    In the first iterations of loops (counters `first`): in all others that has happened already.
    """

    name = "accel.clean_rows"

    address = operand_def(UnrankedMemRefType)
    row_bytes = operand_def(IndexType)
    rows = operand_def(IndexType)
    stride = operand_def(IndexType)
    first = var_operand_def(IndexType)
    assembly_format = (
        "$address `,` $row_bytes `,` $rows `,` $stride `first` `(` $first `)` attr-dict `:` type($address)"
    )

    def __init__(self, address: SSAValue, sizes: Sequence[SSAValue], first: Sequence[SSAValue]) -> None:
        """`sizes`: bytes of a row, rows, and bytes from row to row."""
        super().__init__(operands=[address, *sizes, list(first)])


@irdl_op_definition
class BytesOp(IRDLOperation):
    """The same address, or `offset` bytes behind it, whatever the elements are: what a function takes that
    moves bytes."""

    name = "accel.bytes"

    address = operand_def(UnrankedMemRefType)
    offset = opt_prop_def(IntegerAttr[I64])
    result = result_def(UnrankedMemRefType)
    assembly_format = "$address (`at` $offset^)? attr-dict `:` type($address) `to` type($result)"

    def __init__(self, address: SSAValue, offset: int = 0) -> None:
        properties = {"offset": IntegerAttr(offset, i64)} if offset else {}
        kind = UnrankedMemRefType.from_type(i8)
        super().__init__(operands=[address], result_types=[kind], properties=properties)


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


@irdl_op_definition
class PlacesOp(IRDLOperation):
    """A table of places, for rows of a packet (``dma_rows`` of the runtime). `sizes` of each: bytes of a row,
    rows, bytes that a row has in the packet."""

    name = "accel.places"

    addresses = var_operand_def(UnrankedMemRefType)
    sizes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(UnrankedMemRefType)
    assembly_format = "$addresses `of` $sizes attr-dict `:` type($addresses) `to` type($result)"

    def __init__(self, addresses: Sequence[SSAValue], sizes: Sequence[int]) -> None:
        kind = UnrankedMemRefType.from_type(i8)
        super().__init__(operands=[addresses], result_types=[kind], properties={"sizes": _integers(sizes)})
        self.result.name_hint = "places"


QUEUE_OPS: list[type[Operation]] = [CleanRowsOp, BytesOp, TakerOp, TakerNameOp, PlacesOp]
