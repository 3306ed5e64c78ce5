"""Resets of the registers before an ECP5's multipliers: which become LUTs, and what those compute."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hw.test_copies import cell
from tests.hw.test_ecp5_registers import design, register, taken

from axiloom.hw.ecp5_resets import unfold_resets


def with_reset(di: int, q: int, reset: int, **parameters: str) -> dict[str, Any]:
    made = register(di, q, **({"LSRMUX": "LSR", "SRMODE": "LSR_OVER_CE"} | parameters))
    made["connections"]["LSR"] = [reset]
    return made


def test_a_reset_becomes_a_lut_before_the_register_and_that_goes_into_the_multiplier() -> None:
    made = design(c=with_reset(4, 12, 1))
    assert taken(design(c=with_reset(4, 12, 1)))[1] == [True, False]
    assert unfold_resets(made) == ["c_reset"]
    cells = made["modules"]["top"]["cells"]
    lut = cells["c_reset"]
    assert lut["connections"] == {
        "A": [4],
        "B": [1],
        "C": ["0"],
        "D": ["0"],
        "Z": cells["c"]["connections"]["DI"],
    }
    # By the number that its inputs are, A the lowest bit: the register's input and no reset.
    assert [int(bit) for bit in reversed(lut["parameters"]["INIT"])] == [int(n & 3 == 1) for n in range(16)]
    assert taken(made) == ({"a", "b", "c", "p_0", "p_1"}, [True, True])


@pytest.mark.parametrize(
    "kept",
    [
        {"c": with_reset(4, 12, 1, SRMODE="ASYNC")},
        {"c": with_reset(4, 12, 1, REGSET="SET")},
        {"c": with_reset(4, 12, 1, CEMUX="CE")},
        {"other": with_reset(4, 60, 1), "end": cell("LUT4", {"A": [60]}, {"Z": [61]})},
    ],
    ids=["asynchronous", "set", "enabled", "no factor"],
)
def test_others_stay_as_they_are(kept: dict[str, dict[str, Any]]) -> None:
    made, same = design(**kept), design(**kept)
    assert unfold_resets(made) == []
    assert made == same
