"""Plans from plans, against both unrolled: the device must see the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import assume, given
from tests.plan.nests import ORDERS, SIZES, TILES, Order, Sizes, begins, product, unrolled

from axiloom.plan import Plan
from axiloom.plan.blocks import divisors, movable
from axiloom.plan.rewrite import resident, tiled


@given(ORDERS, SIZES, TILES)
def test_what_stays_on_the_device_is_what_was_loaded_there(order: Order, sizes: Sizes, tile: Sizes) -> None:
    plan = product(order, sizes, tile, (1, 1))
    assume(np.prod(plan.trips) <= 2000)
    assert held(resident(plan)) == held(plan)
    assert len(list(unrolled(resident(plan)))) <= len(list(unrolled(plan)))


def held(plan: Plan) -> list[tuple[str, dict[object, tuple[int, ...]]]]:
    """What the device has when it does more than load."""
    now: dict[object, tuple[int, ...]] = {}
    found = []
    for command, at in unrolled(plan):
        now = now | begins(plan, command, at)
        if not command.loads:
            found.append((command.opcode, now))
    return found


def test_loads_leave_the_loops_that_do_not_move_them() -> None:
    plan = product("mkn", {"m": 8, "n": 12, "k": 16}, {"m": 4, "n": 4, "k": 4}, (1, 1))
    names = [[command.opcode for command in level.all] for level in resident(plan).levels]
    assert names == [[], ["sA"], ["sB", "cC"]]


@given(ORDERS, SIZES, TILES)
def test_blocks_send_the_same_in_another_order(order: Order, sizes: Sizes, tile: Sizes) -> None:
    plan = product(order, sizes, tile, (1, 1))
    assume(np.prod(plan.trips) <= 500)
    for number in movable(plan):
        for count in divisors(plan.trips[number])[:2]:
            assert sent(tiled(plan, number, count)) == sent(plan)


def sent(plan: Plan) -> Counter[object]:
    return Counter((command.opcode, *begins(plan, command, at).items()) for command, at in unrolled(plan))
