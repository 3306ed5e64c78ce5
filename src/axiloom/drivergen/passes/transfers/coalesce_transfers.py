"""Sends that follow each other in a block become one transfer.

Transfers are joined in the IR. ``accel.send`` and similar ops stage at an SSA offset. To join two
transfers, the pass points one offset at the end of the other. The pass moves no copy and no receive. It
drops the earlier sends of a group. That can delay what the device gets, but never what the host reads.
Two sends stay apart if the host waits for an answer, loops or touches memory between them, or if the
window or LENGTH is too small. Joining is not always faster: joined words take more of the input window,
and so more of the caches. This is the pipeline ``coalesced``. Today's pipelines make packets of whole
loops (``coalesce``), and the CPU packs the next packet meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from axiloom.drivergen.dialects import accel
from axiloom.isa.contract.types import WORD_BITS, DmaConfig

WORD_BYTES = WORD_BITS // 8


@dataclass(frozen=True)
class _Transfer:
    """A blocking send: words staged one behind the other, sent as a whole, and waited for at once."""

    stages: tuple[accel.StageOp, ...]
    start: accel.StartSendOp
    wait: accel.WaitOp


def _position(offset: SSAValue) -> int | None:
    """The word in the window that an offset stands for, if it can be known here."""
    words = 0
    while isinstance(offset.owner, accel.StageOp):
        words += offset.owner.words()
        offset = offset.owner.offset
    base = accel.constant(offset)
    return None if base is None else base + words


def _transfer(stages: list[accel.StageOp], start: accel.StartSendOp) -> _Transfer | None:
    """The transfer that `start` begins, if it sends exactly what `stages` put there and is waited for."""
    wait = start.next_op
    if not isinstance(wait, accel.WaitOp) or wait.token is not start.token:
        return None
    ends = [start.begin, *(stage.end for stage in stages)]
    if not stages or ends != [*(stage.offset for stage in stages), start.end]:
        return None
    return _Transfer(tuple(stages), start, wait)


def _runs(block: Block) -> Iterator[list[_Transfer]]:
    """Transfers with nothing between them but staging, arming a receive, and ops without effects.

    What ends a run: a wait for a receive (the host needs the answer, and the device must be asked before),
    a loop, and whatever touches memory.
    """
    run: list[_Transfer] = []
    stages: list[accel.StageOp] = []
    for op in block.ops:
        if isinstance(op, accel.StageOp):
            stages.append(op)
        elif isinstance(op, accel.StartSendOp) and (transfer := _transfer(stages, op)):
            run.append(transfer)
            stages = []
        elif isinstance(op, accel.StartRecvOp) or is_side_effect_free(op):
            continue
        elif not (run and op is run[-1].wait):
            yield run
            run, stages = [], []
    yield run


def _fits(first: _Transfer, second: _Transfer, dma: DmaConfig) -> bool:
    """Do the words of both lie in the input window, and does LENGTH hold their number of bytes?"""
    begin, end = _position(first.start.begin), _position(first.start.end)
    if begin is None or end is None:
        return False
    end += sum(stage.words() for stage in second.stages)
    in_window = end * WORD_BYTES <= dma.input_buffer_size
    return in_window and (end - begin) * WORD_BYTES < 1 << dma.length_width


def _join(first: _Transfer, second: _Transfer) -> _Transfer:
    """Stage the words of `second` behind those of `first`, and send both where `second` was sent."""
    stage = second.stages[0]
    stage.operands[len(stage.operands) - 1] = first.start.end
    second.start.operands[0] = first.start.begin
    Rewriter.erase_op(first.wait)
    Rewriter.erase_op(first.start)
    return _Transfer(first.stages + second.stages, second.start, second.wait)


@dataclass(frozen=True)
class CoalesceTransfers(ModulePass):
    """Join the sends that follow each other in a block, as far as window and LENGTH register allow.

    ::

        %0 = accel.send_literal 1 at %c0 {opcode = "sA"}
        %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
        %2 = accel.start_send %c0 to %1 : !accel.token<"send">
        accel.wait %2 : !accel.token<"send">
        %3 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %4 = accel.send_literal 8 at %c0
        %5 = accel.start_send %c0 to %4 : !accel.token<"send">
        accel.wait %5 : !accel.token<"send">

        %0 = accel.send_literal 1 at %c0 {opcode = "sA"}
        %1 = accel.send %A_tile as [4, 4] permutation [0, 1] at %0 : ...
        %2 = accel.start_recv %c0 to %c16 {opcode = "rC"} : !accel.token<"recv">
        %3 = accel.send_literal 8 at %1
        %4 = accel.start_send %c0 to %3 : !accel.token<"send">
        accel.wait %4 : !accel.token<"send">

    The words reach the device in the same order, and only the last send of a group is left: every receive
    armed between them is armed before it. Nothing else moves, so the memory that is read is the same.

    A send is left alone if it is not waited for at once, or sends more or less than what was staged since
    the one before it; words kept in the window for later would be overwritten, so this comes directly
    behind accel-place, which keeps none. Where no `accel.init_dma` says how large window and
    register are, nothing is joined.
    """

    name = "accel-coalesce-transfers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            dma = accel.dma_of(function, op)
            if dma is None:
                continue
            blocks = [b for o in function.walk() for region in o.regions for b in region.blocks]
            for run in [run for block in blocks for run in _runs(block)]:
                self._coalesce(run, dma)

    def _coalesce(self, run: list[_Transfer], dma: DmaConfig) -> None:
        joined: _Transfer | None = None
        for transfer in run:
            if joined is not None and _fits(joined, transfer, dma):
                joined = _join(joined, transfer)
            else:
                joined = transfer
