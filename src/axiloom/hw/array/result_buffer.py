"""Ping-pong buffer of C: adds the rows of finished blocks to what is there, one row a cycle.

Each half is a memory of rows of `cols` words. Block after block, row after row of C lie one after the
other, as the array finishes them; of a block that uses fewer rows, the others' places stay as they are.
While one half is sent, computes go on in the other; rows that the last compute has written may be sent behind
it. Clearing costs no cycle: the first compute after it overwrites.

A row stays in a memory's output for one cycle. The result buffer keeps the row in one of two slots until
the stream has taken it, because the next compute may read the same memory behind a tile's last row.
Random stalls of single cycles never showed this fault. Tests now hold the stream back for a long time, at
each beat near a tile's end. Registers alone choose the slot of a row. Whether the stream moves on is
known too late to reach hundreds of flip-flops.

Results leave behind the compute that writes them. Before, a tile was sent when its half of the result
buffer was at rest, so nothing overlapped in a problem of one tile. Now the sender asks for each row
(``sendable``): the last compute on the half has written it, and does not use the half's one read port,
which it needs only to add. Three registers are enough: how many computes a half has, how far the one that
writes has come, and in which half. A compute's rows come block after block, and the stream wants C row
after row, so a tile of one row of blocks leaves behind its last block, but for its first row: what it
wins is for tiles of several.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from axiloom.hw.engine.commands import step_layout
from axiloom.isa.contract.types import WORD_BITS

MIN_BLOCK_CYCLES = 4
"""Cycles from the reading of a row until it can be read again with its new value."""

MAX_RUNNING = 7
"""Computes that may be between array and buffer for one half; a block takes `MIN_BLOCK_CYCLES` at least."""


class ResultBuffer(wiring.Component):
    """`depth` rows of `cols` words in each half; blocks have `rows` rows.

    Adding: `step` comes two cycles before row 0 of its block is whole; `select` then asks for row after
    row, and `sums` has the one asked for two cycles before.
    `start` announces a compute on `start_half`; `running` tells in which halves one will not have been
    written in the next cycle, `busy` that one has not been written.
    Sending: with `send_enable`, the row at `send_address` of `send_half` is read; the next `send_flow` puts
    it on `send_row`. `sending` gives the half's read port to the sender while no compute adds to that half.
    `sendable`: the row may be read though the half is `running`. The last compute on it has written the row,
    and does not need the port. The half must get no other compute meanwhile.
    """

    def __init__(self, rows: int, cols: int, depth: int) -> None:
        self._rows = rows
        self._cols = cols
        self._depth = depth
        super().__init__(
            {
                "step": In(step_layout(rows)),
                "select": Out(range(rows)),
                "sums": In(WORD_BITS * cols),
                "start": In(1),
                "start_half": In(1),
                "running": Out(2),
                "busy": Out(1),
                "sending": In(1),
                "send_half": In(1),
                "send_enable": In(1),
                "send_flow": In(1),
                "send_address": In(range(depth)),
                "sendable": Out(1),
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
        row_layout = data.StructLayout(
            {"valid": 1, "last": 1, "half": 1, "accumulate": 1, "address": range(self.depth)}
        )
        read, fetched, held, added = (
            Signal(row_layout, name=f"row_{stage}") for stage in ("read", "fetched", "held", "added")
        )
        # Three registers follow a read: the memory's own, the row beside the row of sums, the new row.
        m.d.sync += [fetched.eq(read), held.eq(fetched), added.eq(held)]
        self._read_rows(m, read)
        alone = self._count_running(m, held)
        adds = [read.valid & read.accumulate & (read.half == i) for i in range(2)]
        m.d.comb += [
            self.busy.eq(self.running.any() | added.valid),
            self.sendable.eq(
                self._written(m, added) & Mux(self.send_half, alone[1] & ~adds[1], alone[0] & ~adds[0])
            ),
        ]

        rows_read = []
        new_row = Signal(WORD_BITS * self.cols, reset_less=True)
        for i in range(2):
            m.submodules[f"half_{i}"] = memory = Memory(
                shape=WORD_BITS * self.cols, depth=self.depth, init=[]
            )
            read_port, write_port = memory.read_port(), memory.write_port()
            sent = Signal(name=f"half_{i}_sent")
            m.d.comb += [
                sent.eq(self.sending & (self.send_half == i) & ~adds[i]),
                # A row that nobody asked for does no harm: whoever did takes it in the cycle behind.
                read_port.en.eq(sent | read.valid),
                read_port.addr.eq(Mux(sent, self.send_address, read.address)),
                write_port.en.eq(added.valid & (added.half == i)),
                write_port.addr.eq(added.address),
                write_port.data.eq(new_row),
            ]
            # A register of its own, and nothing before it, as a memory's output comes late in its cycle.
            row_read = Signal(WORD_BITS * self.cols, name=f"half_{i}_row", reset_less=True)
            m.d.sync += row_read.eq(read_port.data)
            rows_read.append(row_read)

        for col in range(self.cols):
            old_word = Mux(held.half, *(row.word_select(col, WORD_BITS) for row in reversed(rows_read)))
            new_word = self.sums.word_select(col, WORD_BITS) + Mux(held.accumulate, old_word, 0)
            m.d.sync += new_row.word_select(col, WORD_BITS).eq(new_word)
        self._send_rows(m, rows_read)
        return m

    def _send_rows(self, m: Module, rows_read: list[Signal]) -> None:
        """A row is in its memory's output in the cycle behind `send_enable`, and in the next one in
        `rows_read`; from then on in one of two slots, as one row may wait while another is on `send_row`."""
        fetched, landed = Signal(), Signal()
        half_fetched, half_landed = Signal(), Signal()
        slot_fetched, slot_landed = Signal(), Signal()
        at_once, slot_sent = Signal(), Signal()
        m.d.sync += [fetched.eq(self.send_enable), landed.eq(fetched), at_once.eq(fetched & self.send_flow)]
        m.d.sync += [half_landed.eq(half_fetched), slot_landed.eq(slot_fetched)]
        with m.If(self.send_enable):
            m.d.sync += [half_fetched.eq(self.send_half), slot_fetched.eq(~slot_fetched)]
        with m.If(self.send_flow):
            m.d.sync += slot_sent.eq(slot_fetched)

        row = Mux(half_landed, rows_read[1], rows_read[0])
        slots = [Signal(WORD_BITS * self.cols, name=f"slot_{i}", reset_less=True) for i in range(2)]
        for i, slot in enumerate(slots):
            with m.If(landed & (slot_landed == i)):
                m.d.sync += slot.eq(row)
        m.d.comb += self.send_row.eq(Mux(at_once, row, Mux(slot_sent, slots[1], slots[0])))

    def _read_rows(self, m: Module, read: data.View) -> None:
        """Which row is read: row after row of a block, one cycle before its sums are whole."""
        row = Signal(range(self.rows))
        block = Signal(range(self.depth // self.rows))
        final = Signal(range(self.rows), init=self.rows - 1)  # row of the block
        last_row = Signal()
        last_block = Signal()
        m.d.comb += [
            self.select.eq(row),
            read.address.eq(Cat(row, block)),
            last_row.eq(row == final),
            read.last.eq(last_row & last_block),
        ]
        with m.If(read.valid):
            m.d.sync += row.eq(row + 1)
            with m.If(last_row):
                m.d.sync += read.valid.eq(0)
        with m.If(self.step.block_done):
            m.d.sync += [
                read.valid.eq(1),
                read.half.eq(self.step.half),
                read.accumulate.eq(self.step.accumulate),
                row.eq(0),
                block.eq(Mux(self.step.first_block, 0, block + 1)),
                final.eq(self.step.last_row),
                last_block.eq(self.step.last_block),
            ]

    def _written(self, m: Module, added: data.View) -> Value:
        """Has the compute that is being written done so with the row at `send_address` of `send_half`?"""
        below, half = Signal(range(self.depth), name="written_below"), Signal(name="written_half")
        with m.If(added.valid):
            # Behind its last row comes the next compute, which has written none.
            m.d.sync += [below.eq(Mux(added.last, 0, added.address + 1)), half.eq(added.half)]
        return (half == self.send_half) & (self.send_address < below)

    def _count_running(self, m: Module, held: data.View) -> list[Signal]:
        """Of each half, was one compute `running` on it in the cycle before?"""
        alone = [Signal(name=f"alone_{i}") for i in range(2)]
        for i in range(2):
            computes = Signal(range(MAX_RUNNING + 1), name=f"running_{i}")
            begun = self.start & (self.start_half == i)
            written = held.valid & held.last & (held.half == i)  # in the next cycle
            with m.If(begun & ~written):
                m.d.sync += computes.eq(computes + 1)
            with m.Elif(~begun & written):
                m.d.sync += computes.eq(computes - 1)
            m.d.comb += self.running[i].eq(computes != 0)
            # As late as `written_below` starts again behind a compute.
            m.d.sync += alone[i].eq(computes == 1)
        return alone
