"""The two halves of a buffer: one is loaded while the other is used; a load waits for its half to be free."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal

MAX_USERS = 7
"""Commands that may be queued or running on one half."""


def ping_pong(m: Module, buffer: Any) -> Signal:
    """Drives `load.half` and `load.ready` of a `buffer` that has these ports, from the others it has; returns
    whether it takes what is on `load_data`: with `load.valid` and `load.ready`.

    `load.half`: the one that was loaded last; it changes with the last that is taken, marked by `load.last`.
    `claim` adds a user to `load.half`; `finish` takes one from `finish_half`; `load.ready`: the half to be
    loaded has none.
    """
    loading = Signal()
    taken = Signal()
    m.d.comb += [loading.eq(~buffer.load.half), taken.eq(buffer.load.valid & buffer.load.ready)]
    with m.If(taken & buffer.load.last):
        m.d.sync += buffer.load.half.eq(loading)
    free = Signal(2, init=0b11)  # of users, known with the cycle
    for half in range(2):
        users = Signal(range(MAX_USERS + 1), name=f"users_{half}")
        claimed = buffer.claim & (buffer.load.half == half)
        released = buffer.finish & (buffer.finish_half == half)
        with m.If(claimed & ~released):
            m.d.sync += [users.eq(users + 1), free[half].eq(0)]
        with m.Elif(~claimed & released):
            m.d.sync += [users.eq(users - 1), free[half].eq(users == 1)]
    m.d.comb += buffer.load.ready.eq(free.bit_select(loading, 1))
    return taken
