"""``requantise`` beside the functional model of accelerators."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from axiloom.graph import Type
from axiloom.graph.ops import OPS
from axiloom.isa.kernels.requantise import requantise


@given(
    seed=st.integers(0, 2**32 - 1), zero=st.integers(-128, 127), ends=st.tuples(*[st.integers(-128, 127)] * 2)
)
def test_requantise(seed: int, zero: int, ends: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    sums = rng.integers(-(2**31), 2**31, (3, 5)).astype(np.int32)
    bias = rng.integers(-(2**31), 2**31, 5).astype(np.int32)
    multiplier, shift = rng.integers(0, 1 << 16, 5), rng.integers(0, 64, 5)
    low, high = sorted(ends)
    channels = np.stack([bias.view(np.uint32), (multiplier | shift << 16).astype(np.uint32)], 1)
    settings = {"zp": zero, "lo": low, "hi": high}
    wanted = requantise(sums.view(np.uint32), channels, settings, axis=1)
    operands = (sums, bias, multiplier.astype(np.int32), shift.astype(np.int32))
    types = [Type(one.shape, "int32") for one in operands]
    attributes = {"dimension": 1, "zero": zero, "low": low, "high": high}
    np.testing.assert_array_equal(OPS["requantise"].evaluate(operands, types, attributes), wanted)
