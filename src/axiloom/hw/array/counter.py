"""A counter that knows its end a cycle ahead."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value


def count_through(m: Module, name: str, last: Value, begins: Value, steps: Value) -> tuple[Signal, Signal]:
    """Counts the `steps` from 0 to `last` and from 0 again; returns the number of the one under way, and
    whether that is `last`.

    `last` counts in a cycle with `begins`, from which on it is 0 that is under way.
    """
    count, before_last = Signal.like(last, name=name), Signal.like(last, name=f"{name}_before_last")
    single, at_last = Signal(name=f"{name}_single"), Signal(name=f"{name}_last")
    with m.If(steps):
        m.d.sync += [count.eq(count + 1), at_last.eq(count == before_last)]
        with m.If(at_last):
            m.d.sync += [count.eq(0), at_last.eq(single)]
    with m.If(begins):
        m.d.sync += [
            count.eq(0),
            before_last.eq(last - 1),
            single.eq(last == 0),
            at_last.eq(last == 0),
        ]
    return count, at_last
