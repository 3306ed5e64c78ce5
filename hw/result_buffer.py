"""Ping-pong buffer of C: adds the rows of finished blocks to what is there, one row a cycle.

Each half is a memory of rows of `cols` words. Block after block, row after row of C lie one after the
other, as the array finishes them. While one half is sent, computes go on in the other. Clearing costs
no cycle: the first compute after it overwrites.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from axiloom.hw.commands import StepLayout
from axiloom.isa.types import WORD_BITS

MIN_BLOCK_CYCLES = 4
"""Cycles from the reading of a row until it can be read again with its new value."""

MAX_RUNNING = 7
"""Computes that may be between array and buffer for one half; a block takes `MIN_BLOCK_CYCLES` at least."""


class ResultBuffer(wiring.Component):
    """`depth` rows of `cols` words in each half; blocks have `rows` rows.

    Adding: `step` comes two cycles before row 0 of its block is whole; `select` then asks for row after
    row, and `sums` has the one asked for in the cycle before.
    `begin` announces a compute on `begin_half`; `running` tells in which halves one is not yet written.
    Sending: with `send_enable`, the row at `send_address` of `send_half` is on `send_row` one cycle later and
    until the next; `sending` gives the half's read port to the sender.
    """

    def __init__(self, rows: int, cols: int, depth: int) -> None:
        self._rows = rows
        self._cols = cols
        self._depth = depth
        super().__init__(
            {
                "step": In(StepLayout),
                "select": Out(range(rows)),
                "sums": In(WORD_BITS * cols),
                "begin": In(1),
                "begin_half": In(1),
                "running": Out(2),
                "sending": In(1),
                "send_half": In(1),
                "send_enable": In(1),
                "send_address": In(range(depth)),
                "send_row": Out(WORD_BITS * cols),
            }
        )

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def cols(self) -> int:
        return self._cols

    @property
    def depth(self) -> int:
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        address = Signal(range(self.depth), name="read_address")
        row = Signal(range(self.rows))
        reading = Signal()
        half, accumulate, last_block = Signal(), Signal(), Signal()

        # Reads run one cycle before the sums of the same row are whole.
        last_row = Signal()
        m.d.comb += last_row.eq(row == self.rows - 1)
        with m.If(reading):
            m.d.sync += [address.eq(address + 1), row.eq(row + 1)]
            with m.If(last_row):
                m.d.sync += reading.eq(0)
        with m.If(self.step.block_done):
            m.d.sync += [
                reading.eq(1),
                row.eq(0),
                half.eq(self.step.half),
                accumulate.eq(self.step.accumulate),
                last_block.eq(self.step.last_block),
            ]
            with m.If(self.step.first_block):
                m.d.sync += address.eq(0)

        # Three registers follow a read: the memory's own, the row read beside the row of sums, the new row.
        done = Signal()
        m.d.comb += done.eq(reading & last_row & last_block)
        stages = []
        for stage in ("fetched", "held", "added"):
            then = {
                "valid": Signal(name=f"{stage}_valid"),
                "done": Signal(name=f"{stage}_done"),
                "address": Signal.like(address, name=f"{stage}_address"),
                "half": Signal(name=f"{stage}_half"),
                "accumulate": Signal(name=f"{stage}_accumulate"),
            }
            before = (
                stages[-1]
                if stages
                else {
                    "valid": reading,
                    "done": done,
                    "address": address,
                    "half": half,
                    "accumulate": accumulate,
                }
            )
            m.d.sync += [then[name].eq(before[name]) for name in then]
            stages.append(then)
        fetched, held, added = stages
        m.d.sync += self.select.eq(row)

        old_row, new_row = (Signal(WORD_BITS * self.cols, name=f"{age}_row") for age in ("old", "new"))
        halves = []
        for i in range(2):
            m.submodules[f"half_{i}"] = memory = Memory(
                shape=WORD_BITS * self.cols, depth=self.depth, init=[]
            )
            read, write = memory.read_port(), memory.write_port()
            sent = Signal(name=f"half_{i}_sent")
            m.d.comb += [
                sent.eq(self.sending & (self.send_half == i)),
                read.en.eq(Mux(sent, self.send_enable, reading & (half == i))),
                read.addr.eq(Mux(sent, self.send_address, address)),
                write.en.eq(added["valid"] & (added["half"] == i)),
                write.addr.eq(added["address"]),
                write.data.eq(new_row),
            ]
            halves.append(read.data)
        m.d.sync += old_row.eq(Mux(fetched["half"], halves[1], halves[0]))
        for col in range(self.cols):
            old_word = Mux(held["accumulate"], old_row.word_select(col, WORD_BITS), 0)
            new_word = self.sums.word_select(col, WORD_BITS) + old_word
            m.d.sync += new_row.word_select(col, WORD_BITS).eq(new_word)
        sent_half = Signal()
        with m.If(self.send_enable):
            m.d.sync += sent_half.eq(self.send_half)
        m.d.comb += self.send_row.eq(Mux(sent_half, halves[1], halves[0]))

        for i in range(2):
            computes = Signal(range(MAX_RUNNING + 1), name=f"running_{i}")
            begun = self.begin & (self.begin_half == i)
            written = added["done"] & (added["half"] == i)
            with m.If(begun & ~written):
                m.d.sync += computes.eq(computes + 1)
            with m.Elif(~begun & written):
                m.d.sync += computes.eq(computes - 1)
            m.d.comb += self.running[i].eq(computes != 0)
        return m
