"""Constant operands: packed by tiles before anything runs; drivers on the functional model."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.convolutions import Conv, convs
from tests.drivergen.epilogues import Rounded
from tests.drivergen.test_epilogues import matmul, queued, rounded

from axiloom.drivergen import Driver, compile_mlir, reference
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.nest.packed import made_of
from axiloom.isa import AcceleratorSpec


def constant(text: str, *names: str) -> str:
    """The same program with these arguments constant."""
    for name in names:
        text = re.sub(rf"(%{name} ?: tensor<[^>]*>)", r"\1 {accel.constant}", text, count=1)
    return text


def original(text: str, seed: int) -> host.Arrays:
    """Inputs of the function as it is written; multipliers and shifts as the device takes them."""
    function = only_function(parse(text, "test"), "test")
    rng, arrays = np.random.default_rng(seed), {}
    for number, arg in enumerate(function.body.block.args):
        shape, dtype = arg.type.get_shape(), f"int{arg.type.element_type.width.data}"  # type: ignore[attr-defined]
        info = np.iinfo(dtype)
        low, high = {"M": (0, (1 << 16) - 1), "S": (0, 47)}.get(arg.name_hint or "", (info.min, info.max))
        arrays[f"axl_arg{number}"] = rng.integers(low, high, shape, dtype, endpoint=True)
    return arrays


def check(text: str, device: AcceleratorSpec, pipeline: str = "all", **options: object) -> Driver:
    driver = compile_mlir(text, device, pipeline=pipeline, **options)  # type: ignore[arg-type]
    given = original(text, 0)
    expected = reference(text, given)
    passed: host.Arrays = {}
    for number, arg in enumerate(driver.args):
        if arg.kind == "in":
            array = made_of([given[f"axl_arg{source}"] for source in driver.origins[number]])
            packing = driver.packings.get(number)
            passed[arg.symbol] = array if packing is None else packing.apply(array)
            assert passed[arg.symbol].shape == arg.shape
            assert passed[arg.symbol].dtype == arg.dtype
    found, _ = host.run(driver, device, passed)
    for array, result in zip(expected.values(), found.values(), strict=True):
        np.testing.assert_array_equal(result, array)
    return driver


def test_matmul_with_odd_rows() -> None:
    """Rows of 70 bytes are packed; what comes back is written where it belongs, in rows of 280 bytes."""
    driver = check(constant(matmul(48, 70, 32), "W"), queued("v4_16", 64))
    assert "zero-copy" in driver.passes
    assert "dma_queue_receive_rows" in driver.c
    assert "dma_queue_tile" not in driver.c
    assert list(driver.packings) == [1]


def test_one_row_is_copied_beside_weights_in_place() -> None:
    """As in the last layer of a classifier."""
    driver = check(constant(matmul(1, 100, 64), "W"), queued("v4_16", 64))
    assert "dma_queue_tile_i8" in driver.c
    assert "dma_queue_rows(&W[" in driver.c
    assert "queue" not in compile_mlir(matmul(1, 100, 64), queued("v4_16", 64), pipeline="all").c


def test_parts_of_a_convolution_share_their_filters() -> None:
    """The first rows, those in the middle and the last ones are parts of their own, as padding differs."""
    conv = Conv(ic=8, oc=16, image=(24, 16), pad=(1, 1, 1, 1), dtype="int8")
    driver = check(constant(conv.text, "F"), queued("conv_v4", 64), tile=(16, 8, 16, 4, 3, 3))
    (packing,) = driver.packings.values()
    assert (
        sum(piece.words(np.zeros((16, 8, 3, 3), np.int8)).size for piece in packing.pieces) < 2 * 16 * 8 * 9
    )


def test_channels_are_put_together_before() -> None:
    text = constant(Rounded(matmul(32, 64, 32), (32, 64), 1).text, "B", "M", "S")
    driver = check(text, queued("v4_16"))
    assert driver.origins == [(0, 1, 2), (3,), (4,), ()]
    assert "<<" not in driver.c


def test_whole_tiles_in_one_piece_are_left_alone() -> None:
    driver = check(constant(matmul(32, 64, 32), "W"), queued("v4_16"), tile=(16, 64, 32))
    assert not driver.packings
    assert driver.args == arguments_of(matmul(32, 64, 32), queued("v4_16"))


def arguments_of(text: str, device: AcceleratorSpec) -> list[object]:
    return list(compile_mlir(text, device, pipeline="all", tile=(16, 64, 32)).args)


def test_without_descriptors_nothing_is_packed() -> None:
    driver = check(constant(matmul(48, 70, 32), "W"), queued("v4_16"), pipeline="copying")
    assert not driver.packings


@given(
    st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 70)),
    st.sampled_from(["v3_16", "v4_16"]),
    st.sampled_from([32, 64, 128]),
    st.sampled_from(["all", "zero-copy"]),
    st.booleans(),
)
@settings(max_examples=8)
def test_any_matmul(size: tuple[int, int, int], name: str, width: int, pipeline: str, post: bool) -> None:
    M, N, K = size
    text = Rounded(matmul(M, N, K), (M, N), 1).text if post else matmul(M, N, K)
    check(constant(text, "W", "B", "M", "S"), queued(name, width), pipeline)


@pytest.mark.slow
@given(convs, st.sampled_from([32, 64]))
@settings(max_examples=5)
def test_any_convolution(conv: Conv, width: int) -> None:
    text = rounded(replace(conv, dtype="int8")).text
    check(constant(text, "F", "W", "B", "M", "S"), queued("conv_v4", width))
