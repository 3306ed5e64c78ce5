# amaranth: UnusedElaboratable=no
"""The engine that takes one window at a time (conv_v3) against its functional model and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hw.engine.engine_bench import Program, check, simulate, sustained
from tests.isa.conv_strategies import conv_ill_formed, conv_specs, conv_well_formed, conv_word_program
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.streams import opcode_words

from axiloom import isa
from axiloom.hw.engine.decoder import CLEAR, COMPUTE, STORE, Programs
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.kernels.forms import WINDOW

STALLS = {"stall_in": 0.3, "stall_out": 0.4}
SHAPE = (3, 2, 2)


def small(data_type: str = "int32", stream_width: int = 32, macs: int = 1) -> AcceleratorSpec:
    """The published accelerator with small buffers."""
    spec = isa.builtin("conv_v3", data_type=data_type)
    return spec.replace(buffers={"I": 32, "F": 32, "O": 6}, stream_width=stream_width, macs=macs)


def random_window(spec: AcceleratorSpec, seed: int) -> np.ndarray:
    info = np.iinfo(spec.data_type.numpy)
    return np.random.default_rng(seed).integers(info.min, info.max, SHAPE, endpoint=True)


def words_of(spec: AcceleratorSpec, *words: int) -> list[int]:
    """The opcode words with their payloads, for windows of SHAPE with random elements."""
    stream: list[int] = []
    for seed, word in enumerate(words):
        opcode = spec.decode(word)
        assert opcode is not None
        tiles = {"I": random_window(spec, seed), "F": random_window(spec, seed)[None]}
        stream += opcode_words(spec, opcode, (1, 1, 1, *SHAPE), tiles)
    return stream


BEGIN = 32 | 16
"""Sets fh (and with it fw) and ic."""


@pytest.mark.every(3)
@pytest.mark.parametrize("macs", [1, pytest.param(4, marks=pytest.mark.slow), 16])
@pytest.mark.parametrize(
    ("data_type", "stream_width"), [("int32", 32), ("int8", 32), ("int16", 64), ("int8", 128)]
)
def test_combinations_of_bits_twice_and_after_reset(data_type: str, stream_width: int, macs: int) -> None:
    """What the published driver sends, everything in one word, and what only makes sense here: a sum of two
    windows, a result that is saved twice, a store of nothing."""
    spec = small(data_type, stream_width, macs)
    published = [BEGIN, 1, 70, 70, 70, 8]
    program = Program(
        words_of(spec, *published, 1 | 2 | 4 | 64 | 8, 2 | 4, 4, 64, 64, 4 | 64, 8, 8, 70 | 1, 8)
    )
    cut = Program(program.words, reset_after=len(program.words) // 2)
    check(spec, program, program, cut, program, **STALLS)


def test_every_combination_is_an_opcode_in_the_published_order() -> None:
    programs = Programs(small())
    words = dict(programs.words().values())
    assert sorted(words) == list(range(1, 1 << 7))
    width = programs.action_width
    actions = [words[127] >> at & (1 << width) - 1 for at in range(0, programs.width, width)]
    set_ic, set_fh = actions[:2]
    assert actions[2:] == [programs.load("I"), programs.load("F"), COMPUTE, programs.save, STORE, CLEAR]
    assert (set_ic, set_fh) == (words[16], words[32]), "one action each"


@pytest.mark.parametrize(("data_type", "stream_width"), [("int32", 32), ("int8", 64)])
def test_a_convolution_equals_numpy(data_type: str, stream_width: int) -> None:
    """Independently of the functional model."""
    spec = isa.builtin("conv_v3", data_type=data_type).replace(stream_width=stream_width)
    problem = Convolution(ic=3, ih=6, iw=7, oc=2, fh=3, fw=3, stride=(2, 2))
    generator, info = np.random.default_rng(0), np.iinfo(spec.data_type.numpy)
    image, filters = (
        generator.integers(info.min, info.max, shape, endpoint=True) for shape in ((3, 6, 7), (2, 3, 3, 3))
    )
    tile = {"oc": 1, "oh": 1, "ow": 1, "ic": 3}
    operands = {"I": image, "F": filters}
    steps = conv_program(spec, "Fs", isa.loop_orders(spec, "Fs")[0], tile, problem, operands)
    (result,) = simulate(spec, Program([word for step in steps for word in step.words]))
    got = np.array(result.words, dtype=np.uint32).view(np.int32).reshape(2, -1)[:, : 2 * 3]
    assert np.array_equal(got.reshape(2, 2, 3), problem.reference(image, filters))


ERRORS = {
    "unknown opcode": ([128], DeviceError.UNKNOWN_OPCODE),
    "window larger than its buffer": ([1], DeviceError.BAD_DIMS),
    "image not loaded": ([BEGIN, 1, 4], DeviceError.NOT_LOADED),
    "filter not loaded": ([BEGIN, 2 | 4], DeviceError.NOT_LOADED),
    "saved too often": ([64] * 7, DeviceError.BAD_DIMS),
    "no room for a compute": ([BEGIN, 1, 2, *[64] * 6, 4], DeviceError.BAD_DIMS),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("case", ERRORS)
def test_errors_stop_the_device_until_reset(case: str) -> None:
    spec = small()
    opcodes, code = ERRORS[case]
    bad: list[int] = [32, 200, 16, 30] if case.startswith("window") else []
    for word in opcodes:
        bad += [word] if spec.decode(word) is None or case.startswith("window") else words_of(spec, word)
    good = words_of(spec, BEGIN, 1, 70, 8)
    results = check(spec, Program([*bad, *good], reset=True), Program(good), **STALLS)
    assert [result.error for result in results] == [code, DeviceError.OK]


def test_other_sizes_than_loaded() -> None:
    spec = small()
    words = [*words_of(spec, BEGIN, 1, 2), 16, 2, 4]
    (result,) = check(spec, Program(words))
    assert result.error == DeviceError.DIMS_MISMATCH


@settings(max_examples=6)
@given(data=st.data(), seed=st.integers(0, 99))
def test_any_specification_and_words(data: st.DataObject, seed: int) -> None:
    spec = data.draw(conv_specs(WINDOW))
    first, _ = data.draw(conv_word_program(spec))
    second, _ = data.draw(conv_well_formed(spec, longest=6))
    third, _ = data.draw(conv_ill_formed(spec))
    cut = data.draw(st.integers(0, first.size))
    programs = (Program(first, reset=True), Program(first, reset_after=cut), Program(second), Program(third))
    check(spec, *programs, seed=seed, **STALLS)


def test_loading_overlaps_computing() -> None:
    """One multiply-add keeps pace with one word a cycle: a step takes little more than its words."""
    spec = isa.builtin("conv_v3")
    step = words_of(spec, 70)
    begin = words_of(spec, BEGIN, 1)
    (once,) = check(spec, Program([*begin, *step]))
    (often,) = check(spec, Program([*begin, *step * 9]))
    assert (often.cycles - once.cycles) / 8 <= len(step) + 5


@pytest.mark.parametrize(("data_type", "macs"), [("int32", 1), ("int8", 4), ("int8", 8)])
def test_a_long_window_keeps_the_multipliers_busy(data_type: str, macs: int) -> None:
    spec = isa.builtin("conv_v3", data_type=data_type).replace(macs=macs)
    tile = (1, 1, 1, 20, 3, 3)
    tiles = {"I": np.ones(tile[3:], np.int64), "F": np.ones((1, *tile[3:]), np.int64)}
    words: list[int] = []
    for name in ("sH", "sC", "sF", "sI", *["cO"] * 4, "save", "rO"):
        words += opcode_words(spec, name, tile, tiles)
    (result,) = check(spec, Program(words))
    assert result.words[0] == 4 * 180
    assert sustained(spec, result) >= 0.95 * 2 * macs
