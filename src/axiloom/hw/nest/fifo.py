"""FIFOs between pipes. A place is taken when the iteration that will push is issued.

A place in a FIFO is taken at the issue, not at the push. Else an issued iteration could find its FIFO
full. It makes the depth of a FIFO larger by what is under way, at most the slots of a pipe over its
interval, and it makes "never overflows" a fact of one counter, which the RTL asserts.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from axiloom.hw.nest.checks import Checks
from axiloom.hw.nest.circuit import Fifo, Storage
from axiloom.hw.nest.forms import plain

DISTRIBUTED_DEPTH = 64
"""A FIFO with more places is in block RAM."""


def storage(fifo: Fifo) -> Storage:
    """What holds the elements."""
    if fifo.bits == 0 or fifo.depth == 1:
        return Storage.REGISTERS
    return Storage.DISTRIBUTED if fifo.depth <= DISTRIBUTED_DEPTH else Storage.BLOCK


class FifoLogic:
    """Both ends of `fifo`. `take`, `push` with `pushed`, and `pop` are given by :meth:`build`'s caller;
    `filled` says that `head` can be popped, `free` that a place can be taken. `level` are the elements,
    `places` those that are free."""

    def __init__(self, fifo: Fifo) -> None:
        self.fifo, name = fifo, plain(fifo.name)
        self.name = name
        self.filled, self.free = Signal(name=f"{name}_filled"), Signal(name=f"{name}_free")
        self.head = Signal(fifo.bits, name=f"{name}_head")
        self.level = Signal(range(fifo.depth + 1), name=f"{name}_level", init=fifo.initial)
        self.places = Signal(range(fifo.depth + 1), name=f"{name}_places", init=fifo.depth - fifo.initial)
        self.peak = Signal(range(fifo.depth + 1), name=f"{name}_peak")
        """The most places that were ever taken in a run; only with checks."""
        self._takes: list[Value] = []
        self._pops: list[Value] = []
        self._pushes: list[tuple[Value, Value | None]] = []

    def take(self, taken: Value) -> None:
        self._takes.append(taken)

    def pop(self, popped: Value) -> None:
        self._pops.append(popped)

    def push(self, pushed: Value, value: Value | None) -> None:
        self._pushes.append((pushed, value))

    def build(self, m: Module, start: Value, checks: Checks) -> None:
        """`start` empties it but for the initial elements, of value 0."""
        fifo, name = self.fifo, self.name
        take, pop, push = (
            _any(m, f"{name}_{what}", bits)
            for what, bits in (
                ("take", self._takes),
                ("pop", self._pops),
                ("push", [pushed for pushed, _ in self._pushes]),
            )
        )
        places = self.places
        m.d.comb += [self.filled.eq(self.level != 0), self.free.eq(places != 0)]
        m.d.sync += [self.level.eq(self.level + push - pop), places.eq(places + pop - take)]
        with m.If(start):
            m.d.sync += [self.level.eq(fifo.initial), places.eq(fifo.depth - fifo.initial)]
        if checks.enabled:
            # What is given back in this very cycle is still taken: so with a depth of the peak nothing waits.
            taken, before = fifo.depth - places + take, Signal.like(self.peak, name=f"{name}_peak_before")
            m.d.comb += self.peak.eq(Mux(taken > before, taken, before))
            m.d.sync += before.eq(Mux(start, fifo.initial, self.peak))
        if fifo.bits:
            value = Signal(fifo.bits, name=f"{name}_pushed")
            values = [value for _, value in self._pushes]
            chosen = values[-1] if values else None
            for pushed, element in reversed(self._pushes[:-1]):
                chosen = Mux(pushed, element, chosen)
            if chosen is not None:
                m.d.comb += value.eq(chosen)
            self._store(m, start, push, value, pop)
        checks.never(f"FIFO {fifo.name}: an element is popped that is not there", pop & ~self.filled)
        checks.never(f"FIFO {fifo.name}: a place is taken that is not free", take & ~self.free)
        checks.never(f"FIFO {fifo.name}: it overflows", push & ~pop & (self.level == fifo.depth))
        for what, bits in (("pops", self._pops), ("pushes", [pushed for pushed, _ in self._pushes])):
            if len(bits) > 1:
                total = sum(bits[1:], bits[0])
                checks.never(f"FIFO {fifo.name}: two {what} in a cycle", total > 1)

    def _store(self, m: Module, start: Value, push: Value, value: Value, pop: Value) -> None:
        fifo, name, kind = self.fifo, self.name, storage(self.fifo)
        if kind is Storage.REGISTERS:
            with m.If(push):
                m.d.sync += self.head.eq(value)
            with m.If(start):
                m.d.sync += self.head.eq(0)
            return
        memory = Memory(shape=fifo.bits, depth=fifo.depth, init=[], attrs={"ram_style": kind.value})
        m.submodules[f"{name}_elements"] = memory
        write = memory.write_port()
        first, after = (Signal(range(fifo.depth), name=f"{name}_{end}") for end in ("first", "after"))
        then = Signal.like(first, name=f"{name}_then")
        m.d.comb += [
            then.eq(_next(first, pop, fifo.depth)),
            write.addr.eq(after),
            write.data.eq(value),
            write.en.eq(push),
        ]
        m.d.sync += [first.eq(then), after.eq(_next(after, push, fifo.depth))]
        # Initial elements are 0 whatever the last run has left: they are counted until they are popped.
        with m.If(start):
            m.d.sync += [first.eq(0), after.eq(fifo.initial % fifo.depth)]
        if kind is Storage.DISTRIBUTED:
            read = memory.read_port(domain="comb")
            m.d.comb += read.addr.eq(first)
            stored: Value = read.data
        else:
            # Block RAM is read a cycle ahead. What was written in that very cycle is kept beside it.
            read = memory.read_port()
            kept, instead = (
                Signal(fifo.bits, name=f"{name}_kept", reset_less=True),
                Signal(name=f"{name}_instead"),
            )
            m.d.comb += read.addr.eq(then)
            m.d.sync += [kept.eq(value), instead.eq(push & (after == then))]
            stored = Mux(instead, kept, read.data)
        if fifo.initial:
            zeros = Signal(range(fifo.initial + 1), name=f"{name}_zeros", init=fifo.initial)
            with m.If(pop & (zeros != 0)):
                m.d.sync += zeros.eq(zeros - 1)
            with m.If(start):
                m.d.sync += zeros.eq(fifo.initial)
            stored = Mux(zeros != 0, 0, stored)
        m.d.comb += self.head.eq(stored)


def _any(m: Module, name: str, bits: list[Value]) -> Signal:
    signal = Signal(name=name)
    total = bits[0] if bits else None
    for bit in bits[1:]:
        total = total | bit
    if total is not None:
        m.d.comb += signal.eq(total)
    return signal


def _next(pointer: Signal, steps: Value, depth: int) -> Value:
    if depth & (depth - 1) == 0:
        return pointer + steps
    return Mux(steps, Mux(pointer == depth - 1, 0, pointer + 1), pointer)
