"""Ping-pong buffer of one input operand: beats of the stream in, `lanes` elements of one k out.

A load fills one half while computes read the other. Each half counts the computes that are queued
or running on it; a load waits until its half is free. A compute reads the half that was loaded last
when its opcode was decoded.

In every bank the words of one block of lines lie one after the other, so reading only ever counts
up, goes back to the start of the block, or goes on to the next block.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.array.ping_pong import ping_pong
from axiloom.hw.engine.load_port import LoadPort

READ_LATENCY = 2
"""Cycles from `advance` to `elements`."""


class BlockEnd(IntEnum):
    """Where reading goes on after a block of the array."""

    STAY = 0
    """Not the end of a block."""
    REPEAT = 1
    """The same lines again."""
    NEXT = 2
    """The next lines."""
    RESTART = 3
    """The first lines of the half."""


class OperandBuffer(wiring.Component):
    """Buffer of one operand, laid out as `layout` says; `lines_width`, `k_width` are bits of its sizes.

    Loading: a bank's word on `load_data` with `load.valid` and `load.ready` is stored; `load.last` tells
    that it is the last of the tile of `lines` x `k` elements, after which `load.half` is the new one. Where
    lines are ragged, k includes what fills up their last words.
    Reading: `start` selects `start_half` from the next cycle on, and of several the last counts; `advance`
    reads the elements of one k, which are on `elements` `READ_LATENCY` cycles later, the first lane in the
    lowest bits. `block_end` comes with the last `advance` of a block, or later.
    Usage: `claim` adds a user to `load.half`; `finish` takes one from `finish_half`.
    The sizes must have settled two cycles before the first word of a tile; `reset` are those (lines, k) with
    which a load may begin right after reset.
    """

    def __init__(
        self, layout: OperandLayout, lines_width: int, k_width: int, reset: tuple[int, int] = (1, 1)
    ) -> None:
        self._layout = layout
        self._reset = reset
        super().__init__(
            {
                "lines": In(lines_width),
                "k": In(k_width),
                "load": In(LoadPort()),
                "load_data": In(layout.width),
                "claim": In(1),
                "finish": In(1),
                "finish_half": In(1),
                "start": In(1),
                "start_half": In(1),
                "advance": In(1),
                "block_end": In(BlockEnd),
                "elements": Out(layout.bits * layout.lanes),
            }
        )

    @property
    def layout(self) -> OperandLayout:
        return self._layout

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth, banks = self.layout.depth, self.layout.banks

        write_bank = Signal(range(banks))
        write_address = Signal(range(2 * depth))
        write_enable = Signal(banks)
        write_data = Signal(self.layout.width, reset_less=True)
        read_address = Signal(range(2 * depth))
        stored = ping_pong(m, self)
        self._write_counters(m, stored, write_bank, write_address)
        lane_group = self._read_counters(m, read_address)

        bank_address = Signal.like(write_address)
        m.d.sync += [
            write_enable.eq(Mux(stored, 1 << write_bank, 0)),
            write_data.eq(self.load_data),
            bank_address.eq(write_address),
        ]
        words = []
        for i in range(banks):
            m.submodules[f"bank_{i}"] = bank = Memory(shape=self.layout.width, depth=2 * depth, init=[])
            write, read = bank.write_port(), bank.read_port()
            m.d.comb += [
                write.en.eq(write_enable[i]),
                write.addr.eq(bank_address),
                write.data.eq(write_data),
                read.en.eq(self.advance),
                read.addr.eq(read_address),
            ]
            words.append(read.data)
        # Out of the memory's late output into registers first; who takes the elements has registers, too.
        fetched = Signal()
        group = Signal.like(lane_group, name="group")
        held = [Signal(self.layout.width, name=f"held_{i}", reset_less=True) for i in range(banks)]
        m.d.sync += fetched.eq(self.advance)
        with m.If(fetched):
            m.d.sync += [group.eq(lane_group), Cat(held).eq(Cat(words))]
        m.d.comb += self.elements.eq(self._select(held, group))
        return m

    def _write_counters(self, m: Module, stored: Value, bank: Value, address: Value) -> None:
        """Bank and address of the word that is loaded next; `load.last`."""
        layout = self.layout
        shift = bits_for(layout.per_word) - 1
        inner_size, outer_size = (self.k, self.lines) if layout.along_k else (self.lines, self.k)
        lines, k = self._reset
        inner_reset, outer_reset = (k, lines) if layout.along_k else (lines, k)
        word_ends, line_ends = Signal(), Signal()
        inner_last = _count(m, "word", inner_size >> shift, inner_reset >> shift, word_ends)
        outer_last = _count(m, "line", outer_size, outer_reset, line_ends)
        last_bank = Signal()
        next_half = Mux(self.load.half, 0, layout.depth)
        offset = Signal.like(address, name="offset")
        line_start = Signal.like(address, name="line_start")
        m.d.comb += [
            word_ends.eq(stored),
            line_ends.eq(stored & inner_last),
            last_bank.eq(bank == layout.banks - 1),
            self.load.last.eq(inner_last & outer_last),
            address.eq(next_half + offset),
        ]
        with m.If(stored):
            if layout.along_k:
                # One line is in one bank. The next line lies beside it, until all banks are used.
                m.d.sync += offset.eq(offset + 1)
                with m.If(inner_last):
                    m.d.sync += bank.eq(bank + 1)
                    with m.If(last_bank):
                        m.d.sync += [bank.eq(0), line_start.eq(offset + 1)]
                    with m.Else():
                        m.d.sync += offset.eq(line_start)
            else:
                # Neighbouring words lie in neighbouring banks; the next block of lines is k words on.
                m.d.sync += bank.eq(bank + 1)
                with m.If(last_bank):
                    m.d.sync += [bank.eq(0), offset.eq(offset + self.k)]
                with m.If(inner_last):
                    m.d.sync += bank.eq(0)
                    m.d.sync += [offset.eq(line_start + 1), line_start.eq(line_start + 1)]
            with m.If(self.load.last):
                m.d.sync += [bank.eq(0), offset.eq(0), line_start.eq(0)]

    def _read_counters(self, m: Module, address: Value) -> Signal:
        """Address of the word that is read next; returns what selects a lane's bits in the word read."""
        layout = self.layout
        half = Signal(name="read_half")
        block_start = Signal.like(address, name="block_start")
        advanced = Signal.like(address, name="advanced")
        within = Signal(range(layout.per_word if layout.along_k else layout.groups), name="within_word")
        m.d.comb += advanced.eq(address)
        if layout.along_k:
            word_done = Signal()
            m.d.comb += word_done.eq(within == layout.per_word - 1)
            with m.If(self.advance):
                m.d.sync += within.eq(within + 1)
                m.d.comb += advanced.eq(address + word_done)
        else:
            with m.If(self.advance):
                m.d.comb += advanced.eq(address + 1)
        m.d.sync += address.eq(advanced)
        behind = advanced
        if layout.ragged:
            behind = Signal.like(address, name="behind")
            rest = (within + self.advance)[: len(within)]
            m.d.comb += behind.eq(advanced + (rest != 0))
            with m.If(self.block_end != BlockEnd.STAY):
                m.d.sync += within.eq(0)
        with m.Switch(self.block_end):
            with m.Case(BlockEnd.REPEAT):
                m.d.sync += address.eq(block_start)
            with m.Case(BlockEnd.NEXT):
                if layout.groups > 1:
                    m.d.sync += within.eq(within + 1)
                    with m.If(within == layout.groups - 1):
                        m.d.sync += block_start.eq(advanced)
                    with m.Else():
                        m.d.sync += address.eq(block_start)
                else:
                    m.d.sync += [address.eq(behind), block_start.eq(behind)]
            with m.Case(BlockEnd.RESTART):
                start = Mux(half, layout.depth, 0)
                m.d.sync += [address.eq(start), block_start.eq(start)]
                if layout.groups > 1:
                    m.d.sync += within.eq(0)
        with m.If(self.start):
            start = Mux(self.start_half, layout.depth, 0)
            m.d.sync += [half.eq(self.start_half), address.eq(start), block_start.eq(start), within.eq(0)]
        selected = Signal.like(within, name="lane_group")
        with m.If(self.advance):
            m.d.sync += selected.eq(within)
        return selected

    def _select(self, words: list[Any], group: Signal) -> Value:
        layout = self.layout
        lanes_per_bank = layout.lanes_per_bank
        return Cat(word.word_select(group, layout.bits * lanes_per_bank) for word in words)


def _count(m: Module, name: str, size: Value, reset: int, ends: Value) -> Signal:
    """Counts what `ends` up to `size` and begins anew; returns whether the one under way is the last.

    That is known a cycle ahead, as much follows from it. `size` has settled two cycles before the first one.
    """
    count, last, before_last = (
        Signal.like(size, name=f"{name}_{what}", init=init)
        for what, init in (("count", 0), ("last", reset - 1), ("before_last", (reset - 2) % (1 << len(size))))
    )
    single = Signal(name=f"single_{name}", init=reset == 1)
    at_last = Signal(name=f"at_last_{name}", init=reset == 1)
    m.d.sync += [last.eq(size - 1), before_last.eq(size - 2), single.eq(last == 0), at_last.eq(count == last)]
    with m.If(ends):
        m.d.sync += [count.eq(count + 1), at_last.eq(count == before_last)]
        with m.If(at_last):
            m.d.sync += [count.eq(0), at_last.eq(single)]
    return at_last
