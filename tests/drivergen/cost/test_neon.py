"""What the NEON kernels on the CPU do and take, beside simulations of them."""

from __future__ import annotations

import pytest

from axiloom.drivergen.cost import neon

SMALL = {"M": 16, "N": 16, "K": 16}
CONV = {"IC": 16, "IH": 8, "IW": 8, "OC": 32, "FH": 3, "FW": 3, "SH": 1, "SW": 1}


def test_what_a_product_does() -> None:
    ragged = {"M": 9, "N": 10, "K": 7}
    assert neon.counts(ragged, 8) == {
        "whole": 8 * 8 * 4,
        "edges": 9 * 10 * 7 - 8 * 8 * 4,
        "packed": 4 * 8,
        "widened": 8 * 4,
        "tiles": 2,
    }
    assert neon.counts(ragged, 32)["widened"] == 0
    assert neon.counts(ragged, 32)["packed"] == 0  # B in half of L1 stays where it is
    assert neon.counts({"M": 4, "N": 64, "K": 128}, 32)["packed"] == 64 * 128
    assert neon.lines(SMALL, 8) == (2 * 256 + 4 * 256) / 32


def test_what_a_convolution_does() -> None:
    """36 pixels are five panels, of which none is in one row of six."""
    counts = neon.counts(CONV, 8)
    assert counts["whole"] == 5 * 8 * 32 * 144
    assert (counts["together"], counts["apart"]) == (0, 5 * 144)
    wide = neon.counts({**CONV, "IH": 10, "IW": 10}, 8)
    assert (wide["together"], wide["apart"]) == (8 * 144, 0)
    assert neon.counts({**CONV, "IH": 18, "IW": 18, "SH": 2, "SW": 2}, 8)["together"] == 0


@pytest.mark.parametrize(
    ("sizes", "bits", "first", "later"),
    [(SMALL, 8, 1542, 479), (SMALL, 32, 2041, 995), (CONV, 8, 40_533, 27_827)],
)
def test_about_as_long_as_simulated(sizes: dict[str, int], bits: int, first: int, later: int) -> None:
    """Fabric cycles of ``axiloom run ... --against neon --calls 4``, 6.5 CPU cycles each."""
    for cycles, is_first in ((first, True), (later, False)):
        assert neon.cpu_cycles(sizes, bits, first=is_first) / 6.5 == pytest.approx(cycles, rel=0.45)
