"""Rows element by element: each instruction against NumPy, which shares no code with the text's simulator;
and texts that no unit is. `elementwise.py`, `units.py`, `meanings.py`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.qkv import bf16_plain as plain
from tests.accelerators.qkv.rtl.device_bench import Bench, packets, text_of

from axiloom.base.errors import SpecError

BENCH = Bench("rows64", 8, 4)
N = BENCH.columns


def _stored(bench: Bench, name: str, a: plain.Array, b: plain.Array) -> plain.Array:
    simulator = bench.simulator()
    for at, values in ((0, a), (1024, b)):
        raw = plain.bits(values).astype("<u2").reshape(-1).view(np.uint8)
        simulator.state["d0"][at : at + len(raw)] = raw
    operand = {"other": 3} if name.endswith("_rows") else {}
    commands = [
        ("load_2", {"n": N, "out": 5, "base": 0}),
        ("load_1", {"n": N, "out": 3, "base": 1024}),
        (name, {"n": N, "row": 5, **operand}),
        ("store_2", {"n": N, "row": 5, "base": 2048}),
    ]
    sent, _ = bench.beats(commands, simulator)
    (outcome,) = bench.run([bench.segment(sent)])
    (packet,) = packets(outcome, bench.width)
    return plain.numbers(np.frombuffer(packet, "<u2").reshape(N, N))


@pytest.mark.slow
def test_what_an_operation_is_comes_from_the_text() -> None:
    """The same opcode with another function is other RTL."""
    text = text_of("rows64").replace("= plus(d2[row + r, c], d1", "= larger(d2[row + r, c], d1")
    rng = np.random.default_rng(4)
    a, b = (plain.brain(rng.normal(0, 2, (N, N))) for _ in range(2))
    found = _stored(Bench("rows64", N, 4, text=text), "add_rows", a, b)
    assert np.array_equal(found, np.maximum(a, b))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("larger(d2[row + r, c], 0)", "larger(d2[row + r, c], 1)", "no unit does what relu does"),
        ("= plus(d2[row + r, c], d1", "= plus(d1[row + r, c], d1", "no unit does what add_rows does"),
        ("scaled(d2[row + r, c], d1[", "scaled(d2[row + r, c], d2[", "multiply_rows: it reads and writes d2"),
        ("= plus(d2[out + i, j]", "= plus(d2[i, j]", "no unit does what gemm_add does"),
    ],
)  # fmt: skip
def test_what_no_unit_is_is_refused(old: str, new: str, why: str) -> None:
    text = text_of("rows64")
    assert text.count(old) == 1
    with pytest.raises(SpecError, match=why):
        _ = Bench("rows64", N, 4, text=text.replace(old, new)).machine
