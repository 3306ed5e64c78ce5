"""`Tokens`: the queues between the engines (:mod:`axiloom.isa.instructions.engines`), as counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Signal, Value

from axiloom.isa.instructions.engines import COMPUTE, COUNT_BITS, LOAD, QUEUES, STORE

ENGINE: Mapping[str, str] = {
    **dict.fromkeys(("load_wgt", "load_inp"), LOAD),
    **dict.fromkeys(("load_uops", "load_acc", "load_acc_8bit", "gemm", "alu", "finish"), COMPUTE),
    "store": STORE,
}
"""By unit of :mod:`axiloom.accelerators.vta.rtl.meanings`."""


class Tokens:
    """`waiting`: of each engine, whether its command is at the front, and that command's tokens; `left`: of
    each engine, whether a command of it is done, and its tokens."""

    def __init__(
        self, waiting: Mapping[str, tuple[Value, Value]], left: Mapping[str, Sequence[tuple[Value, Value]]]
    ) -> None:
        self._waiting, self._left = waiting, left

    def build(self, m: Module, begins: Value) -> Signal:
        """Whether all that the command at the front waits for is there."""
        ready, missing = Signal(name="tokens_ready"), []
        for queue in QUEUES:
            name = f"tokens_{queue.source}_{queue.target}"
            count, pops = Signal(COUNT_BITS, name=name), Signal(name=f"{name}_pops")
            is_there, tokens = self._waiting[queue.target]
            m.d.comb += pops.eq(is_there & tokens[queue.pop])
            pushes = [done & tokens_left[queue.push] for done, tokens_left in self._left[queue.source]]
            pushed = Signal(range(len(pushes) + 1), name=f"{name}_pushed")
            m.d.comb += pushed.eq(sum(pushes[1:], pushes[0]))
            m.d.sync += count.eq(count + pushed - (pops & begins))
            missing.append(pops & (count == 0))
        m.d.comb += ready.eq(~reduce(or_, missing))
        return ready
