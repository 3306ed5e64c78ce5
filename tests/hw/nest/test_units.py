# amaranth: UnusedElaboratable=no
"""Operators as modules: one for each kind, shared where nodes say so."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal
from tests.nest import model

from axiloom.hw.nest.circuit import Operate
from axiloom.hw.nest.requests import Beat, Request
from axiloom.hw.nest.units import Units

BEAT = Beat("p", 2, Signal())


def operate(units: Units, name: str, slot: int, unit: str = "", latency: int = 1) -> object:
    request = Request(BEAT, slot, (), Signal(), (Signal(32), Signal(32)))
    return units.operate(
        Operate(name, "int32", "int32", (0, 1), latency, slot, unit), f"n{slot}{name}", request
    )


def test_each_kind_is_one_module() -> None:
    units = Units(model.plain)
    found = [operate(units, "add", 0), operate(units, "add", 1), operate(units, "mul", 1)]
    assert len({id(each) for each in found}) == 3
    modules = units.modules()
    assert [*modules] == ["nest_add_int32_1", "nest_mul_int32_1"]
    assert modules["nest_add_int32_1"] == (model.plain("add", "int32", "int32", 1), (32, 32), 32)


def test_nodes_of_a_unit_have_one_result() -> None:
    units = Units(model.plain)
    assert operate(units, "add", 0, "u") is operate(units, "add", 1, "u")
    m = Module()
    units.build(m)
    assert len(m._named_submodules) == 1


def test_a_unit_is_one_kind_of_operator() -> None:
    units = Units(model.plain)
    operate(units, "add", 0, "u")
    with pytest.raises(ValueError, match="unit u is add of int32 and mul of int32"):
        operate(units, "mul", 1, "u")


def test_the_latency_is_the_operators() -> None:
    units = Units(lambda name, number, result, latency: model.plain(name, number, result, latency + 1))
    with pytest.raises(ValueError, match="add of int32 takes 2 cycles, not the circuit's 1"):
        operate(units, "add", 0)
