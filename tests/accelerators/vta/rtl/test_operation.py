# amaranth: UnusedElaboratable=no
"""One lane of the ALU against integers of Python: corners and random operands."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom.accelerators.vta.rtl import operation
from axiloom.accelerators.vta.rtl.meanings import ADD, MAX, MIN, MUL, SHR

CORNERS = [0, 1, -1, 15, 16, -16, -17, 31, 0x7FFF_FFFF, -0x8000_0000, 0x1234_5678, -0x6543_2100]


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def expected(code: int, a: int, b: int) -> int:
    by = (b + 16) % 32 - 16
    return {
        MIN: min(a, b),
        MAX: max(a, b),
        ADD: wrapped(a + b),
        SHR: a >> by if by >= 0 else wrapped(a << -by),
        MUL: wrapped(a * b),
    }[code]


def differences(operands: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    unit, found = operation.Operation(multiplies=True), []

    async def drive(ctx: Any) -> None:
        for place, (a, b) in enumerate(operands + [(0, 0)] * operation.LATENCY):
            ctx.set(unit.a, a)
            ctx.set(unit.b, b)
            for code in (MIN, MAX, ADD, SHR):
                ctx.set(unit.code, code)
                if wrapped(ctx.get(unit.value)) != expected(code, a, b):
                    found.append((code, a, b))
            if place >= operation.LATENCY:
                before = operands[place - operation.LATENCY]
                if wrapped(ctx.get(unit.product)) != expected(MUL, *before):
                    found.append((MUL, *before))
            await ctx.tick()

    simulate(unit, drive)
    return found


def test_operations() -> None:
    rng = random.Random(1)
    pairs = list(itertools.product(CORNERS, CORNERS))
    pairs += [(rng.randrange(-1 << 31, 1 << 31), rng.randrange(-1 << 31, 1 << 31)) for _ in range(500)]
    assert differences(pairs) == []


def test_a_wrong_lane_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list(itertools.product(CORNERS, CORNERS))
    shifted = operation._shifted
    monkeypatch.setattr(operation, "_shifted", lambda a, b: shifted(a, b & 15))
    assert {code for code, _, _ in differences(pairs)} == {SHR}


def test_without_a_multiplier() -> None:
    unit = operation.Operation(multiplies=False)
    assert not hasattr(unit, "product")
    assert not unit.multiplies
