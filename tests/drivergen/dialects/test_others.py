"""Texts of other tools are refused in one line, with their place and what to give instead."""

from __future__ import annotations

import pytest

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.mlir import parse

CASES = {
    "%0 = accel.sendLiteral %a, %b : (i32, i32) -> i32": "an op of the published accel dialect",
    "accel.init_dma %a, %a, %a, %a, %a : (i32, i32, i32, i32, i32)": "an op of the published accel dialect",
    "%0 = accel.send %A : (memref<4x4xi32>) -> i32": "an op of the published accel dialect",
    "call @dma_init(%a, %a, %a, %a, %a) : (i32, i32, i32, i32, i32) -> ()": "a call of the published DMA",
    '%0 = "tosa.conv2d"(%a, %b, %c) {pad = [0, 0]} : (i32) -> i32': "an op of tosa. Lower it to linalg",
}


@pytest.mark.parametrize("op", CASES)
def test_it_is_named_with_its_place(op: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(f"func @f() {{\n  // accel.sendLiteral in a comment is none\n  {op}\n  return\n}}\n", "f.mlir")
    message = str(caught.value)
    assert message.startswith(f"f.mlir:3:{3 + op.find(_name(op))}: {CASES[op]}")
    assert "\n" not in message


def _name(op: str) -> str:
    """Where the place points."""
    return next(part for part in ("accel.", '"tosa.', "call @") if part in op)


def test_what_only_speaks_of_it_is_read() -> None:
    parse('func.func @tosa() attributes {made_by = "tosa.conv2d"} {\n  return // tosa.add\n}\n')
