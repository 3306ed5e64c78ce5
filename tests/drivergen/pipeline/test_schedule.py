"""A schedule as the compiler takes it."""

from __future__ import annotations

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.pipeline.schedule import DEFAULTS, Schedule


def test_what_is_none_is_left_to_the_accelerator() -> None:
    assert DEFAULTS.options() == {}
    assert Schedule("Cs", pipeline="all").options() == {"flow": "Cs", "pipeline": "all"}


def test_the_compiler_does_as_it_says() -> None:
    asked = Schedule("As", ("m", "k", "n"), (16, 32, 16), "copying")
    (call,) = compile_mlir(matmul_mlir(64, 64, 64), isa.builtin("v4_16"), **asked.options()).calls
    assert (call.flow, call.order, call.tile) == (asked.flow, asked.order, asked.tile)
