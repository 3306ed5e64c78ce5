"""rows64: each instruction by its simulator against another bfloat16 (`bf16_plain.py`), and its limits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.accelerators.qkv import bf16_plain as plain

from axiloom.isa.instructions.library import target, targets
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError

A, B, C, OUT = 0, 8192, 16384, 24576
NAMES = (
    *("load_1", "load_2", "store_1", "store_2", "mov_21", "mov_12", "transpose_21", "gemm", "gemm_add"),
    *("softmax", "add_rows", "subtract_rows", "multiply_rows", "maximum_rows", "relu"),
)


def word(name: str, n: int = 0, x: int = 0, y: int = 0, host: int = 0) -> int:
    return NAMES.index(name) + 1 | n << 5 | x << 12 | y << 20 | host << 32


@cache
def inputs() -> tuple[plain.Array, ...]:
    rng = np.random.default_rng(1)
    return tuple(plain.brain(rng.normal(0, 1, (64, 64))) for _ in range(3))


def run(program: list[int], text: str = "") -> plain.Array:
    device = Simulator(parse(text, "rows64.isa", "rows64") if text else target("rows64"))
    for at, values in zip((A, B, C), inputs(), strict=True):
        raw = plain.bits(values).astype("<u2").reshape(-1).view(np.uint8)
        device.state["d0"][at : at + 8192] = raw
    for one in program:
        device.command(word=one)
    return plain.numbers(device.state["d0"][OUT : OUT + 8192].view("<u2").reshape(64, 64))


def program(name: str, n: int = 64) -> list[int]:
    """d2[20:84], d1[70:134] and d1[134:198] are C, A and B; what is made of them in d2[20:84] is stored."""
    x, y = 20, 70
    loads = [word("load_2", 64, 20, host=C), word("load_1", 64, 70, host=A), word("load_1", 64, 134, host=B)]
    if name.startswith("gemm"):
        x, y, n = 70, 134, 20  # its result's row is where others have their number of rows
    return [*loads, word(name, n, x, y), word("store_2", 64, 20, host=OUT)]


def rounded(values: plain.Array) -> plain.Array:
    return plain.brain(plain.single(values))


@pytest.mark.parametrize(
    "name", ["add_rows", "subtract_rows", "multiply_rows", "maximum_rows", "relu", "softmax"]
)
@pytest.mark.parametrize("n", [64, 5])
def test_rows_in_place(name: str, n: int) -> None:
    a, _, c = inputs()
    expected = {
        "add_rows": rounded(c + a),
        "subtract_rows": rounded(c - a),
        "multiply_rows": rounded(c * a),
        "maximum_rows": np.maximum(c, a),
        "relu": np.maximum(c, 0),
        "softmax": plain.softmax(c) if name == "softmax" else c,
    }[name]
    found = run(program(name, n))
    assert np.array_equal(found[:n], expected[:n])
    assert np.array_equal(found[n:], c[n:])


def test_products() -> None:
    a, b, c = inputs()
    product = plain.product(a, b)
    assert np.array_equal(run(program("gemm")), product)
    assert np.array_equal(run(program("gemm_add")), rounded(c + product))


def test_moves() -> None:
    """There and back, and transposed twice."""
    a = inputs()[0]
    there = [word("load_1", 64, 9, host=A), word("mov_12", 64, 9, 33), word("mov_21", 64, 33, 101)]
    assert np.array_equal(run([*there, word("store_1", 64, 101, host=OUT)]), a)
    turned = [*there, word("transpose_21", 0, 33, 7), word("store_1", 64, 7, host=OUT)]
    assert np.array_equal(run(turned), a.T)


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("= plus(d2[row + r, c], d1", "= difference(d2[row + r, c], d1", "add_rows"),
        ("= difference(d2[row + r, c], d1[other", "= difference(d2[row + r, c], d1[row", "subtract_rows"),
        ("= plus(d2[out + i, j], narrow", "= plus(d2[i, j], narrow", "gemm_add"),
        ("larger(d2[row + r, c], 0)", "larger(d2[row + r, c], d2[row + r, 0])", "relu"),
    ],
)
def test_a_wrong_text_differs(right: str, wrong: str, name: str) -> None:
    text = targets()["rows64"].read_text(encoding="utf-8")
    assert text.count(right) == 1
    assert not np.array_equal(run(program(name), text.replace(right, wrong)), run(program(name)))


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (word("load_1", 64, 193), r"not out \+ n <= 256"),
        (word("load_2", 64, 65), r"not out \+ n <= 128"),
        (word("store_2", 1, 127, host=(1 << 16) - 127), "<= D0"),
        (word("gemm", 65, 0, 64), r"out \+ 64 <= 128"),
        (word("gemm_add", 0, 193, 64), r"a \+ 64 <= 256"),
        (word("add_rows", 64, 65, 0), r"row \+ n <= 128"),
        (word("add_rows", 64, 0, 193), r"other \+ n <= 256"),
        (word("softmax", 64, 65), r"row \+ n <= 128"),
        (0, "no instruction comes"),
        (16, "no instruction comes"),
    ],
)
def test_what_is_not_legal_is_said(command: int, why: str) -> None:
    with pytest.raises(IllegalCommandError, match=why):
        Simulator(target("rows64")).command(word=command)
