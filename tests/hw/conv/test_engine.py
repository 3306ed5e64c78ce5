# amaranth: UnusedElaboratable=no
"""The convolution engine (conv_v4) against the functional model of the same specification, and NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.engine.engine_bench import Program, check, simulate, sustained
from tests.isa.conv_strategies import conv_ill_formed, conv_specs, conv_well_formed, conv_word_program
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import opcode_words
from tests.some import slow, some

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.hw.conv.engine import Conv
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.kernels.forms import IMAGE

STALLS = {"stall_in": 0.3, "stall_out": 0.4}
BASE = {
    **dict(zip(("oc", "oh", "ow", "ic", "fh", "fw", "ih", "iw"), (4, 3, 5, 3, 3, 2, 4, 6), strict=True)),
    **dict.fromkeys(("sh", "sw", "dh", "dw", "pt", "pl"), 1),
}
"""Dims and settings of a small tile."""


POINTWISE = {
    **BASE,
    **dict.fromkeys(("fh", "fw", "ic"), 1),
    **dict.fromkeys(("pt", "pl"), 0),
    "oh": 2,
    "ih": 2,
    "ow": 16,
    "iw": 16,
}
"""One channel in, one tap: a block has one k."""


def small(data_type: str = "int8", stream_width: int = 32, macs: int = 16) -> AcceleratorSpec:
    """conv_v4 with small buffers."""
    buffers = {"I": 128, "F": 256, "O": 256}
    spec = isa.builtin("conv_v4", data_type=data_type)
    return spec.replace(buffers=buffers, stream_width=stream_width, macs=macs)


def random_elements(spec: AcceleratorSpec, shape: tuple[int, ...], seed: int) -> np.ndarray:
    info = np.iinfo(spec.data_type.numpy)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, endpoint=True)


def words_of(spec: AcceleratorSpec, names: str, values: Mapping[str, int] = BASE, seed: int = 0) -> list[int]:
    """The words of opcodes, with random images and filters, under these dims and settings."""
    words: list[int] = []
    for place, name in enumerate(names.split()):
        shapes = {o: tuple(values[d] for d in spec.data[o]) for o in spec.opcodes[name].sends}
        tiles = {o: random_elements(spec, shape, seed + place) for o, shape in shapes.items()}
        tile = tuple(values[d] for d in spec.dims)
        words += opcode_words(spec, name, tile, tiles, None, values)
    return words


PROBLEMS = {
    "3x3": Convolution(3, 7, 9, 5, 3, 3, before=(1, 1), after=(1, 1)),
    "3x3 stride 2": Convolution(3, 9, 11, 5, 3, 3, (2, 2), before=(1, 1), after=(0, 1)),
    "7x7 stride 2": Convolution(2, 12, 13, 3, 7, 7, (2, 2), before=(3, 3), after=(3, 2)),
    "1x1": Convolution(6, 4, 7, 5, 1, 1),
    "1x1 stride 2": Convolution(6, 5, 7, 5, 1, 1, (2, 2)),
    "1x1 stride 2, an even width": Convolution(6, 6, 12, 5, 1, 1, (2, 2)),
    "3x1 stride 2, an even width": Convolution(3, 9, 10, 5, 3, 1, (2, 2), before=(1, 1), after=(1, 0)),
    "1x5 dilation 3": Convolution(2, 4, 15, 4, 1, 5, (1, 1), (1, 3), (0, 4), (0, 6)),
    "stride 4": Convolution(2, 9, 18, 3, 3, 4, (4, 4), before=(2, 1)),
    "stride 3 dilation 2": Convolution(3, 9, 14, 4, 2, 3, (3, 3), (2, 2), (1, 2), (2, 1)),
    "one pixel of a large image": Convolution(3, 5, 6, 9, 5, 6),
    "all padding": Convolution(1, 1, 1, 2, 3, 3, before=(2, 2), after=(2, 2)),
    "3x3 stride 2, an even width": Convolution(3, 9, 12, 5, 3, 3, (2, 2), before=(1, 1)),
}
KINDS = [("int8", 32), ("int8", 128), ("int16", 64), ("int32", 32), ("int32", 128)]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", some(PROBLEMS, 2))
def test_convolutions_equal_numpy(name: str) -> None:
    """Independently of the functional model, in tiles that leave rests in every direction."""
    problem = PROBLEMS[name]
    place = list(PROBLEMS).index(name)
    spec = small(*KINDS[place % len(KINDS)]).replace(buffers={"I": 192, "F": 400, "O": 256})
    flow = sorted(spec.flows)[place % len(spec.flows)]
    image = random_elements(spec, (problem.ic, problem.ih, problem.iw), 1)
    filters = random_elements(spec, (problem.oc, problem.ic, problem.fh, problem.fw), 2)
    depth = problem.ic if flow == "Fs" else 2
    tile = {"oc": 4, "oh": 2, "ow": 5, "ic": depth}
    orders = isa.loop_orders(spec, flow)
    steps = list(conv_program(spec, flow, orders[-1], tile, problem, {"I": image, "F": filters}))
    (result,) = simulate(spec, Program([word for step in steps for word in step.words]), **STALLS)
    assert result.error == DeviceError.OK
    expected = problem.reference(image, filters)
    total = np.zeros_like(expected)
    words = np.array(result.words, dtype=np.uint32).view(np.int32)
    for step in steps:
        if step.receives is not None:
            shape = total[step.receives].shape
            count = spec.words_of("O", shape)
            total[step.receives] += words[: np.prod(shape)].reshape(shape)
            words = words[count:]
    assert words.size == 0
    assert np.array_equal(total.astype(np.int32), expected)


@pytest.mark.every(3)
@pytest.mark.parametrize("channels", [(8, 3), (8, 1), (4, 1), (1, 3)])
def test_few_channels_behind_more(channels: tuple[int, int]) -> None:
    """What is left of the channels of a 1x1 convolution, queued behind whole tiles."""
    spec, (many, few) = small(), channels
    pointwise = BASE | dict.fromkeys(("fh", "fw"), 1) | dict.fromkeys(("pt", "pl"), 0)
    pointwise |= {"oh": 2, "ow": 8, "ih": 2, "iw": 8}
    words = words_of(spec, "cfg sI sF" + 5 * " cO", pointwise | {"ic": many})
    words += words_of(spec, "cfg sI sF cO rO", pointwise | {"ic": few}, 1)
    check(spec, Program(words))


@pytest.mark.parametrize(("many", "few"), [(8, 1), slow(7, 3)])
def test_blocks_of_few_outputs_behind_more(many: int, few: int) -> None:
    """A block takes as long as its rows that have a channel; those of the block before must be read first."""
    spec = small(macs=64)
    words = words_of(spec, "cfg sI sF cO cO cO cO cO rO", POINTWISE | {"oc": many})
    words += words_of(spec, "cfg sI sF cO rO", POINTWISE | {"oc": few}, 1)
    check(spec, Program(words))


def test_few_outputs_take_fewer_cycles() -> None:
    """Three times four blocks of eight rows: each takes as many cycles as there are channels out."""
    spec = small(macs=64)

    def cycles(oc: int) -> int:
        words = words_of(spec, "cfg sI sF cO cO cO rO", POINTWISE | {"oc": oc})
        (result,) = simulate(spec, Program(words))
        return max(result.computing) - min(result.computing)

    assert [cycles(oc) for oc in (8, 6, 1)] == [8 * 11, 6 * 11, 4 * 11]


@pytest.mark.slow
@pytest.mark.parametrize("macs", [8, *(pytest.param(macs, marks=pytest.mark.slow) for macs in (1, 2, 64))])
def test_any_number_of_multiply_adds_twice_and_after_reset(macs: int) -> None:
    spec = small(macs=macs).replace(buffers={"I": 128, "F": 512, "O": 512})
    program = Program(words_of(spec, "cfg sI sF cO sF cO rO sI cO rO rO"))
    cut = Program(program.words, reset_after=len(program.words) * 2 // 3)
    check(spec, program, program, cut, program, **STALLS)


@pytest.mark.slow
def test_settings_may_change_while_computes_wait() -> None:
    """What has been queued keeps the settings of its own moment; images, filters and results change
    halves."""
    spec = small(macs=4)
    words: list[int] = []
    for seed, change in enumerate(
        ({}, {"pt": 0, "pl": 2}, {"sh": 2, "sw": 2, "oh": 2, "ow": 3}, {"dh": 2, "dw": 3, "ic": 1}, {"oc": 1})
    ):
        words += words_of(spec, "cfg sI sF cO cO rO", BASE | change, seed)
    check(spec, Program(words), **STALLS)


def posted(stream_width: int, macs: int) -> AcceleratorSpec:
    """conv_v4 of int8 with post-processing and small buffers."""
    spec = isa.builtin("conv_v4", data_type="int8", post=True)
    buffers = {"I": 128, "F": 256, "O": 512, "P": 32}
    return spec.replace(buffers=buffers, stream_width=stream_width, macs=macs)


def posted_words(
    spec: AcceleratorSpec, names: str, change: Mapping[str, int] | None = None, seed: int = 0
) -> list[int]:
    """The words of opcodes, with random parameters, images and filters."""
    values = BASE | {"zp": 3, "lo": -100, "hi": 90} | (change or {})
    parameters = np.random.default_rng(seed).integers(0, 1 << 20, (values["oc"], 2))
    words: list[int] = []
    for name in names.split():
        shapes = {o: tuple(values[d] for d in spec.data[o]) for o in spec.opcodes[name].sends if o != "P"}
        tiles = {o: random_elements(spec, shape, seed) for o, shape in shapes.items()} | {"P": parameters}
        words += opcode_words(spec, name, tuple(values[d] for d in spec.dims), tiles, None, values)
    return words


ROWS = {"ow": 13, "iw": 13, "oh": 2, "ih": 3, "ic": 1}
"""Rows of outputs that end within a vector, of sums as well as of bytes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stream_width", "macs"), [(32, 16), (64, 16), (32, 64), (64, 64), (128, 64), (64, 1)]
)
def test_requantised_and_raw_tiles_alternate(stream_width: int, macs: int) -> None:
    """Twice in a row: a tile that goes out as words has other steps than the one before, of bytes."""
    spec = posted(stream_width, macs)
    words: list[int] = []
    change = {} if macs == 1 else ROWS
    for seed, names in enumerate(
        ("cfgP cfg sP sI sF cO qO", "cO rO", "cO qO", "cO rO qO", "sP sF cO cO qO rO")
    ):
        words += posted_words(spec, names, change, seed)
    check(spec, Program(words), Program(words), **STALLS)


@pytest.mark.every(3)
@pytest.mark.parametrize("ow", [1, 7, 8, 9, 15, 17])
def test_rows_of_requantised_pixels(ow: int) -> None:
    """Eight pixels at once, or what is left of a row; then the same rows as words, and after a reset."""
    spec = posted(64, 64)
    words = posted_words(
        spec, "cfgP cfg sP sI sF cO qO cO rO", {"ow": ow, "iw": ow + 1, "oh": 2, "ih": 2, "ic": 1}
    )
    cut = len(words) * ow // 18
    check(
        spec, Program(words, reset_after=cut), Program(words, reset=True), Program(words), seed=ow, **STALLS
    )


ERRORS = {
    "unknown opcode": ("", {}, [3], DeviceError.UNKNOWN_OPCODE),
    "a size of zero": ("cfg", {"dh": 0}, [], DeviceError.BAD_DIMS),
    "an image that is too large": ("sI", {"ic": 40, "ih": 3, "iw": 5}, [], DeviceError.BAD_DIMS),
    "filters that are too large": ("sF", {"oc": 30, "ic": 11}, [], DeviceError.BAD_DIMS),
    "results that are too large": ("sI sF cO", {"oh": 9, "ow": 9}, [], DeviceError.BAD_DIMS),
    "more than a dim can be": ("sF", {"ic": 4000}, [], DeviceError.BAD_DIMS),
    "image not loaded": ("cfg sF cO", {}, [], DeviceError.NOT_LOADED),
    "filters not loaded": ("cfg sI cO", {}, [], DeviceError.NOT_LOADED),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("case", ERRORS)
def test_errors_stop_the_device_until_reset(case: str) -> None:
    """What came before the error still goes out; nothing after it is taken; reset repairs it."""
    spec = small()
    names, change, extra, code = ERRORS[case]
    good = words_of(spec, "cfg sI sF cO rO")
    before = [] if "not loaded" in case else good
    fits = code != DeviceError.BAD_DIMS or case.startswith("results")
    values = BASE | change
    bad = words_of(spec, names, values) if fits else _settings_only(spec, names, values)
    results = check(spec, Program([*before, *bad, *extra, *good], reset=True), Program(good), **STALLS)
    assert [result.error for result in results] == [code, DeviceError.OK]
    assert len(results[0].words) == len(results[1].words) * bool(before)


def _settings_only(spec: AcceleratorSpec, name: str, values: Mapping[str, int]) -> list[int]:
    """An opcode whose payload never comes."""
    opcode = spec.opcodes[name]
    short = isa.Opcode(name, tuple(a for a in opcode.host if str(a) not in ("send(I)", "send(F)")), ())
    return opcode_words(spec, short, tuple(values[d] for d in spec.dims), {}, None, values)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("names", "change"),
    [
        ("cO", {"fw": 3}),
        ("cO", {"sw": 2}),
        ("sI cO", {"ic": 2}),
        ("cO", {"oh": 2}),
        ("cO rO", {}),
    ],
)
def test_other_sizes_than_loaded_or_begun(names: str, change: dict[str, int]) -> None:
    """Filters of other taps, an image laid out for another stride, other channels or results. The padding
    comes with the image, so a compute has no other one."""
    spec = small()
    words = words_of(spec, "cfg sI sF cO") + words_of(spec, f"cfg {names}", BASE | change)
    (result,) = check(spec, Program(words), **STALLS)
    assert result.error == (DeviceError.DIMS_MISMATCH if change else DeviceError.OK)


@pytest.mark.slow
@settings(max_examples=4)
@given(data=st.data(), seed=st.integers(0, 99), post=st.booleans())
def test_any_specification_and_words(data: st.DataObject, seed: int, post: bool) -> None:
    spec = data.draw(conv_specs(IMAGE, post=post))
    first, _ = data.draw(conv_word_program(spec))
    second, _ = data.draw(conv_well_formed(spec, longest=6))
    third, _ = data.draw(conv_ill_formed(spec))
    cut = data.draw(st.integers(0, first.size))
    programs = (Program(first, reset=True), Program(first, reset_after=cut), Program(second), Program(third))
    check(spec, *programs, seed=seed, **STALLS)


# --- speed -----------------------------------------------------------------------------------------------

BUSY = BASE | {"oc": 16, "oh": 3, "ow": 16, "ic": 4, "fh": 3, "fw": 3, "ih": 4, "iw": 16}


@pytest.mark.slow
def test_computes_in_a_row_keep_the_array_full() -> None:
    """With operands resident, all 64 multiply-adds of every cycle count, from block to block and from compute
    to compute."""
    spec = isa.builtin("conv_v4", data_type="int8")
    (result,) = check(spec, Program(words_of(spec, "cfg sI sF cO cO cO rO", BUSY)))
    blocks, k = 16 // 8 * 3 * 16 // 8, 4 * 3 * 3
    assert len(result.computing) == 3 * blocks * k
    assert sustained(spec, result) >= 0.99 * 2 * 64


@pytest.mark.slow
def test_loading_and_sending_hide_behind_computing() -> None:
    """A step of new image, new filters and new results takes little more than its computing."""
    spec = isa.builtin("conv_v4", data_type="int8")
    step = words_of(spec, "sI sF cO rO", BUSY | {"ic": 8})
    begin = words_of(spec, "cfg", BUSY)
    (once,) = check(spec, Program([*begin, *step]))
    (often,) = check(spec, Program([*begin, *step * 4]))
    assert (often.cycles - once.cycles) / 3 <= 1.05 * len(once.computing)


@pytest.mark.slow
@pytest.mark.parametrize(("stream_width", "vectors"), [(32, 2), (64, 1), (128, 1)])
def test_bytes_go_out_a_vector_a_cycle(stream_width: int, vectors: int) -> None:
    """A row of the array takes as many cycles as its bytes take beats, and one where a beat has more."""
    spec = posted(stream_width, 64)
    change = {"ow": 16, "iw": 16, "oh": 2, "ih": 2, "ic": 1, "fh": 1, "fw": 1, "pt": 0, "pl": 0, "oc": 8}
    begin = posted_words(spec, "cfgP cfg sP sI sF cO", change)
    again = posted_words(spec, "qO", change)
    (once,) = check(spec, Program([*begin, *again]))
    (often,) = check(spec, Program([*begin, *again * 5]))
    rows = 8 * 2 * 2  # channels, rows of pixels, blocks of a row
    assert rows * vectors <= (often.cycles - once.cycles) / 4 <= rows * vectors + 6


def test_all_reasons_are_listed() -> None:
    """Those of `ConvGeometry`."""
    spec = small().replace(stream_width=256, buffers={"I": 0, "F": 8, "O": 4})
    with pytest.raises(SpecError) as caught:
        Conv(spec)
    assert caught.value.faults == (
        "conv stream width must be one of 32, 64, 128, not 256",
        "conv buffer I must hold at least 8 words, not 0",
        "conv buffer F must hold at least 32 words, not 8",
        "conv buffer O must hold at least 16 words, not 4",
    )
