"""Which addresses are equal wherever they are chosen."""

from __future__ import annotations

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Term
from axiloom.nests.resources.sampled import Asked, needed

ROW, COLUMN = Affine.name("i"), Affine.name("j")
RANGES = {"i": (0, 31), "j": (0, 31)}


def _element(column: int) -> Asked:
    """Reads ``A[i][j + column]`` of rows of 36, in three banks by columns."""
    at = COLUMN + column
    return Asked((Term(at, 1, 1, 3),), (Term(ROW * 12), Term(at, 1, 3)), (), RANGES)


def test_each_bank_has_the_address_of_one_of_three_neighbours() -> None:
    """And that of the last one where nobody asks: bank 0 is always asked for what that one reads."""
    window = [_element(0), _element(1), _element(2)]
    assert [needed(window, bank) for bank in range(3)] == [1, 2, 3]


def test_elements_that_are_not_neighbours_have_addresses_of_their_own() -> None:
    assert [needed([_element(0), _element(4), _element(11)], bank) for bank in range(3)] == [3, 3, 3]


def test_who_never_asks_does_not_count() -> None:
    here, never = _element(0), Asked((Term(Affine() + 7),), (Term(COLUMN),), (), RANGES)
    assert needed([here, never, here], 0) == 1
    asks_late = Asked((Term(Affine()),), (Term(COLUMN),), (ROW - 32,), RANGES)
    assert needed([asks_late, here], 0) == 1
