"""16 rows of weights by the vectors of an input: a row by a vector each cycle, then a sum each cycle to mac.

======  ================================================
cycle   of a row, from its addresses on
======  ================================================
1       the memories' words come
2       bytes are numbers
3       products
4       their total
5       it is added to the row's sum
======  ================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from axiloom.accelerators.flexasr.rtl.meanings import LANES, LIMIT, STATE, SUM
from axiloom.hw.command.functions import Functions
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit, flag
from axiloom.hw.nest.operators.stages import Stages
from axiloom.isa.instructions.tree import Function

LATENCY = 5
"""Cycles from a row's addresses to its sum."""
BEHIND = 2 + LANES + 2
"""Cycles from the last sum on: what is added is read, a sum a cycle, the vector is written."""


class Product(Unit):
    """`memories`: x, w and mac; `functions`: value and fixed."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        inputs: Mapping[str, Value],
        memories: Mapping[str, Memory],
        functions: Mapping[str, Function],
    ) -> None:
        super().__init__("product", tasks, inputs)
        self.memories, self.functions = memories, functions

    def build(self, m: Module) -> None:
        n, row, weights = (self.value(m, name) for name in ("n", "row", "weights"))
        step, source = (
            Signal(len(n) + 4, name="product_step"),
            Signal(len(weights) + 1, name="product_source"),
        )
        issues = Signal(name="product_issues")
        sums = [Signal(signed(SUM), name=f"sum_{k}") for k in range(LANES)]
        asks, takes = Signal(name="product_asks"), Signal(name="product_takes")
        x = self.memories["x"].read(issues | asks, Mux(asks, self.value(m, "added"), row + (step >> 4)))
        w = self.memories["w"].read(issues, source)
        total = self._total(m, x, w)
        comes = flag(m, issues, "product_comes", LATENCY - 1)
        with m.If(comes):  # the oldest sum is the row's
            m.d.sync += [
                sums[-1].eq(sums[0] + total),
                *(a.eq(b) for a, b in pairwise(sums)),
            ]

        added, mac = Signal(8 * LANES, name="product_added"), Signal(STATE * LANES, name="product_mac")
        lane, writes = Signal(range(LANES), name="product_lane"), Signal(name="product_writes")
        wait = Signal(range(LATENCY + 1), name="product_wait")
        self.memories["mac"].write(writes, self.value(m, "out"), mac, Const(-1, self.memories["mac"].parts))
        scaled = self._scaled(m, sums[0], added[:8])
        with m.FSM(name="product_phase"):
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [step.eq(0), source.eq(weights), wait.eq(0), lane.eq(0)]
                m.d.sync += [lane_sum.eq(0) for lane_sum in sums]
                m.next = "ROWS"
            with m.State("ROWS"):
                m.d.comb += issues.eq(n != 0)
                m.d.sync += [step.eq(step + 1), source.eq(source + 1)]
                with m.If((n == 0) | (step == Cat(Const(0, 4), n) - 1)):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.sync += wait.eq(wait + 1)
                with m.If(wait == LATENCY - 1):
                    m.next = "ADDED"
            with m.State("ADDED"):
                m.d.comb += asks.eq(1)
                m.next = "COMES"
            with m.State("COMES"):
                m.d.sync += added.eq(x)
                m.next = "SUMS"
            with m.State("SUMS"):
                m.d.comb += takes.eq(1)
                m.d.sync += [
                    added.eq(added >> 8),
                    mac.eq(Cat(mac[STATE:], scaled)),
                    lane.eq(lane + 1),
                    *(a.eq(b) for a, b in pairwise(sums)),
                ]
                with m.If(lane == LANES - 1):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [writes.eq(1), self.done.eq(1)]
                m.next = "IDLE"

    def _total(self, m: Module, x: Value, w: Value) -> Value:
        """Of a row's products."""
        stages, functions = Stages(m, self.name), Functions(m, self.name)
        factors = []
        for label, word in (("x", x), ("w", w)):
            held = stages.later(word, label)
            factors.append(
                [
                    stages.later(
                        functions.call(self.functions["value"], [held.word_select(k, 8)]), f"{label}_{k}"
                    )
                    for k in range(LANES)
                ]
            )
        products = [
            stages.later(a * b, f"product_{k}") for k, (a, b) in enumerate(zip(*factors, strict=True))
        ]
        return stages.wire(reduce(lambda a, b: a + b, products), "total")

    def _scaled(self, m: Module, total: Value, added: Value) -> Value:
        """A sum as Q6.14 with what is added, within the limits."""
        functions = Functions(m, f"{self.name}_added")
        shift = Signal(4, name="product_shift")
        m.d.comb += shift.eq(14 - self.value(m, "weight_bias") - self.value(m, "input_bias"))
        whole = Signal(signed(SUM + 1), name="product_whole")
        clipped = Signal(signed(STATE), name="product_scaled")
        fixed = functions.call(self.functions["fixed"], [added, self.value(m, "added_bias")])
        m.d.comb += whole.eq((total >> shift) + fixed)
        m.d.comb += clipped.eq(Mux(whole > LIMIT, LIMIT, Mux(whole < -LIMIT, -LIMIT, whole)))
        return clipped
