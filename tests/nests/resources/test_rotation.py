"""Shifters: LUTs of those that turn all lanes, and of those that turn few."""

from __future__ import annotations

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Term
from axiloom.hw.nest.rotation import Turn
from axiloom.nests.resources.pipe import back, there
from axiloom.nests.resources.sampled import turning

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


def _of_elements(lanes: int, step: int = 1) -> int:
    """Banks of four whose address turns, where `lanes` read elements ``4*j + i + step * lane``."""
    elements = [Affine.name("j") * 4 + Affine.name("i") + step * lane for lane in range(lanes)]
    turns = [Turn(0, step * lane % 4, Affine.name("i"), 0, 1, 4) for lane in range(lanes)]
    return turning(turns, [(Term(each, 1, 4),) for each in elements], {"i": (0, 40), "j": (0, 9)})


def test_neighbours_in_all_banks_have_each_others_addresses() -> None:
    assert _of_elements(4) == 0
    assert there(TURN, 8, range(32), 0) == 0


def test_addresses_that_no_lane_has_turn() -> None:
    assert _of_elements(4, step=5) > 0
