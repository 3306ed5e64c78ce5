"""Operations of the `accel` dialect for a table of descriptors: `sw/include/axiloom_table.h`.

Offsets and strides are in bytes, and an argument is the number of one of the function.

What is known before the program runs is a table, filled in once. A queue fills in its descriptors anew in
each call; at 16^3 a later call took 608 cycles with a queue and 486 with a table, on the DMA of then. A
table has two copies of each descriptor, which calls use in turns. PG021 says that a write to TAILDESC
restarts a channel that is idle, and only moves the end of one that is not: the same value twice could be
lost. A descriptor's status can only be cleared after its call, which the CPU does for one copy while it
waits for the other; then AHEADDESC promises that copy. ``_init`` fills the table in, and not the linker:
on a 64-bit host an address is no 32-bit constant, and pieces of 16 bytes come from memory in a quarter of
the lines. A line takes 30 CPU cycles at least, so the second copy is filled in while the first call
waits, single words lie apart, and more than 40 descriptors stay a queue: with a table conv:14_64_1_64_1
(62 of them, int32) took 4.6 % longer as a whole program of one call. Four parts of a tile were slower
again (503 cycles, not 487), because the CPU is what is late. Layers of a network stay queues: they share
a DMA, which would have to be reset between two tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, IndexType, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator

MOST = 40
"""Descriptors of a channel, at most: each is a line that comes from memory before the first call. A queue
fills in the first ones alone before the DMA begins."""
ARGUMENTS = 8
"""Of a function, at most: DMA_TABLE_ARGUMENTS."""


class _RowsOp(IRDLOperation):
    argument = prop_def(IntegerAttr[I64])
    offset = prop_def(IntegerAttr[I64])
    row_bytes = prop_def(IntegerAttr[I64])
    rows = prop_def(IntegerAttr[I64])
    stride = prop_def(IntegerAttr[I64])

    def __init__(self, argument: int, offset: int, row_bytes: int, rows: int, stride: int) -> None:
        super().__init__(
            properties={
                "argument": IntegerAttr(argument, i64),
                "offset": IntegerAttr(offset, i64),
                "row_bytes": IntegerAttr(row_bytes, i64),
                "rows": IntegerAttr(rows, i64),
                "stride": IntegerAttr(stride, i64),
            }
        )

    def numbers(self) -> tuple[int, int, int, int, int]:
        """Argument, offset, bytes of a row, rows, bytes from row to row."""
        values = (self.argument, self.offset, self.row_bytes, self.rows, self.stride)
        argument, offset, row_bytes, rows, stride = (int(value.value.data) for value in values)
        return argument, offset, row_bytes, rows, stride


@irdl_op_definition
class TableWordsOp(IRDLOperation):
    """Single words are sent: opcodes and their arguments."""

    name = "accel.table_words"

    words = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$words attr-dict"

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(properties={"words": DenseArrayBase.from_list(i64, list(words))})


@irdl_op_definition
class TableSendOp(_RowsOp):
    """Rows of an argument are sent."""

    name = "accel.table_send"
    assembly_format = "$argument `,` $offset `,` $row_bytes `,` $rows `,` $stride attr-dict"


@irdl_op_definition
class TableReceiveOp(_RowsOp):
    """What comes is written to rows of an argument by the DMA."""

    name = "accel.table_receive"
    assembly_format = "$argument `,` $offset `,` $row_bytes `,` $rows `,` $stride attr-dict"


@irdl_op_definition
class TableTileOp(IRDLOperation):
    """A tile comes into a slot, and the taker brings `rows` x `cols` elements of it to their place."""

    name = "accel.table_tile"

    argument = prop_def(IntegerAttr[I64])
    offset = prop_def(IntegerAttr[I64])
    rows = prop_def(IntegerAttr[I64])
    cols = prop_def(IntegerAttr[I64])
    assembly_format = "$argument `,` $offset `,` $rows `,` $cols attr-dict"

    def __init__(self, argument: int, offset: int, rows: int, cols: int) -> None:
        super().__init__(
            properties={
                "argument": IntegerAttr(argument, i64),
                "offset": IntegerAttr(offset, i64),
                "rows": IntegerAttr(rows, i64),
                "cols": IntegerAttr(cols, i64),
            }
        )

    def numbers(self) -> tuple[int, int, int, int]:
        """Argument, offset, rows, columns."""
        values = (self.argument, self.offset, self.rows, self.cols)
        argument, offset, rows, cols = (int(value.value.data) for value in values)
        return argument, offset, rows, cols


@irdl_op_definition
class TableOp(IRDLOperation):
    """All that one call sends and receives, in this order.

    `arguments`: how many the function has. `taker` (empty: none) and `place` are those of the queue:
    bytes of a row of a tile, rows, bytes from row to row of its place, parts at most. `beats`: rows that the
    DMA writes need only be whole beats.
    """

    name = "accel.table"

    sym_name = prop_def(StringAttr)
    arguments = prop_def(IntegerAttr[I64])
    taker = prop_def(StringAttr)
    place = prop_def(DenseArrayBase.constr(i64))
    beats = prop_def(IntegerAttr[I64])
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "$sym_name `of` $arguments `taker` $taker `place` $place `beats` $beats $body attr-dict"

    def __init__(
        self,
        name: str,
        arguments: int,
        taker: str,
        place: Sequence[int],
        pieces: Sequence[Operation],
        *,
        beats: bool,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "arguments": IntegerAttr(arguments, i64),
                "taker": StringAttr(taker),
                "place": DenseArrayBase.from_list(i64, list(place)),
                "beats": IntegerAttr(int(beats), i64),
            },
            regions=[Region(Block(list(pieces)))],
        )

    def sends(self) -> list[TableWordsOp | TableSendOp]:
        """One a descriptor of MM2S."""
        return [op for op in self.body.block.ops if isinstance(op, TableWordsOp | TableSendOp)]

    def receives(self) -> list[TableReceiveOp | TableTileOp]:
        """One a descriptor of S2MM."""
        return [op for op in self.body.block.ops if isinstance(op, TableReceiveOp | TableTileOp)]


@irdl_op_definition
class TableNameOp(IRDLOperation):
    """The address of an `accel.table`."""

    name = "accel.table_name"

    of = prop_def(StringAttr)
    result = result_def(IndexType)
    assembly_format = "$of attr-dict"

    def __init__(self, of: str) -> None:
        super().__init__(properties={"of": StringAttr(of)}, result_types=[IndexType()])


@irdl_op_definition
class TableRunOp(IRDLOperation):
    """Send and receive all that is in the table, of these arguments; leave the function if that fails."""

    name = "accel.table_run"

    of = prop_def(StringAttr)
    arguments = var_operand_def(MemRefType)
    assembly_format = "$of `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(self, of: str, arguments: Sequence[SSAValue]) -> None:
        super().__init__(operands=[list(arguments)], properties={"of": StringAttr(of)})


TABLE_OPS: list[type[Operation]] = [
    TableOp,
    TableWordsOp,
    TableSendOp,
    TableReceiveOp,
    TableTileOp,
    TableNameOp,
    TableRunOp,
]
"""``accel.table`` and what it holds and is used by."""
