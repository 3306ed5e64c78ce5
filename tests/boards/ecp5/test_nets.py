"""Drivers and ends of nets in a small netlist."""

from __future__ import annotations

from typing import Any

import pytest

from axiloom.boards.ecp5.nets import Nets


def cell(inputs: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        "port_directions": dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output"),
        "connections": inputs | outputs,
    }


@pytest.fixture
def nets() -> Nets:
    """in (2) -> a -> 10 -> b.D, c.D and out; b -> 11 -> c.E alone; c -> 12 to nowhere, 13 to out alone."""
    cells = {
        "a": cell({"D": [2, "0"]}, {"Q": [10]}),
        "b": cell({"D": [10, "x"]}, {"Q": [11]}),
        "c": cell({"D": [10], "E": [11]}, {"Q": [12, 13]}),
    }
    ports = {"in": {"direction": "input", "bits": [2]}, "out": {"direction": "output", "bits": [10, 13, "1"]}}
    top = {"attributes": {"top": 1}, "cells": cells, "ports": ports}
    return Nets({"modules": {"other": {"attributes": {}, "cells": {}, "ports": {}}, "top": top}})


def test_drivers_and_ends(nets: Nets) -> None:
    assert nets.drivers == {10: "a", 11: "b", 12: "c", 13: "c"}
    assert {bit: ends for bit, ends in nets.ends.items() if ends} == {
        2: [("a", "D")],
        10: [("b", "D"), ("c", "D")],
        11: [("c", "E")],
    }


def test_what_is_used(nets: Nets) -> None:
    assert [nets.used(bit) for bit in (2, 10, 11, 12, 13)] == [True, True, True, False, True]


def test_the_only_end(nets: Nets) -> None:
    assert nets.only_end(11, "E") == "c"
    assert nets.only_end(11, "D") == "", "another port"
    assert nets.only_end(10, "D") == "", "two ends"
    assert nets.only_end(12, "D") == "", "none"
    assert nets.only_end(13, "D") == "", "it leaves the design"
    nets.ends[10].pop()
    assert nets.only_end(10, "D") == "", "it leaves the design, too"
