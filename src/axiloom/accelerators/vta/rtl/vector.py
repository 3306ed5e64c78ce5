"""GEMM and ALU: accumulators out of their memory, through an operation, and back, a vector a cycle.

A step reads what steps right before it write, which are not in the memory yet: `result` and `older` are
looked at wherever an accumulator is read, and once more before it is used. So steps may follow each other
without a thought, as the text has them.

======  ==============================================================
cycle   of a step, from its place on
======  ==============================================================
read    address of the accumulator; of one that is the second operand, a cycle before
data    it comes, or `result`, or `older`
work    it goes, or `result`, through the operation
result  the memories are written
======  ==============================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.accelerators.vta.rtl import operation, product
from axiloom.accelerators.vta.rtl.loops import Loops, Place
from axiloom.accelerators.vta.rtl.meanings import ACCUMULATOR, ADD, MUL
from axiloom.accelerators.vta.rtl.operation import Operation
from axiloom.accelerators.vta.rtl.product import Product
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit, flag
from axiloom.hw.nest.operators.stages import Stages

GEMM_READ = 1 + product.LATENCY - 2
"""Cycles from a place to its read: the product is there when the accumulator is."""
ALU_READ = 1
WORK = 2
"""Cycles from a read to the operation."""
MULTIPLY = operation.LATENCY
"""Cycles more that a MUL takes."""
ONE, TWO, MULTIPLIED = 1, 2, 4
"""Cycles of a step with one accumulator, with two of them, and of a MUL."""


@dataclass(frozen=True)
class Step:
    """In some cycle of its way."""

    valid: Value
    last: Value
    address: Value

    def later(self, stages: Stages, label: str, cycles: int = 1) -> Step:
        valid = flag(stages.m, self.valid, f"{stages.name}_{label}_valid", cycles)
        last, address = (
            stages.later(value, f"{label}_{name}", cycles)
            for name, value in (("last", self.last), ("address", self.address))
        )
        return Step(valid, last, address)

    def is_same(self, other: Step) -> Value:
        """Whether `other` is a step on the same accumulator."""
        return other.valid & (other.address == self.address)


class Vector(Unit):
    """`memories`: uop, inp, wgt, acc and out. `operations`: codes of operations there are."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        inputs: Mapping[str, Value],
        memories: Mapping[str, Memory],
        operations: int,
    ) -> None:
        super().__init__("vector", tasks, inputs)
        self.memories, self.multiplies = memories, operations > MUL
        self.block = memories["acc"].width // ACCUMULATOR

    def build(self, m: Module) -> None:
        stages, gemm = Stages(m, self.name), self.is_("gemm")
        code, immediate = self.value(m, "op"), self.value(m, "immediate")
        multiplies = stages.wire(~gemm & (code == MUL), "multiplies")
        pace = Mux(gemm | immediate, ONE, TWO)
        if self.multiplies:
            pace = Mux(multiplies, MULTIPLIED, pace)
        bits = {"dst": "acc", "src": "acc" if self._acc_is_larger() else "inp", "wgt": "wgt"}
        loops = Loops(
            self.memories["uop"],
            {name: self.memories[memory].address_bits for name, memory in bits.items()},
            self.start,
            lambda name: self.value(m, name),
            stages.wire(pace, "pace"),
        )
        place = loops.build(m)
        totals = self._totals(m, place, gemm)
        read = self._read(stages, place, gemm)
        second = place.valid & ~gemm & ~immediate
        address = stages.wire(Mux(second, place.index["src"][: len(read.address)], read.address), "address")
        word = self.memories["acc"].read(second | read.valid, address)

        work = read.later(stages, "work", WORK)
        late = work.later(stages, "late", MULTIPLY) if self.multiplies else work
        ends = Step(
            *(
                stages.wire(Mux(multiplies, getattr(late, name), getattr(work, name)), f"ends_{name}")
                for name in ("valid", "last", "address")
            )
        )
        result = ends.later(stages, "result")
        values = Signal(len(word), name="vector_result", reset_less=True)
        older = stages.later(values, "older")

        # Where a match is found a cycle before it is used, `ends` is the step that will be `result`.
        reads = Step(Const(1), Const(0), address)
        comes = reads.later(stages, "comes")
        from_result = stages.later(reads.is_same(ends), "from_result")
        from_older = stages.later(reads.is_same(result), "from_older")
        there = stages.wire(Mux(from_result, values, Mux(from_older, older, word)), "there")
        again = stages.later(comes.is_same(ends), "again")
        a = stages.wire(Mux(again, values, stages.later(there, "held")), "a")
        b = stages.later(a, "b")

        reset = stages.wire(gemm & self.value(m, "reset"), "reset")
        constant = self.value(m, "constant")
        chosen = stages.wire(Mux(gemm, ADD, code), "code")
        computed, bytes_ = [], []
        for lane in range(self.block):
            m.submodules[f"operation_{lane}"] = operation = Operation(self.multiplies)
            own = Mux(immediate, constant, b.word_select(lane, ACCUMULATOR).as_signed())
            m.d.comb += [
                operation.code.eq(chosen),
                operation.a.eq(a.word_select(lane, ACCUMULATOR).as_signed()),
                operation.b.eq(Mux(gemm, totals[lane].as_signed(), own)),
            ]
            value = (
                Mux(multiplies, operation.product, operation.value) if self.multiplies else operation.value
            )
            computed.append(Mux(reset, 0, value))
            bytes_.append(value[:8])
        m.d.sync += values.eq(Cat(*computed))
        low = stages.later(Cat(*bytes_), "low")
        whole = Const(-1, self.memories["acc"].parts)
        self.memories["acc"].write(result.valid, result.address, values, whole)
        self.memories["out"].write(result.valid, result.address, low, Const(-1, self.memories["out"].parts))
        m.d.comb += self.done.eq((result.valid & result.last) | loops.is_empty)

    def _acc_is_larger(self) -> bool:
        return self.memories["acc"].depth >= self.memories["inp"].depth

    def _totals(self, m: Module, place: Place, gemm: Value) -> list[Value]:
        """Of the places of GEMM, `1 + product.LATENCY` cycles later."""
        m.submodules.product = unit = Product(self.block)
        reads = place.valid & gemm
        m.d.comb += [
            unit.inputs.eq(self.memories["inp"].read(reads, place.index["src"])),
            unit.weights.eq(self.memories["wgt"].read(reads, place.index["wgt"])),
        ]
        return [unit.totals.word_select(lane, unit.total_bits) for lane in range(self.block)]

    def _read(self, stages: Stages, place: Place, gemm: Value) -> Step:
        """Of the first operand, which is also the result's."""
        first = Step(place.valid, place.last, place.index["dst"])
        soon = first.later(stages, "alu", ALU_READ)
        late = soon.later(stages, "gemm", GEMM_READ - ALU_READ)
        return Step(
            *(
                stages.wire(Mux(gemm, getattr(late, name), getattr(soon, name)), f"read_{name}")
                for name in ("valid", "last", "address")
            )
        )
