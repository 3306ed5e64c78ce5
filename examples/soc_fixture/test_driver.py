"""How a user tests a driver of their own: `pytest examples/soc_fixture`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DRIVER = Path(__file__).with_name("driver.c")


def test_the_driver_is_right_and_moves_no_word_too_many(soc) -> None:
    a, b = np.random.default_rng(7).integers(-1000, 1000, (2, 64, 64), np.int32)
    chip = soc("v3", size=16)

    result = chip.run(DRIVER, inputs={"A": a, "B": b}, outputs={"C": ((64, 64), "int32")})

    assert (result.outputs["C"] == a @ b).all()
    assert result.stale == []
    assert result.fabric["words_out"] == 64 * 64
    assert result.fabric["transfers_in"] == 4**3 + 4**2


def test_our_driver_does_the_same(soc) -> None:
    report = soc("v3", size=16).matmul(64, 64, 64, flow="Cs")
    assert report["result"]["matches"]
