"""Operations of the `accel` dialect on a whole channel: packets that overlap, series of tiles.

Where `accel.start_send` and `accel.start_recv` are one transfer each, with a token, these name what a driver
does with a channel over many packets. Offsets and lengths are in 32-bit words of a window.
"""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException


class _RangeOp(IRDLOperation):
    """Base of the ops on the words from `begin` up to `end` of the input window."""

    begin = operand_def(IndexType)
    end = operand_def(IndexType)

    def __init__(self, begin: SSAValue | Operation, end: SSAValue | Operation) -> None:
        super().__init__(operands=[begin, end])


@irdl_op_definition
class CleanOp(_RangeOp):
    """Let the DMA see the words that the CPU staged there. A send of clean words cleans nothing."""

    name = "accel.clean"
    assembly_format = "$begin `to` $end attr-dict"


@irdl_op_definition
class QueueSendOp(_RangeOp):
    """Send clean words as soon as the transfer in flight is through, and go on without waiting.

    One send waits at most: another one waits here until the first has started. While a tile is waited for
    (`accel.next`), the send that waits is started when its time comes.
    """

    name = "accel.queue_send"
    assembly_format = "$begin `to` $end attr-dict"


@irdl_op_definition
class WaitQueuedOp(IRDLOperation):
    """Wait until no send waits any more: of two places, the one sent before the last is free again."""

    name = "accel.wait_queued"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WaitSentOp(IRDLOperation):
    """Wait until everything is sent. Nothing happens where nothing is in flight."""

    name = "accel.wait_sent"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class ExpectOp(IRDLOperation):
    """Arm the receiving channel for a series of `count` tiles of `words` words, one transfer each.

    The first is armed at once, each further one as soon as the one before it is there, so that the device
    never waits for the CPU to unpack a tile. The tiles lie in two slots of the output window in turn.
    """

    name = "accel.expect"

    count = prop_def(IntegerAttr[I64])
    words = prop_def(IntegerAttr[I64])
    assembly_format = "$count `tiles` `of` $words attr-dict"

    def __init__(self, count: int, words: int) -> None:
        super().__init__(properties={"count": IntegerAttr(count, i64), "words": IntegerAttr(words, i64)})

    def verify_(self) -> None:
        if self.count.value.data < 1 or self.words.value.data < 1:
            raise VerifyException("a series has at least one tile of at least one word")


@irdl_op_definition
class NextOp(IRDLOperation):
    """Wait for the next tile of the series: its offset in the output window, until the one after it."""

    name = "accel.next"

    offset = result_def(IndexType)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


CHANNEL_OPS: list[type[Operation]] = [
    CleanOp,
    QueueSendOp,
    WaitQueuedOp,
    WaitSentOp,
    ExpectOp,
    NextOp,
]
