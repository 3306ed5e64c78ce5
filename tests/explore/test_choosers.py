"""``--flow best`` asks who knows the accelerator's form; nothing is taken for a convolution."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.drivergen import parse_workload
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.choice import ranks
from axiloom.run.resolve import BEST, resolve


def test_no_model_for_a_copy() -> None:
    spec, text = isa.builtin("identity"), parse_workload("copy:64").mlir
    with pytest.raises(
        UsageError, match=r"^--flow best: there is no cost model for linalg\.copy; flows of identity"
    ):
        resolve(text, spec, Schedule(BEST))


@pytest.mark.parametrize("name", ["conv_v3", "conv_v4"])
def test_the_model_of_convolutions(name: str) -> None:
    spec = isa.builtin(name, None, "int32")
    found = resolve(parse_workload("conv:10_8_3_8_1").mlir, spec, Schedule(BEST))
    assert found.flow in spec.flows
    assert found.tile is not None
    assert not ranks(spec)
