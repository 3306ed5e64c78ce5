"""Convolutions on accelerators for matmul: windows side by side, generated drivers against NumPy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.convolutions import Conv, convs

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_mlir


@pytest.mark.slow
@given(convs, st.sampled_from(["v3_4", "v4_16"]), st.sampled_from(["published", "copying"]))
@settings(max_examples=8)
def test_any_convolution(conv: Conv, name: str, pipeline: str) -> None:
    conv = replace(conv, layout="nchw", zeroed=True)
    driver, _ = host.check(conv.text, isa.builtin(name, None, conv.dtype), pipeline=pipeline)
    height, width = conv.output
    taps = conv.ic * conv.taps[0] * conv.taps[1]
    assert driver.calls[0].sizes == {"b": conv.batch, "m": conv.oc, "n": height * width, "k": taps}


def test_one_tap_reads_the_image_where_it_is() -> None:
    driver, _ = host.check(Conv(taps=(1, 1)).text, isa.builtin("v3_4"))
    assert "windows" not in driver.c
    driver, _ = host.check(Conv().text, isa.builtin("v3_4"))
    assert "windows" in driver.c


@pytest.mark.parametrize("conv", [Conv(layout="nhwc"), Conv(zeroed=False)], ids=str)
def test_other_forms_are_refused(conv: Conv) -> None:
    with pytest.raises(CompileError, match="v3_4 cannot execute it: operand 0 is not indexed by plain loops"):
        compile_mlir(conv.text, isa.builtin("v3_4"))
