"""FINISH: tells that all before it is done."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Module, Signal, Value

from axiloom.hw.command.unit import Task, Unit


class Finish(Unit):
    """`finished` is set by the first one, and stays until reset."""

    def __init__(self, tasks: Mapping[str, Task], inputs: Mapping[str, Value]) -> None:
        super().__init__("finish", tasks, inputs)
        self.finished = Signal(name="finish_finished")

    def build(self, m: Module) -> None:
        m.d.comb += self.done.eq(self.start)
        with m.If(self.start):
            m.d.sync += self.finished.eq(1)
