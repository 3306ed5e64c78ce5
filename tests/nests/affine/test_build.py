"""Schedules to IR: text before and after, and the same results whichever way it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.nests.affine import programs
from tests.nests.affine.same import same
from tests.nests.affine.text import from_text
from tests.nests.hls.host import run

from axiloom.base.errors import CompileError
from axiloom.nests.affine.build import build, to_text
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.program import Op
from axiloom.nests.program.builder import Builder
from axiloom.nests.program.values import Value, convert

NUMBERS = ("float32", "int8", "fixed<16,8>", "uint32")


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_ir_before_and_after(name: str, golden: Callable[[str, str], None]) -> None:
    number = "int16" if name == "pair_fused" else "float32"
    schedule = programs.scheduled(name, number)
    before, after = build(schedule.program), build(schedule)
    golden(f"// before\n{to_text(before)}// after\n{to_text(after)}", f"{name}.mlir")


@pytest.mark.every(4)
@pytest.mark.parametrize("name", programs.SCHEDULES)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_same_result_however_it_is_run(name: str, number: str) -> None:
    schedule = programs.scheduled(name, number)
    arrays = random_arrays(schedule.program, np.random.default_rng(1))
    expected = interpret(schedule.program, arrays, by="python")
    text = to_text(build(schedule))
    parsed = from_text(text)
    assert to_text(parsed) == text
    assert same(interpret(schedule, arrays, by="python"), expected)
    assert same(interpret(schedule, arrays, by="c"), expected)
    assert same(interpret(parsed, arrays), expected)


def test_another_order_gives_another_result() -> None:
    """What is compared above can differ: S2 before S1."""
    schedule = programs.scheduled("pair_fused", "int16")
    swapped = replace(
        schedule,
        statements=tuple(
            replace(each, order=(0, "i", place))
            for each, place in zip(schedule.statements, (1, 0), strict=True)
        ),
    )
    arrays = random_arrays(schedule.program, np.random.default_rng(1))
    for by in ("c", "python"):
        assert not same(interpret(swapped, arrays, by=by), interpret(schedule, arrays, by=by))


def test_a_product_in_a_wider_format() -> None:
    p = Builder("wide")
    X, T, Y = p.input("X", (10,), "int8"), p.local("T", (10,), "int32"), p.output("Y", (10,), "int8")
    with p.loop("i", 0, 10) as i:
        T[i] = Value(Op("mul", (X[i].expression, X[i].expression), "int32"))
    with p.loop("i", 0, 10) as i:
        Y[i] = convert(T[i], "int8")
    program = p.program()
    given = random_arrays(program, np.random.default_rng(1))
    expected = interpret(program, given, by="python")
    assert same(interpret(from_text(to_text(build(program))), given), expected)
    assert same(run(program, given), expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("affine.for", "affine.four", "affine.four"),
        ('nest.number = "int16", ', "", "an array lacks nest.name, nest.number or nest.role"),
        ("arith.addi", "arith.shli", "`arith.shli` is no operation of a scheduled program"),
        (": memref<10xi16>\n", ": memref<10xi32>\n", "i32"),
    ],
)
def test_text_that_is_no_scheduled_program_is_refused(old: str, new: str, message: str) -> None:
    text = to_text(build(programs.pair()))
    assert old in text
    with pytest.raises(CompileError, match=message):
        interpret(from_text(text.replace(old, new, 1)), {})
