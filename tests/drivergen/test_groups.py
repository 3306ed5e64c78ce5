"""Depthwise and grouped convolutions: a loop of the host over groups, or several groups put together."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from tests.drivergen import host
from tests.drivergen.grouped import FORMS, Grouped

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_mlir
from axiloom.isa import AcceleratorSpec


def spec(name: str, dtype: str = "int32", *, sg: bool = False) -> AcceleratorSpec:
    found = isa.builtin(name, data_type=dtype)
    return isa.revise(found, dma=replace(found.link.dma, scatter_gather=sg))


def groups(one: Grouped) -> int:
    return one.groups if "g" in FORMS[one.op] else one.c


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["conv_v3", "conv_v4"])
@pytest.mark.parametrize("op", FORMS)
def test_groups_are_a_loop_of_the_host(op: str, name: str) -> None:
    one = Grouped(op, batch=2)
    driver, _ = host.check(one.text, spec(name), pipeline="copying")
    (call,) = driver.calls
    batches = [size for dim, size in call.sizes.items() if dim.startswith("b")]
    assert sorted(batches) == sorted([2, groups(one)])
    assert call.sizes["ic"] == (1 if "depthwise" in op else one.c)
    assert call.merged == 1
    assert call.lean == ("depthwise" in op)


@pytest.mark.every(3)
@pytest.mark.parametrize("pipeline", ["published", "all"])
@pytest.mark.parametrize("op", ["depthwise_conv_2d_nchw_chw", "conv_2d_ngchw_gfchw", "conv_2d_ngchw_fgchw"])
def test_small_groups_are_put_together(op: str, pipeline: str) -> None:
    """Where an array has more rows than a group has output channels; and without a copy then."""
    one = Grouped(op, groups=4, c=8, f=2, image=(8, 8), stride=(2, 1), pad=1, dtype="int8")
    driver, _ = host.check(one.text, spec("conv_v4", "int8", sg=True), pipeline=pipeline)
    (call,) = driver.calls
    channels = 1 if "depthwise" in op else one.c
    assert call.merged == (8 if "depthwise" in op else 4)
    assert call.sizes["oc"] == 8
    assert call.sizes["ic"] == call.merged * channels
    assert call.multiply_adds == 8 * 4 * 8 * channels * 9
    assert prod(call.sizes.values()) == call.multiply_adds * call.merged
    assert ("dma_queue_rows" in driver.c) == (pipeline == "all")


def test_groups_as_large_as_the_array_stay() -> None:
    one = Grouped("conv_2d_ngchw_gfchw", groups=2, f=8)
    (call,) = compile_mlir(one.text, spec("conv_v4", sg=True), stop="linalg").calls
    assert (call.merged, call.sizes["b1"]) == (1, 2)


def test_few_pixels_do_not_pay_for_zeros() -> None:
    """A result of 2 x 2: the CPU would write more zeros than there are multiply-adds."""
    one = Grouped("depthwise_conv_2d_nchw_chw", c=8, image=(4, 4))
    driver, _ = host.check(one.text, spec("conv_v4", sg=True), pipeline="copying")
    assert driver.calls[0].merged == 1


def test_channels_last_are_not_neighbours_of_their_group() -> None:
    """Groups of one channel each are, as NHWC has them; groups and channels in another order are not."""
    one = Grouped("depthwise_conv_2d_nhwc_hwc", c=8, image=(8, 8))
    driver, _ = host.check(one.text, spec("conv_v4", sg=True), pipeline="copying")
    assert driver.calls[0].merged == 8


PLANES = """\
func.func @f(%I : memref<9x8xi32>, %F : memref<3x2xi32>, %O : memref<7x7xi32>) {
  linalg.generic {indexing_maps = [affine_map<(h, w, y, x) -> (h + y, w + x)>, affine_map<(h, w, y, x) ->
  (y, x)>,
                                   affine_map<(h, w, y, x) -> (h, w)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%I, %F : memref<9x8xi32>, memref<3x2xi32>) outs(%O : memref<7x7xi32>) {
  ^bb0(%i : i32, %f : i32, %o : i32):
    %p = arith.muli %i, %f : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  func.return
}
"""


def test_an_image_of_one_channel() -> None:
    driver, _ = host.check(PLANES, spec("conv_v4"))
    assert driver.calls[0].sizes == {"oh": 7, "ow": 7, "fh": 3, "fw": 2, "ic": 1, "oc": 1}
    assert driver.calls[0].multiply_adds == 49 * 6


def test_an_accelerator_for_matmuls_says_that_it_has_no_groups() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(Grouped("conv_2d_ngchw_gfchw").text, spec("v4_16"))
    assert str(caught.value) == (
        "input.mlir:5:3: linalg.conv_2d_ngchw_gfchw: v4_16 cannot execute it: "
        "it convolves channels in groups (depthwise), not each with all"
    )


def test_windows_that_are_not_square_are_refused_in_groups_too() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(Grouped("depthwise_conv_2d_nchw_chw", taps=(3, 2)).text, spec("conv_v3"))
    assert str(caught.value).endswith("windows of 3x2 are not square, and no word sets fw")
