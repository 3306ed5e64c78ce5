"""Executes commands in order: runs the blocks of a compute through the array, hands C over, clears it.

The RTL knows the end of each sequence a cycle ahead. "Last word", "last row", "last k", "last page" and
"last burst" are registers, because much logic depends on them in their cycle. Sizes settle two cycles
before they count. The memories declare that no word is read while it is written. Without that
declaration, Yosys puts registers and comparisons around every block RAM of an ECP5.

Buffers prepare for a compute that may not come. In each cycle without a running compute, the entry at the
head of the queue sets halves, first addresses and counters, whatever it is. Four LUTs later the RTL knows
whether a compute starts, and then needs to note only that.

A short block waits before its first k. The engine adds one row of the result a cycle, so a block takes at
least as many cycles as the array has rows. Before, the engine waited behind the last k. Its result came
sooner. But when a short compute followed a long one, their last k came too close together: rows were
lost, and the engine never became quiet. Tests with one k never showed this fault. Now tests change k.
With fewer channels than rows (conv_v4), a block takes as many cycles as it has channels, four at least,
but not fewer than the compute before it: that one's rows are still being read.
"""

from __future__ import annotations

from typing import Protocol

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from axiloom.hw.array.mac_array import ControlLayout
from axiloom.hw.array.operand_buffer import BlockEnd
from axiloom.hw.array.result_buffer import MIN_BLOCK_CYCLES
from axiloom.hw.array.tile_sender import request_layout
from axiloom.hw.engine.commands import CommandKind, command_layout, step_layout


class Walk(Protocol):
    """What the sequencer must know of an engine: its array's rows, and how a command says what to do."""

    @property
    def rows(self) -> int: ...

    @property
    def operands(self) -> tuple[str, str]:
        """The operand whose lines are the array's rows, and the one that gives its columns."""

    @property
    def command_dims(self) -> data.StructLayout: ...

    @property
    def post(self) -> bool:
        """Whether it can send its result requantised."""

    @property
    def most(self) -> tuple[int, int, int]:
        """The most blocks of rows and of columns, and the longest k, of any tile."""

    def work(self, dims: data.View) -> tuple[Value, Value, Value]:
        """Index of the last block of rows, of the last block of columns, and of the last k."""

    def last_row(self, dims: data.View) -> Value:
        """Of the array, the last row that any block uses."""


class Sequencer(wiring.Component):
    """Takes `commands`; a compute begins in the cycle in which the one before has issued its last k.

    `control.valid` reads one k of both operands; the block ends tell the operand buffers where to
    go on (A gives the rows of the array, B its columns); `step` describes the block that ends. `prepare`
    tells the operand buffers to begin with what the next command names, in the cycle in which `start` starts
    a compute on `half` of C and maybe often before; `finish` ends the use of halves `half_a` and `half_b`.
    `requests` hands a half of C to the sender; computes wait that need the half which is still `held` by it.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        super().__init__(
            {
                "commands": In(stream.Signature(command_layout(walk.operands, walk.command_dims))),
                "requests": Out(stream.Signature(request_layout(walk.command_dims, post=walk.post))),
                "held": In(1),
                "held_half": In(1),
                "busy": Out(1),
                "prepare": Out(1),
                "start": Out(1),
                "half": Out(1),
                "control": Out(ControlLayout),
                "a_end": Out(BlockEnd),
                "b_end": Out(BlockEnd),
                "step": Out(step_layout(walk.rows)),
                "finish": Out(1),
                "half_a": Out(1),
                "half_b": Out(1),
            }
        )

    @property
    def walk(self) -> Walk:
        return self._walk

    def elaborate(self, platform: object) -> Module:
        m = Module()
        command = self.commands.payload
        kind = Signal(CommandKind)
        half = Signal()
        cleared = Signal(init=1)
        running = Signal()
        free = Signal()
        finishes = Signal()  # in the next cycle
        prepares = Signal(init=1)
        # Who is free prepares for a compute, as it is known late whether there is one: `running` no more, or
        # `finish`, and that a cycle ahead.
        m.d.sync += prepares.eq(finishes | ~(self.start | running & ~self.finish))
        m.d.comb += [
            kind.eq(command.kind),
            self.prepare.eq(prepares),
            free.eq(self.prepare & ~(self.held & (self.held_half == half))),
            self.half.eq(half),
            self.requests.payload.half.eq(half),
            self.requests.payload.zero.eq(cleared),
            self.requests.payload.dims.eq(command.dims),
        ]
        self._dispatch(m, kind, free, cleared, half)

        work = self.walk.work(command.dims)
        most_m, most_n, most_k = self.walk.most
        last_m = Signal(bits_for(most_m - 1), name="last_block_m")
        last_n = Signal(bits_for(most_n - 1), name="last_block_n")
        block_m, block_n = Signal.like(last_m, name="block_m"), Signal.like(last_n, name="block_n")
        at_end_n = Signal()
        at_end_m = Signal()
        accumulate = Signal()
        m.d.comb += [at_end_m.eq(block_m == last_m), at_end_n.eq(block_n == last_n)]

        # Rows are added one a cycle, each before it is needed again. So a block takes that long at least, and
        # a short one waits before its first k: from each block's last k to the next one's it is as long, also
        # where the block before belongs to another compute.
        longest = max(self.walk.rows, MIN_BLOCK_CYCLES)
        last_row = Signal(range(self.walk.rows))
        row_before = Signal(range(self.walk.rows))
        waited_for = self.walk.last_row(command.dims) | row_before
        at_least = Mux(waited_for < MIN_BLOCK_CYCLES - 1, MIN_BLOCK_CYCLES - 1, waited_for)
        k = Signal(bits_for(max(most_k, longest) - 1))
        # What begins and ends a block is known a cycle ahead: much follows from it in that cycle.
        before_last = Signal.like(k, name="before_last")
        waits = work[2] < at_least
        short, before_first = Signal(), Signal(range(longest))
        first, issues = Signal(), Signal()
        ends, block_done = Signal(), Signal()
        m.d.comb += [
            ends.eq(running & (k == before_last)),
            finishes.eq(ends & at_end_n & at_end_m),
            self.control.valid.eq(issues),
            self.control.first.eq(first),
            self.step.block_done.eq(block_done),
            self.step.first_block.eq((block_m == 0) & (block_n == 0)),
            self.step.last_block.eq(at_end_n & at_end_m),
            self.step.accumulate.eq(accumulate),
            self.step.last_row.eq(last_row),
            self.busy.eq(running),
        ]
        m.d.sync += [
            block_done.eq(ends),
            self.finish.eq(finishes),
            self.a_end.eq(Mux(ends, Mux(at_end_n, BlockEnd.NEXT, BlockEnd.REPEAT), BlockEnd.STAY)),
            self.b_end.eq(Mux(ends, Mux(at_end_n, BlockEnd.RESTART, BlockEnd.NEXT), BlockEnd.STAY)),
        ]
        with m.If(running):
            m.d.sync += k.eq(k + 1)
            with m.If(short & (k == before_first)):
                m.d.sync += issues.eq(1)
        with m.If(issues):
            m.d.sync += first.eq(0)
        with m.If(block_done):
            m.d.sync += [k.eq(0), first.eq(1), issues.eq(~short), block_n.eq(block_n + 1)]
            with m.If(self.b_end == BlockEnd.RESTART):
                m.d.sync += [block_n.eq(0), block_m.eq(block_m + 1)]
        with m.If(self.finish):
            m.d.sync += [running.eq(0), issues.eq(0)]
        step_half = Signal()
        m.d.comb += self.step.half.eq(step_half)
        with m.If(self.prepare):
            m.d.sync += [
                first.eq(1),
                short.eq(waits),
                before_first.eq(at_least - 1 - work[2]),
                block_m.eq(0),
                block_n.eq(0),
                last_m.eq(work[0]),
                last_n.eq(work[1]),
                before_last.eq(Mux(waits, at_least, work[2]) - 1),
                last_row.eq(self.walk.last_row(command.dims)),
                self.half_a.eq(command[f"half_{self.walk.operands[0].lower()}"]),
                self.half_b.eq(command[f"half_{self.walk.operands[1].lower()}"]),
                step_half.eq(half),
                accumulate.eq(~cleared),
            ]
        with m.If(self.start):
            m.d.sync += [running.eq(1), issues.eq(~waits), cleared.eq(0)]
            m.d.sync += row_before.eq(self.walk.last_row(command.dims))
        return m

    def _dispatch(self, m: Module, kind: Signal, free: Signal, cleared: Signal, half: Signal) -> None:
        """What the oldest command asks for: a walk over its tile, a tile to be sent, or another half."""
        with m.If(self.commands.valid), m.Switch(kind):
            with m.Case(CommandKind.COMPUTE):
                m.d.comb += [self.start.eq(free), self.commands.ready.eq(free)]
            with m.Case(CommandKind.STORE):
                m.d.comb += [self.requests.valid.eq(1), self.commands.ready.eq(self.requests.ready)]
            if self.walk.post:
                with m.Case(CommandKind.REQUANTISE):
                    m.d.comb += [
                        self.requests.valid.eq(1),
                        self.requests.payload.requantise.eq(1),
                        self.commands.ready.eq(self.requests.ready),
                    ]
            with m.Case(CommandKind.CLEAR):
                m.d.comb += self.commands.ready.eq(1)
                m.d.sync += cleared.eq(1)
                # The old half may still have to be sent.
                with m.If(~cleared):
                    m.d.sync += half.eq(~half)
