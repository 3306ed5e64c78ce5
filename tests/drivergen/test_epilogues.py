"""Sums that accelerators round to int8: generated drivers against the functional model and NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.convolutions import Conv, convs
from tests.drivergen.epilogues import BODY, Rounded
from tests.drivergen.grouped import Grouped

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import Driver, compile_mlir, reference
from axiloom.isa import AcceleratorSpec

CONSTANTS = st.tuples(st.integers(-128, 127), st.integers(-128, 127), st.integers(-128, 127))


def spec(name: str, dtype: str, post: bool = True) -> AcceleratorSpec:
    return isa.builtin(name, None, dtype, "bitmask", post=post)


def inputs(driver: Driver, seed: int) -> host.Arrays:
    """Multipliers of 16 bits and shifts up to 47, biases and elements as they come."""
    arrays, rng = host.random_inputs(driver, seed), np.random.default_rng(seed)
    for symbol, limit in (("axl_arg1", 1 << 16), ("axl_arg2", 48)):
        arrays[symbol][...] = rng.integers(0, limit, arrays[symbol].shape)
    return arrays


def check(text: str, device: AcceleratorSpec, **options: object) -> Driver:
    driver = compile_mlir(text, device, **options)  # type: ignore[arg-type]
    for seed in range(2):
        given = inputs(driver, seed)
        found, _ = host.run(driver, device, given)
        expected = reference(text, given)
        assert expected.keys() == found.keys()
        for symbol, array in expected.items():
            assert array.dtype == np.int8
            np.testing.assert_array_equal(found[symbol], array)
    return driver


def rounded(conv: Conv, **constants: int) -> Rounded:
    height, width = conv.output
    nchw = conv.layout == "nchw"
    shape = (conv.batch, conv.oc, height, width) if nchw else (conv.batch, height, width, conv.oc)
    return Rounded(replace(conv, zeroed=True).text, shape, 1 if nchw else 3, **constants)


def matmul(M: int, N: int, K: int, element: str = "i8") -> str:
    a, b, c = f"tensor<{M}x{K}x{element}>", f"tensor<{K}x{N}x{element}>", f"tensor<{M}x{N}xi32>"
    return f"""\
func.func @f(%A : {a}, %W : {b}) -> {c} {{
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : {c}
  %Z = linalg.fill ins(%zero : i32) outs(%E : {c}) -> {c}
  %R = linalg.matmul ins(%A, %W : {a}, {b}) outs(%Z : {c}) -> {c}
  func.return %R : {c}
}}
"""


@pytest.mark.every(3)
@pytest.mark.parametrize("pipeline", ["published", "coalesced", "copying"])
@pytest.mark.parametrize("name", ["v3_4", "v4_16"])
def test_matmul(name: str, pipeline: str) -> None:
    text = Rounded(matmul(9, 21, 17), (9, 21), 1, zp=3, lo=-100).text
    driver = check(text, spec(name, "int8"), pipeline=pipeline)
    assert driver.calls[0].flow == "Csq"
    assert "dma_get_block_i8" in driver.c or "axl_get_block_i8" in driver.c


@pytest.mark.parametrize("pipeline", ["published", "copying"])
def test_convolution(pipeline: str) -> None:
    driver = check(
        rounded(Conv(pad=(1, 1, 1, 1), dtype="int8"), lo=0).text, spec("conv_v4", "int8"), pipeline=pipeline
    )
    assert driver.calls[0].flow == "Osq"


@pytest.mark.every(2)
@pytest.mark.parametrize(("gather", "merged"), [(True, 8), (False, 1)])
@pytest.mark.parametrize(("channels", "size", "stride"), [(16, 8, 1), (24, 11, 2)])
def test_depthwise(channels: int, size: int, stride: int, gather: bool, merged: int) -> None:
    """Each channel has its own bias and scale, also where eight channels are put together."""
    op, out = "depthwise_conv_2d_nchw_chw", (size - 1) // stride + 1
    conv = Grouped(op, c=channels, image=(size, size), stride=(stride, stride), pad=1, dtype="int8")
    plain = spec("conv_v4", "int8")
    device = isa.revise(plain, dma=replace(plain.link.dma, scatter_gather=gather))
    text = Rounded(conv.text, (1, channels, out, out), 1, lo=0).text
    driver = check(text, device, pipeline="all" if gather else "copying")
    (call,) = driver.calls
    assert (call.flow, call.merged) == ("Osq", merged)


@given(convs, CONSTANTS, st.sampled_from(["published", "copying"]), st.data())
@settings(max_examples=6)
def test_any_convolution(
    conv: Conv, constants: tuple[int, int, int], pipeline: str, data: st.DataObject
) -> None:
    zp, lo, hi = constants
    height, width = conv.output
    tile = data.draw(st.none() | st.tuples(*(st.integers(1, n) for n in (conv.oc, height, width))))
    text = rounded(conv, zp=zp, lo=lo, hi=hi).text
    device = spec("conv_v4", conv.dtype)
    check(text, device, pipeline=pipeline, tile=None if tile is None else (*tile, conv.ic, *conv.taps))


CONV = Conv(dtype="int8")
OTHERS = {
    "another shift": BODY.replace("arith.shrsi", "arith.shrui"),
    "no half": BODY.replace("%r = arith.addi %p, %half", "%r = arith.addi %p, %one"),
    "half of another": BODY.replace("arith.shli %one, %sh", "arith.shli %one, %m"),
    "no clamp": BODY.replace("arith.trunci %h", "arith.trunci %z"),
    "multiplier with a sign": BODY.replace("%m = arith.extui", "%m = arith.extsi"),
    "sums without a sign": BODY.replace("%w = arith.extsi", "%w = arith.extui"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_roundings_are_not_fused(what: str) -> None:
    with pytest.raises(CompileError, match="cannot execute it"):
        compile_mlir(replace(rounded(CONV), body=OTHERS[what]).text, spec("conv_v4", "int8"))


def test_channels_of_another_dim_are_not_fused() -> None:
    with pytest.raises(CompileError, match="cannot execute it"):
        compile_mlir(replace(rounded(CONV), axis=2).text, spec("conv_v4", "int8"))


def test_nothing_to_round() -> None:
    """Without the epilogue the same accelerator sends sums, and nothing of post-processing is sent to it."""
    host.check(Conv(dtype="int8").text, spec("conv_v4", "int8"))
    driver, _ = host.check(matmul(8, 16, 8), spec("v4_16", "int8"))
    assert driver.calls[0].flow == "Cs"
    with pytest.raises(CompileError, match="flow Csq of v4_16 rounds sums to int8, and nothing behind it"):
        compile_mlir(matmul(8, 16, 8), spec("v4_16", "int8"), flow="Csq")


def test_input_channels_are_not_cut_with_a_rest() -> None:
    with pytest.raises(
        CompileError, match="tiles of 3 input channels leave a remainder; rounding needs whole sums"
    ):
        compile_mlir(rounded(CONV).text, spec("conv_v4", "int8"), tile=(6, 8, 8, 3, 3, 3))


def queued(name: str, width: int = 32) -> AcceleratorSpec:
    device = spec(name, "int8")
    return isa.revise(device, stream_width=width, dma=replace(device.link.dma, scatter_gather=True))


@pytest.mark.every(3)
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("name", ["v3_16", "v4_16"])
def test_queued(name: str, width: int) -> None:
    """Rows of whole beats: A, B, words of channels and rounded results are read and written in place."""
    text = Rounded(matmul(72, 80, 96), (72, 80), 1, zp=3, lo=-100).text
    driver = check(text, queued(name, width), pipeline="all")
    assert driver.calls[0].flow == "Csq"
    assert "dma_queue_receive_rows" in driver.c
    assert "dma_queue_tile" not in driver.c


def test_results_that_cannot_be_written_in_place_are_taken() -> None:
    """Rows of 21 bytes."""
    driver = check(Rounded(matmul(32, 21, 64), (32, 21), 1).text, queued("v4_16"), pipeline="zero-copy")
    assert "DMA_TAKER_COPY_I8" in driver.c


def test_queued_convolution() -> None:
    text = rounded(Conv(pad=(1, 1, 1, 1), dtype="int8"), lo=0).text
    assert "dma_queue_open" in check(text, queued("conv_v4"), pipeline="all").c
