"""The functional model against NumPy, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import ANY, any_program
from tests.isa.strategies import Words, matrices, specs, tiles
from tests.isa.streams import matmul_program, wrapped_matmul

from axiloom import isa
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.opcode_map.model import FunctionalModel


@given(st.data())
def test_matmul_equals_numpy(data: st.DataObject) -> None:
    """Every flow of a random device under every order, twice in a row, is A . B mod 2^32."""
    spec = data.draw(specs())
    model = FunctionalModel(spec)
    tile = data.draw(tiles(spec))
    counts = data.draw(st.tuples(*(st.integers(1, 3),) * 3))
    total = {d: s * c for d, s, c in zip(spec.dims, tile, counts, strict=True)}
    operands = {o: data.draw(matrices(spec, tuple(total[d] for d in spec.data[o]))) for o in "AB"}
    expected = wrapped_matmul(spec, operands)
    for flow in spec.flows:
        order = data.draw(st.sampled_from(isa.loop_orders(spec, flow)))
        result = np.zeros(expected.shape, dtype=np.int32)
        for step in matmul_program(spec, flow, order, tile, operands):
            words = model.feed(step.words)
            assert model.error is None
            if step.receives is None:
                assert words.size == 0
                continue
            assert list(np.flatnonzero(model.tlast)) == [words.size - 1]
            result[step.receives] += words.view(np.int32).reshape(result[step.receives].shape)
        assert np.array_equal(result, expected)


@given(st.data())
@settings(max_examples=60)
def test_any_portions_of_words_give_the_same(data: st.DataObject) -> None:
    spec = data.draw(ANY)
    words, _ = data.draw(any_program(spec))
    whole, parts = FunctionalModel(spec), FunctionalModel(spec)
    expected = whole.feed(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, words.size), max_size=6)))
    out, flags = [], []
    for part in np.split(words, cuts):
        out.append(parts.feed(part))
        flags.append(parts.tlast)
    assert np.array_equal(np.concatenate(out), expected)
    assert np.array_equal(np.concatenate(flags), whole.tlast)
    assert (parts.error, parts.code, parts.accepted) == (whole.error, whole.code, whole.accepted)


@given(st.data())
@settings(max_examples=60)
def test_reset_recovers_from_anything(data: st.DataObject) -> None:
    spec = data.draw(ANY)
    before, _ = data.draw(any_program(spec))
    after, _ = data.draw(any_program(spec))
    used, fresh = FunctionalModel(spec), FunctionalModel(spec)
    used.feed(before)
    used.reset()
    assert np.array_equal(used.feed(after), fresh.feed(after))
    assert used.error == fresh.error


_DIMS = 16 | 16 << 10 | 16 << 20
_TILE = [0] * 256


@pytest.mark.parametrize(
    ("name", "words", "code", "message", "accepted"),
    [
        (
            "v3_4",
            [1, *[0] * 16, 3, 4],
            DeviceError.UNKNOWN_OPCODE,
            "UNKNOWN_OPCODE at word 18: 0x3 is no opcode; they are 0x1 sA, 0x2 sB, 0x4 cC, 0x8 rC",
            18,
        ),
        (
            "v3_4",
            [1, *[0] * 16, 4, 4],
            DeviceError.NOT_LOADED,
            "NOT_LOADED at word 18: cC computes, but B is not loaded",
            18,
        ),
        (
            "v4_16",
            [1, 16 | 16 << 10],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: 16x16x0 is not a multiple of 16x16x16",
            2,
        ),
        (
            "v4_16",
            [8, 16 | 17 << 10 | 16 << 20],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: 16x17x16 is not a multiple of 16x16x16",
            2,
        ),
        (
            "v4_16",
            [8, 512 | 16 << 10 | 16 << 20],
            DeviceError.BAD_DIMS,
            "BAD_DIMS at word 2: 512x16x16: A does not fit its buffer of 4096 words",
            2,
        ),
        (
            "v4_16",
            [1, _DIMS, *_TILE, 2, _DIMS, *_TILE, 4, 32 | 16 << 10 | 16 << 20],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 518: cC: A has shape (16, 16), the dims now say (32, 16)",
            518,
        ),
        (
            "v4_16",
            [1, _DIMS, *_TILE, 2, _DIMS, *_TILE, 4, _DIMS, 8, 16 | 32 << 10 | 16 << 20],
            DeviceError.DIMS_MISMATCH,
            "DIMS_MISMATCH at word 520: rC: C has shape (16, 16), the dims now say (16, 32)",
            520,
        ),
    ],
)
def test_errors(name: str, words: list[int], code: DeviceError, message: str, accepted: int) -> None:
    model = FunctionalModel(isa.builtin(name))
    assert model.feed(words).size == 0
    assert (model.code, model.error, model.accepted) == (code, message, accepted)
    assert model.feed([8]).size == 0  # it takes no more words
    assert model.accepted == accepted
    model.reset()
    assert (model.code, model.error, model.accepted) == (DeviceError.OK, None, 0)


def test_store_of_a_cleared_c_sends_zeros_with_the_current_dims() -> None:
    model = FunctionalModel(isa.builtin("v4_16"))
    assert np.array_equal(model.feed([8, 16 | 32 << 10 | 16 << 20]), np.zeros(512, np.uint32))
    model = FunctionalModel(isa.builtin("v3_8"))
    assert np.array_equal(model.feed([8, 8]), np.zeros(128, np.uint32))
    assert list(np.flatnonzero(model.tlast)) == [63, 127]


def test_sums_wrap() -> None:
    model = FunctionalModel(isa.builtin("v1_4"))
    ones = np.full(16, 0x7FFFFFFF, dtype=np.uint32)
    out: Words = model.feed(np.concatenate([ones, ones]))
    assert set(out) == {4 * 0x7FFFFFFF**2 % 2**32}


def test_int8_is_signed_and_packed_lowest_first() -> None:
    spec = isa.builtin("v1_4", data_type="int8")
    a = [0x000000FF] + [0] * 3  # A[0, 0] = -1
    b = [0x04030280] + [0] * 3  # B[0, :] = -128, 2, 3, 4
    out = FunctionalModel(spec).feed(a + b).view(np.int32)
    assert list(out[:4]) == [128, -2, -3, -4]
    assert not out[4:].any()
