"""The class of the published drivers: its calls compile, give the right product, and fail with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import DriverError

DRIVER = Path(__file__).parent / "published_class.cpp"


def test_a_driver_in_their_style_is_right(soc) -> None:
    a, b, c = np.random.default_rng(3).integers(-1000, 1000, (3, 8, 8), np.int64).astype(np.int32)
    result = soc("v3", 4).run(DRIVER, inputs={"A": a, "B": b, "C": c}, outputs={"C": ((8, 8), "int32")})
    assert (result.outputs["C"] == c + a @ b).all()
    assert result.stale == []


@pytest.mark.slow
def test_a_wait_that_fails_ends_the_program_with_its_reason(soc) -> None:
    with pytest.raises(DriverError, match="TLAST came before all the words asked for"):
        soc("v3", 4).run(DRIVER, defines=["RECEIVED=17"])
