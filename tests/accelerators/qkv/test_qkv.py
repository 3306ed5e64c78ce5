"""QKV's two variants: attention by their instructions, against another bfloat16 and against float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.accelerators.qkv import bf16_plain as plain
from tests.some import slow

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import parse, read
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import IllegalCommandError

Q, K, V, OUT = 0, 8192, 16384, 24576
TOLERANCE = 2**-6
"""Of attention against float32, of the largest value, for scores up to 4: a score's last place is 2^-6 there,
half of it is the relative error of its exponential; sums, quotients and the result have 2^-9 each."""


def word(op: int, n: int = 0, x: int = 0, y: int = 0, host: int = 0) -> int:
    return op | n << 4 | x << 12 | y << 20 | host << 32


FIRST = [  # load_rm 1, load_cm 2, store_rm 3, store_cm 4, mov 5, gemm 6, softmax 7
    word(1, 64, 0, host=Q),
    word(2, 64, 64, host=K),
    word(6, 0, 0, 64),
    word(7, 64, 0),
    word(5, 64, 0, 0),
    word(1, 64, 64, host=V),
    word(6, 0, 0, 64),
    word(5, 64, 0, 0),
    word(3, 64, 0, host=OUT),
]
SECOND = [  # load_1 1, load_3 2, store_1 3, transpose_13 5, mov_21 6, mov_23 7, gemm 8, softmax 9
    word(1, 64, 0, host=Q),
    word(1, 64, 64, host=K),
    word(5, 0, 64, 0),
    word(8, 0, 0, 0),
    word(9, 64, 0),
    word(6, 64, 0, 0),
    word(2, 64, 64, host=V),
    word(8, 0, 0, 64),
    word(6, 64, 0, 64),
    word(3, 64, 64, host=OUT),
]
VARIANTS = [("qkv", FIRST), ("qkv_double", SECOND)]


def simulator(name: str) -> Simulator:
    return Simulator(read(targets()[name]))


def put(device: Simulator, at: int, values: plain.Array) -> None:
    raw = plain.bits(values).astype("<u2").reshape(-1).view(np.uint8)
    device.state["d0"][at : at + len(raw)] = raw


def result(device: Simulator, at: int = OUT) -> plain.Array:
    return plain.numbers(device.state["d0"][at : at + 8192].view("<u2").reshape(64, 64))


def inputs(seed: int) -> tuple[plain.Array, plain.Array, plain.Array]:
    rng = np.random.default_rng(seed)
    q, k = (plain.brain(rng.normal(0, 10**-0.5, (64, 64))) for _ in range(2))
    return q, k, plain.brain(rng.uniform(-3, 5, (64, 64)))


def run(name: str, program: Sequence[int], seed: int) -> tuple[tuple[plain.Array, ...], plain.Array]:
    device, given = simulator(name), inputs(seed)
    for at, values in zip((Q, K, V), given, strict=True):
        put(device, at, values)
    for one in program:
        device.command(word=one)
    return given, result(device)


def attention(q: plain.Array, k: plain.Array, v: plain.Array) -> plain.Array:
    """In float32, and so that nothing overflows."""
    scores = q.astype(np.float32) @ k.astype(np.float32).T
    assert np.abs(scores).max() < 4
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: plain.Array = (powers / powers.sum(axis=1, keepdims=True)) @ v.astype(np.float32)
    return found


def check(name: str, program: Sequence[int], seed: int) -> float:
    """Returns the largest error against float32, of the largest value."""
    (q, k, v), found = run(name, program, seed)
    exact = plain.product(plain.softmax(plain.product(q, k.T)), v)
    assert np.array_equal(plain.bits(found), plain.bits(exact))
    # A row of the result is a mean of V's rows, but that its weights add up to 1 within their rounding.
    slack = TOLERANCE * np.abs(v).max()
    assert (v.min(axis=0) - slack <= found).all()
    assert (found <= v.max(axis=0) + slack).all()
    error = float(np.abs(found - attention(q, k, v)).max() / np.abs(v).max())
    assert error < TOLERANCE
    return error


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", [1, *map(slow, range(10, 20))])
@pytest.mark.parametrize(("name", "program"), VARIANTS)
def test_attention(name: str, program: Sequence[int], seed: int) -> None:
    assert check(name, program, seed) > 0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("d1[out + c, r] = cat", "d1[out + r, c] = cat"),
        pytest.param("for k in range(N):", "for k in range(N - 1):", marks=pytest.mark.slow),
        pytest.param(
            "div(d2[row + r, c], narrow(total))",
            "narrow(add(0, wide(d2[row + r, c])))",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_wrong_text_differs(right: str, wrong: str) -> None:
    text = targets()["qkv"].read_text()
    assert right in text
    device, (q, k, v) = Simulator(parse(text.replace(right, wrong), "qkv.isa", "qkv")), inputs(1)
    for at, values in zip((Q, K, V), (q, k, v), strict=True):
        put(device, at, values)
    for one in FIRST:
        device.command(word=one)
    exact = plain.product(plain.softmax(plain.product(q, k.T)), v)
    assert not np.array_equal(plain.bits(result(device)), plain.bits(exact))


def test_columns_and_rows() -> None:
    """What is loaded as columns and stored as columns is what it was; a store in rows shows the transpose."""
    device, (q, _, _) = simulator("qkv"), inputs(2)
    put(device, Q, q)
    for one in (word(2, 64, 5, host=Q), word(4, 64, 5, host=K), word(3, 64, 5, host=V)):
        device.command(word=one)
    assert np.array_equal(result(device, K), q)
    assert np.array_equal(result(device, V), q.T)


@pytest.mark.parametrize(
    ("name", "command", "why"),
    [
        ("qkv", word(2, 32, 0), "not n == N"),
        ("qkv", word(4, 63, 0), "not n == N"),
        ("qkv", word(1, 64, 65), r"not out \+ n <= 2 \* N"),
        ("qkv", word(1, 1, 0, host=(1 << 16) - 127), "<= D0"),
        ("qkv", word(6, 1, 0, 64), "out == 0"),
        ("qkv", word(7, 64, 1), r"not row \+ n <= N"),
        ("qkv", word(0), "no instruction comes"),
        ("qkv_double", word(5, 0, 65), r"row \+ N <= 2 \* N"),
        ("qkv_double", word(10), "no instruction comes"),
    ],
)
def test_what_is_illegal_stops_it(name: str, command: int, why: str) -> None:
    with pytest.raises(IllegalCommandError, match=why):
        simulator(name).command(word=command)


def _patterns(few: bool) -> plain.Array:
    """All bfloat16 from -100 to 88, or one in 61 of them: their exponentials are normal numbers or 0."""
    every = np.arange(1 << 16)
    values = plain.numbers(every)
    found = every[np.isfinite(values) & (values > -87) & (values < 88)]
    return found[:: 61 if few else 1]


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_exponentials(few: bool) -> None:
    from axiloom.isa.instructions.externals import FUNCTIONS

    patterns = _patterns(few)
    found: Callable[..., plain.Array] = FUNCTIONS["bfloat16.exp"].python
    assert np.array_equal(found(patterns), plain.bits(plain.exp(plain.numbers(patterns))))
