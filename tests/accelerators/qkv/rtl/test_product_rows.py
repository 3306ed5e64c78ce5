"""Several rows of a product at once, against NumPy, in the cycles that are foretold; resets at any time.
`product_rows.py`, `product.py`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.accelerators.qkv import bf16_plain as plain
from tests.accelerators.qkv.rtl.device_bench import Bench, Command, packets

from axiloom.accelerators.qkv.rtl.row_memory import Geometry

N = 16
A, B, C, OUT = 0, 1024, 2048, 4096


def program(name: str) -> list[Command]:
    return [
        ("load_1", {"n": N, "out": 2, "base": A}),
        ("load_1", {"n": N, "out": 30, "base": B}),
        ("load_2", {"n": N, "out": 7, "base": C}),
        (name, {"a": 2, "b": 30, "out": 7}),
        ("store_2", {"n": N, "row": 7, "base": OUT}),
    ]


@cache
def values() -> tuple[plain.Array, ...]:
    rng = np.random.default_rng(5)
    return tuple(plain.brain(rng.normal(0, 1, (N, N))) for _ in range(3))


def _sent(bench: Bench, name: str) -> list[int]:
    simulator = bench.simulator()
    for at, each in zip((A, B, C), values(), strict=True):
        raw = plain.bits(each).astype("<u2").reshape(-1).view(np.uint8)
        simulator.state["d0"][at : at + len(raw)] = raw
    return bench.beats(program(name), simulator)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lanes", "rows"),
    [
        (4, 1),
        (4, 4),
        pytest.param(16, 2, marks=pytest.mark.slow),
        pytest.param(8, 2, marks=pytest.mark.slow),
        pytest.param(1, 16, marks=pytest.mark.slow),
    ],
)
def test_against_numpy(lanes: int, rows: int) -> None:
    """Programs, and programs that a reset stops after any number of cycles: the next one is as foretold."""
    bench = Bench("rows64", N, lanes, rows=rows)
    a, b, c = values()
    product = plain.product(a, b)
    expected = {"gemm": product, "gemm_add": plain.brain(plain.single(c + product))}
    for name, result in expected.items():
        sent = _sent(bench, name)
        total = bench.cycles.program(program(name))
        stops = range(total - 60, total, 3)
        segments = [bench.segment(sent)]
        for stop in stops:
            segments += [bench.segment(sent, stops=stop), bench.segment(sent)]
        outcomes = bench.run(segments)[::2]
        assert len(outcomes) == len(stops) + 1
        for outcome in outcomes:
            (packet,) = packets(outcome, bench.width)
            found = plain.numbers(np.frombuffer(packet, "<u2").reshape(N, N))
            assert np.array_equal(found, result)
            assert outcome.cycles == total


def test_more_rows_take_fewer_cycles() -> None:
    few, many = (
        Bench("rows64", N, 4, rows=rows).cycles.command("gemm", {"a": 0, "b": 0, "out": 0}) for rows in (1, 4)
    )
    assert 2 * many < few


@pytest.mark.parametrize(
    ("rows", "why"),
    [(3, "rows must be a power of two, not 3"), (32, "rows must be at most the 16 columns of a row, not 32")],
)
def test_wrong_rows(rows: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Geometry(N, 4, rows)


def test_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match="longer than 16 rows in 16 lanes and 4 rows at once"):
        _ = Bench("rows64", N, 16, rows=4).cycles.command("gemm", {"a": 0, "b": 0, "out": 0})
