"""Adds up products: `macs` elements of two vectors a cycle, and saves results one after the other."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.array.delay import delayed
from axiloom.hw.array.mac_array import Multiplier
from axiloom.hw.array.operand_buffer import READ_LATENCY
from axiloom.isa.contract.types import WORD_BITS

MULTIPLIER_LATENCY = 2


def step_layout(macs: int) -> data.StructLayout:
    """What one cycle does: add the products of lanes 0 to `last_lane`, or save the sum, or begin anew."""
    return data.StructLayout({"add": 1, "last_lane": range(macs), "save": 1, "clear": 1})


class DotProduct(wiring.Component):
    """Elements `a` and `b`, `macs` of `bits` bits each, come `READ_LATENCY` cycles after the `step` that they
    are for, as buffers give them.

    A step that adds is one of `active`. `save` puts the sum behind those saved before, of which there may
    be `depth`, and begins the next one from 0; `clear` forgets sum and saved ones. `busy`: steps are under
    way; when they are not, `saved` says how many sums there are. With `send_enable`, the one at
    `send_address` is on `send_word` one cycle later and until the next.
    """

    def __init__(self, bits: int, macs: int, depth: int) -> None:
        self._bits = bits
        self._macs = macs
        self._depth = depth
        super().__init__(
            {
                "a": In(bits * macs),
                "b": In(bits * macs),
                "step": In(step_layout(macs)),
                "active": Out(1),
                "busy": Out(1),
                "saved": Out(range(depth + 1)),
                "send_enable": In(1),
                "send_address": In(range(depth)),
                "send_word": Out(WORD_BITS),
            }
        )

    @property
    def bits(self) -> int:
        return self._bits

    @property
    def macs(self) -> int:
        return self._macs

    @property
    def depth(self) -> int:
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        steps = [self.step]
        for cycle in range(READ_LATENCY + MULTIPLIER_LATENCY + exact_log2(self.macs)):
            steps.append(delayed(m, f"step_{cycle}", steps[-1], 1))
        fetched, step = steps[READ_LATENCY], steps[-1]
        sums: list[Value] = []
        for lane in range(self.macs):
            m.submodules[f"multiplier_{lane}"] = multiplier = Multiplier(self.bits)
            element = self.a.word_select(lane, self.bits)
            # The last elements of a vector may be fewer.
            m.d.comb += [
                multiplier.a.eq(element if lane == 0 else Mux(lane <= fetched.last_lane, element, 0)),
                multiplier.b.eq(self.b.word_select(lane, self.bits)),
            ]
            sums.append(multiplier.product)
        level = 0
        while len(sums) > 1:
            level += 1
            halves = []
            for pair in range(len(sums) // 2):
                total = Signal(WORD_BITS, name=f"level_{level}_{pair}", reset_less=True)
                m.d.sync += total.eq(sums[2 * pair] + sums[2 * pair + 1])
                halves.append(total)
            sums = halves

        total = Signal(WORD_BITS)
        m.submodules.results = results = Memory(shape=WORD_BITS, depth=self.depth, init=[])
        write, read = results.write_port(), results.read_port()
        m.d.comb += [
            self.active.eq(fetched.add),
            self.busy.eq(Cat((stage.add, stage.save, stage.clear) for stage in steps).any()),
            write.en.eq(step.save),
            write.addr.eq(self.saved),
            write.data.eq(total),
            read.en.eq(self.send_enable),
            read.addr.eq(self.send_address),
            self.send_word.eq(read.data),
        ]
        with m.If(step.add):
            m.d.sync += total.eq(total + sums[0])
        with m.If(step.save):
            m.d.sync += [total.eq(0), self.saved.eq(self.saved + 1)]
        with m.If(step.clear):
            m.d.sync += [total.eq(0), self.saved.eq(0)]
        return m
