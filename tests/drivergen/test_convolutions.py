"""Convolutions on conv_v3 and conv_v4: generated drivers, executed against the functional model and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.convolutions import Conv, convs
from tests.drivergen.grouped import Grouped

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.cost import conv_tiles
from axiloom.drivergen.cost.conv import Model
from axiloom.drivergen.pipeline import conv_choice
from axiloom.isa import AcceleratorSpec

PIPELINES = ["published", "coalesced", "copying", "residency,coalesce", "double-buffer"]


def spec(name: str, dtype: str = "int32", **options: object) -> AcceleratorSpec:
    return isa.builtin(name, None, dtype, "bitmask", **options)  # type: ignore[arg-type]


@pytest.mark.every(3)
@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
@pytest.mark.parametrize("pipeline", ["published", "copying"])
@pytest.mark.parametrize("name", ["conv_v3", "conv_v4"])
def test_every_accelerator(name: str, pipeline: str, encoding: str) -> None:
    device = isa.builtin(name, None, "int32", encoding)
    driver, _ = host.check(Conv(batch=2, stride=(2, 1)).text, device, pipeline=pipeline)
    (call,) = driver.calls
    assert call.sizes == {"b": 2, "oc": 6, "oh": 4, "ow": 8, "ic": 4, "fh": 3, "fw": 3}
    assert call.multiply_adds == 2 * 6 * 4 * 8 * 36


@pytest.mark.parametrize(
    ("changes", "cycles"),
    [
        ({}, 2 * 8 * 4 * 56 // 64),  # 49 pixels in a row take as long as 56
        ({"layout": "nhwc"}, 2 * 8 * 4 * 56 // 64),
        ({"pad": (1, 1, 1, 1), "image": (5, 5)}, 2 * 8 * 4 * 7 * 8 // 64),  # each row by itself
        ({"stride": (2, 2), "image": (13, 13)}, 2 * 8 * 4 * 7 * 8 // 64),
        ({"taps": (1, 3), "image": (7, 9)}, 2 * 8 * 4 * 7 * 8 * 3 // 64),
    ],
)
def test_the_least_cycles_of_the_array(changes: dict[str, Any], cycles: int) -> None:
    """Rows of pixels are rounded up to the array's columns, unless they could be one row."""
    conv = Conv(batch=2, oc=8, **{"image": (7, 7), "taps": (1, 1)} | changes)
    device = spec("conv_v4")
    assert (conv.output, device.array) == ((7, 7), (8, 8))
    (call,) = compile_mlir(conv.text, device, stop="linalg").calls
    assert call.array_cycles(device) == cycles


RESNET = Conv(ic=8, oc=12, image=(14, 14), pad=(1, 1, 1, 1), dtype="int8")
"""Small, and otherwise like most convolutions of a ResNet."""


@pytest.mark.parametrize("pipeline", ["published", "copying"])
@pytest.mark.parametrize("name", ["conv_v3", "conv_v4"])
def test_golden(name: str, pipeline: str, golden: Callable[[str, str], None]) -> None:
    problem = RESNET if name == "conv_v4" else replace(RESNET, pad=(0, 0, 0, 0), dtype="int32")
    tile = (8, 7, 14, 8, 3, 3) if name == "conv_v4" else None
    driver = compile_mlir(problem.text, spec(name, problem.dtype), tile=tile, pipeline=pipeline)
    golden(driver.c, f"{name}_{pipeline}.c")


def test_golden_without_copies(golden: Callable[[str, str], None]) -> None:
    driver = compile_mlir(RESNET.text, with_descriptors("int8"), tile=(8, 7, 14, 8, 3, 3), pipeline="all")
    golden(driver.c, "conv_v4_all.c")


@pytest.mark.slow
@given(convs, st.sampled_from(PIPELINES))
@settings(max_examples=4)
def test_any_convolution_by_windows(conv: Conv, pipeline: str) -> None:
    """Square filters: conv_v3 has no word for their width. The host pads."""
    square = replace(conv, taps=(conv.taps[0], conv.taps[0]))
    if min(square.output) < 1:
        square = replace(square, image=(12, 12))
    host.check(square.text, spec("conv_v3", conv.dtype), pipeline=pipeline)


@pytest.mark.slow
@given(convs, st.sampled_from(PIPELINES), st.data())
@settings(max_examples=5)
def test_any_convolution_by_images(conv: Conv, pipeline: str, data: st.DataObject) -> None:
    """Any flow, tile and order."""
    device = spec("conv_v4", conv.dtype)
    flow = data.draw(st.sampled_from(sorted(device.flows)))
    height, width = conv.output
    sizes = (conv.oc, height, width, conv.ic)
    tile = data.draw(st.none() | st.tuples(*(st.integers(1, size) for size in sizes)))
    order = data.draw(st.none() | st.sampled_from(isa.loop_orders(device, flow)))
    tile = None if tile is None else (*tile, *conv.taps)
    host.check(conv.text, device, pipeline=pipeline, flow=flow, tile=tile, order=order)


@given(convs, st.sampled_from([32, 64]), st.data())
@settings(max_examples=5)
def test_any_convolution_with_descriptors(conv: Conv, width: int, data: st.DataObject) -> None:
    """Parts of one convolution share a queue; what descriptors cannot express is copied."""
    device = isa.revise(with_descriptors(conv.dtype), stream_width=width)
    rows, columns = conv.output
    sizes = (conv.oc, rows, columns, conv.ic)
    tile = data.draw(st.none() | st.tuples(*(st.integers(1, size) for size in sizes)))
    tile = None if tile is None else (*tile, *conv.taps)
    host.check(conv.text, device, pipeline="all", tile=tile)


def test_parts_whose_tiles_are_received_in_place_in_several_sizes() -> None:
    """Tiles of 3 rows and the rest of 2, without copies."""
    conv = Conv(1, 1, 5, (10, 10), (2, 2), (2, 1), (1, 3), (0, 0, 0, 0), "int8", "nchw", True, False)
    device = isa.revise(with_descriptors("int8"), stream_width=32)
    host.check(conv.text, device, pipeline="all", tile=(1, 3, 7, 1, 2, 2))


WHOLE = {"oc": 64, "oh": 56, "ow": 56, "ic": 64, "fh": 3, "fw": 3}
SETTINGS = {"sh": 1, "sw": 1, "dh": 1, "dw": 1, "pt": 1, "pl": 1}


def test_how_much_goes_in_and_out_in_a_cycle() -> None:
    """At stride 2, half of a row of the array goes in if the image's width is even. A row of results goes out
    in whole vectors."""
    device = isa.revise(with_descriptors("int8"), stream_width=64)
    tile = {"oc": 8, "oh": 4, "ow": 28, "ic": 16, "fh": 3, "fw": 3}
    strided = {**SETTINGS, "sh": 2, "sw": 2}
    for wide, taken in ((58, 4), (57, 2)):
        one = Model(device, tile, strided, "Os", {"ih": 57, "iw": wide}).work(tile)
        assert one.image == 16 * 57 * wide / taken
    for size, beats, vectors in ((1, 112, 4), (4, 448, 14)):
        one = Model(device, tile, SETTINGS, "Os", {"ih": 4, "iw": 28}, size).work(tile)
        assert (one.result, one.sent) == (beats, 8 * 4 * vectors)


def test_as_few_words_as_the_buffers_allow() -> None:
    """A layer of ResNet18: bands of whole rows, all channels at once, the filters sent once."""
    device = spec("conv_v4", "int8")
    choice = conv_tiles.choose(device, WHOLE, SETTINGS, "Os")
    tile = dict(zip(device.dims, choice.tile, strict=True))
    assert (tile["oc"], tile["ow"], tile["ic"]) == (64, 56, 64)
    assert not isa.check_tile(device, choice.tile, settings={**SETTINGS, "pt": 0, "pl": 0})
    first = conv_tiles.choose(device, {**WHOLE, "oc": 256}, SETTINGS, "Os")
    assert first.tile[0] < 256


def test_descriptors_want_whole_rows_and_beats() -> None:
    """With scatter-gather, rows of 58 bytes are sent in pairs, as far as the image has them, and whole."""
    device = with_descriptors("int8")
    sizes = {"oc": 128, "oh": 28, "ow": 28, "ic": 64, "fh": 3, "fw": 3}
    settings_ = {"sh": 2, "sw": 2, "dh": 1, "dw": 1, "pt": 0, "pl": 0}
    image = {"ih": 58, "iw": 58}
    choice = conv_tiles.choose(device, sizes, settings_, "Os", image=image)
    assert choice.image["iw"] == 58
    assert choice.image["ih"] % 2 == 0
    named = dict(zip(device.dims, choice.tile, strict=True))
    model = Model(device, sizes, settings_, "Os", image)
    assert all(model.in_place(named, choice.order).values())
    work = model.work(named)
    assert work.compute == -(-named["oc"] // 8) * named["oh"] * 4 * named["ic"] * 9
    computes = 28 // named["oh"] * (128 // named["oc"]) * (64 // named["ic"])
    assert computes * work.compute < choice.cycles < 1.1 * computes * work.compute
    assert work.image > work.image_words, "two elements a cycle; the CPU cleans the words alone"
    copied = conv_tiles.choose(spec("conv_v4", "int8"), sizes, settings_, "Os", image=image)
    assert copied.image == {}


@pytest.mark.parametrize(
    ("sizes", "stride", "cycles"),
    [
        ({"oc": 32, "oh": 32, "ow": 32, "ic": 16, "fh": 3, "fw": 3}, 1, 239_608),
        ({"oc": 64, "oh": 16, "ow": 16, "ic": 32, "fh": 3, "fw": 3}, 2, 223_662),
        ({"oc": 256, "oh": 1, "ow": 256, "ic": 64, "fh": 1, "fw": 1}, 1, 310_542),
        ({"oc": 256, "oh": 1, "ow": 64, "ic": 256, "fh": 1, "fw": 1}, 1, 234_755),
    ],
)
def test_cycles_where_the_cpu_copies(sizes: dict[str, int], stride: int, cycles: int) -> None:
    """Layers of a network on the SoC, in cycles of the fabric; of one tile, copying and computing add up."""
    choice = conv_tiles.choose(spec("conv_v4", "int8"), sizes, {**SETTINGS, "sh": stride, "sw": stride}, "Os")
    assert choice.cycles == pytest.approx(cycles, rel=0.16)


def test_best_flow() -> None:
    """Sums that come back in parts are added up by the CPU: a flow that keeps them on the device wins."""
    text = Conv(ic=64, oc=64, image=(14, 14), taps=(1, 1), dtype="int8").text
    device = with_descriptors("int8")
    every = conv_choice.flows(text, device)
    assert {one.name for one in every} == set(device.flows)
    assert [one.choice.cycles for one in every] == sorted(one.choice.cycles for one in every)
    split = conv_choice.flows(text, device, tile=(64, 14, 14, 16, 1, 1))
    kept = {one.name: one.choice.cycles for one in split}
    assert split[0].name == "Os"
    assert kept["Os"] < kept["Ns"]
    post = conv_choice.flows(text, spec("conv_v4", "int8", post=True))
    assert {one.name for one in post} == set(device.flows)
    with pytest.raises(CompileError, match=r"^input.mlir: there is no convolution in it for conv_v4$"):
        conv_choice.flows(matmul_mlir(4, 4, 4).replace("linalg.matmul ", "linalg.add "), device)
    with pytest.raises(CompileError, match=r"^input.mlir: no flow of conv_v4 can be used for it$"):
        conv_choice.flows(text, device, order=("ic", "oh", "ow"))


def test_a_given_tile_gets_no_more_rows_than_fit() -> None:
    device = with_descriptors("int8")
    sizes = {"oc": 8, "oh": 15, "ow": 15, "ic": 64, "fh": 1, "fw": 1}
    settings_ = {"sh": 2, "sw": 2, "dh": 1, "dw": 1, "pt": 0, "pl": 0}
    tile = (8, 15, 15, 64, 1, 1)
    fits = isa.revise(device, buffers={**device.buffers, "I": 64 * 30 * 30 // 4})
    given = {"ih": 30, "iw": 30}
    assert conv_tiles.choose(fits, sizes, settings_, "Os", image=given, tile=tile).image == given
    narrow = isa.revise(device, buffers={**device.buffers, "I": 64 * 29 * 29 // 4})
    assert conv_tiles.choose(narrow, sizes, settings_, "Os", image=given, tile=tile).image == {}


def test_no_tile_fits() -> None:
    sizes = {**WHOLE, "fh": 31, "fw": 31, "ic": 1, "oh": 1, "ow": 8000}
    with pytest.raises(conv_tiles.NoTileError, match=r"^its smallest tile: `cO`|^its smallest tile: .*31"):
        conv_tiles.choose(spec("conv_v4"), {**sizes, "fh": 40, "fw": 40}, SETTINGS, "Os")


def test_results_are_received_as_far_as_they_are_saved() -> None:
    """Rows of pixels in two pieces: together they would be more than the device keeps."""
    device = spec("conv_v3")
    small = isa.revise(device, buffers={**device.buffers, "O": 20})
    _, run = host.check(Conv().text, small)
    assert set(run.received) == {16}
    _, run = host.check(Conv(image=(5, 26)).text, small)
    assert set(run.received) == {12}


def test_packets_overlap_where_two_results_fit_their_window() -> None:
    """All of a channel's pixels would fill the window: in two pieces, one comes back while one is taken."""
    device = spec("conv_v3")
    narrow = isa.revise(device, dma=replace(device.link.dma, output_buffer_size=72 * 4))
    text = Conv().text
    driver, run = host.check(text, narrow, pipeline="copying")
    assert set(run.received) == {32}
    assert "dma_packet_send" in driver.c
    driver, run = host.check(text, narrow)
    assert set(run.received) == {64}


PLAIN = Conv(generic=True).text


def with_descriptors(dtype: str) -> AcceleratorSpec:
    device = spec("conv_v4", dtype)
    return isa.revise(device, dma=replace(device.link.dma, scatter_gather=True))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("conv", "queued"),
    [
        (RESNET, True),
        (replace(RESNET, ic=3), False),  # filters of 27 bytes end in the middle of a word
        (replace(RESNET, image=(7, 7)), True),  # planes of 49 bytes, but all of them lie in one piece
        (replace(RESNET, ic=9, image=(7, 7)), False),  # 441 bytes
        (replace(RESNET, dtype="int32", ic=3), True),
        (replace(RESNET, layout="nhwc"), False),
    ],
    ids=str,
)
def test_all_reads_in_place_what_descriptors_can_express(conv: Conv, queued: bool) -> None:
    c = compile_mlir(conv.text, with_descriptors(conv.dtype), pipeline="all").c
    assert ("dma_queue_rows" in c) == queued
    if not queued:
        with pytest.raises(CompileError, match="there is no descriptor for a tile like memref<"):
            compile_mlir(conv.text, with_descriptors(conv.dtype), pipeline="zero-copy")


REJECTED = {
    "square": (Conv(taps=(3, 2)).text, "windows of 3x2 are not square, and no word sets fw"),
    "two images": (
        PLAIN.replace("-> (o, c, y, x)", "-> (o, c + b, y, x)"),
        "a convolution has one input that is indexed by sums of loops, this op has 2",
    ),
    "no image": (
        Conv(taps=(1, 1), generic=True).text.replace("h * 1 + y * 1, w * 1 + x * 1", "h, w"),
        "a convolution has one input that is indexed by sums of loops, this op has 0",
    ),
    "one dim": (
        Conv(taps=(3, 1), generic=True).text.replace("w * 1 + x * 1", "w"),
        "it slides along 1 dims of the image, not 2",
    ),
}


@pytest.mark.parametrize("what", REJECTED)
def test_rejected(what: str) -> None:
    text, why = REJECTED[what]
    with pytest.raises(CompileError) as caught:
        compile_mlir(text, spec("conv_v3"))
    place, _, message = str(caught.value).partition(": conv_v3 cannot execute it: ")
    assert place.startswith("input.mlir:5:3: linalg.")
    assert message == why


def test_groups_are_named_by_an_accelerator_for_matmuls_too() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(Grouped("depthwise_conv_2d_nchw_chw").text, isa.builtin("v4_16"))
    why = "it convolves channels in groups (depthwise), not each with all"
    assert str(caught.value).endswith(f"v4_16 cannot execute it: {why}")


def test_tile_takes_the_whole_filter() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(Conv().text, spec("conv_v4"), tile=(6, 8, 8, 4, 2, 3))
    assert str(caught.value).endswith("a tile has the whole of fh, 3, not 2")
