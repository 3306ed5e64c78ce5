"""Shifters: LUTs of those that turn all lanes, and of those that turn few."""

from __future__ import annotations

from axiloom.hw.nest.rotation import Turn
from axiloom.isa.affine import Affine
from axiloom.nests.resources.rotation import back, there

TURN = Turn(0, 0, Affine.name("i"), 0, 1, 32)


def test_five_stages_are_three_luts_deep() -> None:
    assert back(TURN, 8, range(32)) == 3 * 8 * 32
    assert there(TURN, 8, range(32)) == 3 * 8 * 32


def test_few_lanes_take_less_than_a_multiplexer_each() -> None:
    """One lane of four banks is one choice; of 16, five, as any multiplexer."""
    assert back(Turn(0, 0, Affine.name("i"), 0, 1, 4), 8, [0]) == 8
    assert back(Turn(0, 0, Affine.name("i"), 0, 1, 16), 8, [0]) == 5 * 8
    assert back(TURN, 8, [0, 1]) < 2 * back(TURN, 8, [0])


def test_what_lanes_have_in_common_does_not_turn() -> None:
    assert there(TURN, 8, ["same"] * 32) == 0
