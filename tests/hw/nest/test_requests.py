# amaranth: UnusedElaboratable=no
"""Who is served at a port."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, Value
from tests.hw.component_bench import simulate

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition
from axiloom.hw.nest.requests import Beat, Request, active, choose, exclude, meet

i, j = Affine.name("i"), Affine.name("j")


def request(
    beat: Beat, slot: int, when: Condition = (), value: Value | None = None, on: Value | None = None
) -> Request:
    return Request(beat, slot, when, Signal() if on is None else on, (Signal(4) if value is None else value,))


def test_what_excludes_each_other() -> None:
    assert exclude((i - 3,), (2 - i,))
    assert exclude((j, i - 3), (2 - i, j))
    assert not exclude((i - 3,), (3 - i,))
    assert not exclude((i - 3,), (2 - j,))
    assert not exclude((), ())


def test_requests_meet_in_the_same_phase_of_a_pipe_only() -> None:
    one, other = Beat("one", 3, Signal(2)), Beat("other", 1, None)
    assert meet(request(one, 1), request(one, 4))
    assert not meet(request(one, 1), request(one, 2))
    assert not meet(request(one, 1), request(other, 1))
    assert not meet(request(one, 1, (i - 3,)), request(one, 1, (2 - i,)))
    # In other slots it is another iteration, of which the condition says nothing.
    assert meet(request(one, 1, (i - 3,)), request(one, 4, (2 - i,)))


def test_the_active_one_is_served() -> None:
    m = Module()
    phase = Signal(2)
    one, other = Beat("one", 3, phase), Beat("other", 1, None)
    requests = [request(one, 0), request(one, 4), request(one, 5), request(one, 2), request(other, 0)]
    requests.append(request(other, 7))
    chosen, any_active = choose(m, requests, 0), active(requests)
    beat = Signal()
    m.d.sync += beat.eq(~beat)

    async def bench(ctx: Any) -> None:
        for number, each in enumerate(requests):
            ctx.set(each.values[0], number + 3)
        await ctx.delay(1e-9)
        assert not ctx.get(any_active)
        for number, each in enumerate(requests):
            ctx.set(each.active, 1)
            ctx.set(phase, each.turn if each.beat is one else 1)
            await ctx.delay(1e-9)
            assert ctx.get(chosen) == number + 3
            assert ctx.get(any_active)
            ctx.set(each.active, 0)

    simulate(m, bench)


def test_one_value_needs_no_choice() -> None:
    m, value = Module(), Signal(4)
    one = Beat("one", 2, Signal())
    assert choose(m, [request(one, 0, value=value), request(one, 1, value=value)], 0) is value
