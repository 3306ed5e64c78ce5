# amaranth: UnusedElaboratable=no
"""Programs on the RTL alone: `programs.py`, `rtl.py`, `streams.py`, `values.py`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.accelerators.qkv.attention import attention, operators
from tests.accelerators.qkv.rtl.device_bench import small, text_of

from axiloom.accelerators.vta.matmul import blocks, matmul
from axiloom.base.errors import DriverError, SpecError, UsageError
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl, device
from axiloom.device.streams import run
from axiloom.device.values import random_values
from axiloom.graph.numbers import number
from axiloom.isa.instructions.library import target, targets
from axiloom.isa.instructions.read import parse, read

N = 8


@cache
def small_device(name: str, lanes: int = 4) -> DeviceRtl:
    return device(parse(small(text_of(name), N), f"{name}.isa", name), lanes)


def within(y: np.ndarray, v: np.ndarray) -> bool:
    """Rows of a softmax lie within the columns of V, up to roundings: an invariant of attention."""
    decode = number("bfloat16").decode
    values, weights = decode(v), decode(y)
    low, high = values.min(axis=0), values.max(axis=0)
    slack = 0.02 * np.maximum(abs(low), abs(high))
    return bool(((low - slack <= weights) & (weights <= high + slack)).all())


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["qkv", pytest.param("qkv_double", marks=pytest.mark.slow)])
@pytest.mark.parametrize("chained", [1, 2, 8])
def test_attention(name: str, chained: int) -> None:
    program = attention(name, chained, N)
    values = random_values(program, chained)
    found = execute(small_device(name), program, values)
    assert found.cycles == found.foretold
    assert within(found.results["y"], values[f"v{chained - 1}"])
    assert (found.bytes_in, found.bytes_out) == (
        8 * len(program.commands) + 2 * N * N * (1 + 2 * chained),
        2 * N * N,
    )


def test_commands_of_attention() -> None:
    """Issue 18, what must be shown, 3: 9, at most 10, 16, at most 58."""
    assert [len(attention("qkv", chained).commands) for chained in (1, 2, 8)] == [9, 16, 58]
    assert len(attention("qkv_double").commands) == 10


def test_one_call_an_operator_computes_the_same() -> None:
    rtl, program = small_device("qkv"), attention("qkv", 1, N)
    known = random_values(program, 3)
    whole = execute(rtl, program, known)
    moved = 0
    for one in operators("qkv", N):
        found = execute(rtl, one, known)
        known |= found.results
        moved += found.bytes_in + found.bytes_out
    assert np.array_equal(known["y"], whole.results["y"])
    assert whole.bytes_in + whole.bytes_out < moved


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lanes"), [("qkv", 16), ("qkv_double", 16)])
def test_attention_of_64_rows(name: str, lanes: int) -> None:
    rtl = device(read(targets()[name], {"D0": 1 << 18}), lanes)
    for chained in (1, 2, 8):
        program = attention(name, chained)
        values = random_values(program, chained)
        for key in values:
            # Scores of 64 products each stay below 88, beyond which exponentials are infinite.
            kind = number("bfloat16")
            values[key] = kind.encode(kind.decode(values[key]) * np.float32(0.3))
        found = execute(rtl, program, values)
        assert found.cycles == found.foretold
        assert within(found.results["y"], values[f"v{chained - 1}"])


@pytest.mark.slow
def test_a_wrong_device_is_found() -> None:
    """One that knows softmax by another word, and one that multiplies the other way round."""
    rtl, program = small_device("qkv"), attention("qkv", 1, N)
    text = small(text_of("qkv"), N)
    swapped = text.replace("a = word[12:20]\n    b = word[20:28]", "a = word[20:28]\n    b = word[12:20]")
    assert swapped != text
    for other, message in (
        (text.replace("word[0:4] == 7", "word[0:4] == 8"), "the device stopped with fault 1"),
        (swapped, "packet 0, of command 8, store_rm .*, has other bytes than its text"),
    ):
        wrong = device(parse(other, "qkv.isa", "qkv"), 4)
        mixed = DeviceRtl(rtl.isa, wrong.top, wrong.verilog, 64, 4)
        with pytest.raises(DriverError, match=message):
            execute(mixed, program, random_values(program, 1))


def test_what_nobody_builds_is_said() -> None:
    with pytest.raises(
        SpecError,
        match=r"as rows of bfloat16: hlscnn.isa: .*one length is built\n"
        "as blocks of int8: hlscnn.isa: 0 memories have square blocks of int8; a GEMM has one",
    ):
        device(target("hlscnn"))
    with pytest.raises(UsageError, match="qkv: lanes must be a power of two, not 3"):
        device(target("qkv"), lanes=3)
    program = attention("qkv", 1, N)
    with pytest.raises(UsageError, match="attention_1: q has no values"):
        execute(small_device("qkv"), program, {})


def test_streams_end() -> None:
    rtl = small_device("qkv")
    assert run(rtl.verilog, rtl.top, []) == []


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(16, 16, 16), pytest.param((64, 64, 64), marks=pytest.mark.slow)])
def test_a_product_on_vta(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    program = matmul(m, n, k, shift=5)
    values = random_values(program, 2)
    found = execute(device(target("vta")), program, values)
    weights = values["b"].transpose(1, 3, 0, 2).reshape(k, n)
    assert np.array_equal(blocks(weights), values["b"])
    expected = np.clip((values["a"].astype(int) @ weights.astype(int) + values["bias"]) >> 5, -128, 127)
    assert np.array_equal(found.results["y"], expected)
    assert found.cycles == found.foretold


def test_products_that_vta_does_not_hold() -> None:
    with pytest.raises(ValueError, match="n and k must be multiples of 16, shift below it, not 8, 16, 3"):
        matmul(16, 8, 16, 3)
    with pytest.raises(ValueError, match="a product of 512 x 128 x 64 does not fit the memories of VTA"):
        matmul(512, 128, 64)
