"""Post-processing: the formula, the instructions around it, and whole results against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_operands, conv_specs, convolutions
from tests.isa.conv_streams import conv_program
from tests.isa.strategies import channels, matrices, post_settings, specs, tiles
from tests.isa.streams import Matrix, matmul_program, requantised, wrapped_matmul

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.isa.check.check import check
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.files.post import without_post
from axiloom.isa.kernels.requantise import requantise
from axiloom.isa.opcode_map.model import FunctionalModel


def unpacked(words: isa.words.Words, shape: tuple[int, ...]) -> Matrix:
    """int8 elements of a tile, lowest first; the rest of the words must be zeros."""
    elements = words.astype("<u4").view(np.int8)
    size = int(np.prod(shape))
    assert not elements[size:].any()
    return elements[:size].reshape(shape).astype(np.int64)


@given(st.data())
def test_formula_equals_python(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    scale, post = data.draw(channels(count)), data.draw(post_settings())
    seed = data.draw(st.integers(0, 2**31))
    random = np.random.default_rng(seed)
    sums = random.integers(-(1 << 31), 1 << 31, (2, count)) >> random.integers(0, 24, (2, count))
    found = requantise(sums.astype(np.uint32), scale.astype(np.uint32), post, axis=1)
    assert found.dtype == np.int8
    assert np.array_equal(found, requantised(sums, scale, 1, post))


@pytest.mark.parametrize(
    ("total", "bias", "multiplier", "shift", "post", "expected"),
    [
        (5, 0, 1, 1, {}, 3),  # halves are rounded up
        (-5, 0, 1, 1, {}, -2),
        (7, 3, 1, 0, {}, 10),
        (2**31 - 1, 1, 1, 24, {}, -128),  # bias and sum wrap
        (-1, 0, 65535, 47, {}, 0),
        (-(2**31), 0, 65535, 47, {}, -1),
        (-100, 0, 1, 0, {"zp": 4, "lo": 4}, 4),  # ReLU
        (1000, 0, 1, 0, {"hi": 6}, 6),
        (1000, 0, 1, 0, {}, 127),
        (0, 0, 1, 0, {"zp": 3, "lo": 5, "hi": -5}, -5),  # hi comes last
    ],
)
def test_formula(
    total: int, bias: int, multiplier: int, shift: int, post: dict[str, int], expected: int
) -> None:
    scale = np.array([[bias, multiplier | shift << 16]]).astype(np.uint32)
    values = {"zp": 0, "lo": -128, "hi": 127, **post}
    assert requantise(np.array([total]).astype(np.uint32), scale, values).tolist() == [expected]


def test_bits_above_the_shift_are_not_looked_at() -> None:
    scale = np.array([[0, 1 | 2 << 16 | 1 << 22 | 1 << 31]]).astype(np.uint32)
    assert requantise(np.array([400], np.uint32), scale, {"zp": 0, "lo": -128, "hi": 127}).tolist() == [100]


@given(st.data())
@settings(max_examples=40)
def test_matmul_equals_python(data: st.DataObject) -> None:
    spec = data.draw(specs(post=True))
    tile = data.draw(tiles(spec))
    counts = data.draw(st.tuples(*(st.integers(1, 2),) * 3))
    total = {d: s * c for d, s, c in zip(spec.dims, tile, counts, strict=True)}
    operands = {o: data.draw(matrices(spec, tuple(total[d] for d in spec.data[o]))) for o in "AB"}
    operands["P"] = data.draw(channels(total["n"]))
    post = data.draw(post_settings())
    axis = spec.data["C"].index("n")
    expected = requantised(wrapped_matmul(spec, operands), operands["P"], axis, post)
    model = FunctionalModel(spec)
    result = np.zeros(expected.shape, dtype=np.int64)
    order = data.draw(st.sampled_from(isa.loop_orders(spec, "q")))
    for step in matmul_program(spec, "q", order, tile, operands, post):
        words = model.feed(step.words)
        assert model.error is None
        if step.receives is not None:
            assert list(np.flatnonzero(model.tlast)) == [words.size - 1]
            result[step.receives] = unpacked(words, result[step.receives].shape)
    assert np.array_equal(result, expected)


@given(st.data())
@settings(max_examples=40)
def test_convolution_equals_python(data: st.DataObject) -> None:
    spec = data.draw(conv_specs(post=True))
    problem, tile = data.draw(convolutions(spec))
    operands = data.draw(conv_operands(spec, problem))
    post = data.draw(post_settings())
    expected = requantised(problem.reference(operands["I"], operands["F"]), operands["P"], 0, post)
    model = FunctionalModel(spec)
    result = np.zeros(expected.shape, dtype=np.int64)
    order = data.draw(st.sampled_from(isa.loop_orders(spec, "q")))
    for step in conv_program(spec, "q", order, tile, problem, operands, post):
        words = model.feed(step.words)
        assert model.error is None
        if step.receives is not None:
            assert list(np.flatnonzero(model.tlast)) == [words.size - 1]
            result[step.receives] = unpacked(words, result[step.receives].shape)
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
@pytest.mark.parametrize("kind", ["int8", "int16", "int32"])
@pytest.mark.parametrize("name", ["v3_4", "v3_8", "v3_16", "v4_16", "conv_v4"])
def test_builtins(name: str, kind: str, encoding: str) -> None:
    plain = isa.builtin(name, None, kind, encoding)
    spec = isa.builtin(name, None, kind, encoding, post=True)
    assert check(spec) == []
    assert (spec.post, plain.post) == (True, False)
    flow = f"{plain.selected_flow}q"
    assert {**spec.flows, flow: None} == {**plain.flows, flow: None}
    assert isa.loop_orders(spec, flow) == isa.loop_orders(plain, plain.selected_flow)
    assert spec.init_opcodes == (*plain.init_opcodes, "cfgP")
    added = {op: spec.opcodes[op].literal for op in spec.opcodes if op not in plain.opcodes}
    words = {"bitmask": [32, 64, 128], "literals": [0x26, 0x27, 0x28]}[encoding]
    assert added == dict(zip(("sP", "cfgP", "qO" if name == "conv_v4" else "qC"), words, strict=True))
    most = {"v3_4": 4, "v3_8": 8, "v3_16": 16, "v4_16": 256, "conv_v4": 512}[name]
    assert spec.buffers["P"] == 2 * most


@pytest.mark.parametrize("name", ["v1_4", "v2_8", "conv_v3"])
def test_where_it_makes_no_sense(name: str) -> None:
    with pytest.raises(UsageError, match=r"has no post-processing: .* v3, v4 and conv_v4 can") as error:
        isa.builtin(name, post=True)
    assert str(error.value).startswith(name)


_V3 = [1, *[0] * 16, 2, *[0] * 16, 4]
_CONV = [
    16,
    1 | 1 << 5 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 22,
    1,
    1 | 1 << 11 | 1 << 21,
    0,
    3,
    2,
    1 | 1 << 11,
    5,
]


@pytest.mark.parametrize(
    ("name", "words", "code", "message"),
    [
        (
            "v3_4",
            [*_V3, 128],
            DeviceError.NOT_LOADED,
            "NOT_LOADED at word 36: qC requantises, but P is not loaded",
        ),
        (
            "v4_16",
            [32, 16 | 16 << 10 | 16 << 20, *[0] * 32, 128, 16 | 32 << 10 | 16 << 20],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 36: qC: P has shape (16, 2), the dims now say (32, 2)",
        ),
        (
            "v4_16",
            [32, 16 | 272 << 10 | 16 << 20],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: 16x272x16: B does not fit its buffer of 4096 words",
        ),
        (
            "conv_v4",
            [*_CONV, 4, 1 | 1 << 11, 32, 2, 0, 0, 0, 0, 128],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 18: qO: O has shape (1, 1, 1), the dims now say (2, 1, 1)",
        ),
        (
            "conv_v4",
            [32, 513],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: 513x2: P does not fit its buffer of 1024 words",
        ),
        ("conv_v4", [32, 0], DeviceError.BAD_DIMS, "BAD_DIMS at word 2: oc = 0 is below 1"),
    ],
)
def test_errors(name: str, words: list[int], code: DeviceError, message: str) -> None:
    model = FunctionalModel(isa.builtin(name, post=True))
    assert model.feed(words).size == 0
    assert (model.code, model.error) == (code, message)


def test_settings_are_signed_bytes_and_stay() -> None:
    spec = isa.builtin("conv_v4", post=True)
    model = FunctionalModel(spec)
    p = [32, 1, 0x1_0000_0000 - 20, 1]  # bias -20, multiplier 1, shift 0
    model.feed([*_CONV, 4, 1 | 1 << 11, *p])
    assert model.feed([128]).tolist() == [0xFB]  # 15 - 20
    model.feed([64, 0xFE | 0x80 << 8 | 0x7F << 16 | 0xFF << 24])  # zp -2; what lies above hi does not count
    model.feed([4, 1 | 1 << 11])
    assert model.feed([128]).tolist() == [0xF9]
    assert model.feed([128]).tolist() == [0xEA]  # O was cleared: -20 - 2
    model.reset()
    model.feed([*_CONV, 4, 1 | 1 << 11, *p])
    assert model.feed([128]).tolist() == [0xFB]  # reset: zp is 0


def test_raw_results_come_back_too() -> None:
    model = FunctionalModel(isa.builtin("conv_v4", post=True))
    assert model.feed([*_CONV, 4, 1 | 1 << 11, 8]).tolist() == [15]


@pytest.mark.parametrize("name", ["v3_16", "v4_16", "conv_v4"])
@pytest.mark.parametrize("encoding", ["bitmask", "literals"])
def test_taken_away_again_nothing_is_left_of_it(name: str, encoding: str) -> None:
    plain, post = (isa.builtin(name, None, "int8", encoding, post) for post in (False, True))
    assert without_post(post) == plain
    assert without_post(plain) is plain
