"""Copies in a netlist: every end still has a driver like its own, no net has too many ends."""

from __future__ import annotations

from collections import Counter
from typing import Any

from axiloom.boards.ecp5.copies import copy_drivers


def cell(kind: str, inputs: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> dict[str, Any]:
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {
        "type": kind,
        "parameters": {},
        "port_directions": directions,
        "connections": inputs | outputs,
    }


def design() -> dict[str, Any]:
    """A flip-flop (net 10) to 3 multipliers, 2 ends each, and 5 LUTs; a LUT (11) to 9 flip-flops and out."""
    cells = {"source": cell("TRELLIS_FF", {"DI": [2], "CLK": [3]}, {"Q": [10]})}
    for number in range(3):
        cells[f"mult_{number}"] = cell("MULT18X18D", {"A0": [10], "A1": [10], "B0": ["0"]}, {})
    for number in range(5):
        cells[f"lut_{number}"] = cell("LUT4", {"A": [10]}, {"Z": [20 + number]})
    cells["wide"] = cell("LUT4", {"A": [2]}, {"Z": [11]})
    for number in range(9):
        cells[f"ff_{number}"] = cell("TRELLIS_FF", {"DI": [11], "CLK": [3]}, {"Q": [30 + number]})
    ports = {"out": {"direction": "output", "bits": [11]}, "in": {"direction": "input", "bits": [2, 3]}}
    return {"modules": {"top": {"attributes": {"top": 1}, "cells": cells, "ports": ports, "netnames": {}}}}


def test_every_end_keeps_a_driver_of_its_kind() -> None:
    made = design()
    # The multipliers' three copies; the LUT's nine ends in three copies, as the port keeps the original.
    copies = copy_drivers(made, most_ends=4)
    assert Counter(kind for _, kind in copies) == {"TRELLIS_FF": 2 + 1 + 1, "LUT4": 3}
    assert {name for name, _ in copies} <= set(made["modules"]["top"]["cells"])
    cells = made["modules"]["top"]["cells"]
    drivers = {
        bits[0]: name
        for name, one in cells.items()
        for port, bits in one["connections"].items()
        if one["port_directions"][port] == "output"
    }
    before = design()["modules"]["top"]["cells"]
    ends: Counter[int] = Counter()
    for name, one in before.items():
        for port, bits in one["connections"].items():
            for index, bit in enumerate(bits):
                now = cells[name]["connections"][port][index]
                if one["port_directions"][port] == "output":
                    assert now == bit
                elif bit in (10, 11):
                    ends[now] += 1
                    driver, original = cells[drivers[now]], before["source" if bit == 10 else "wide"]
                    assert driver["type"] == original["type"]
                    for inputs in ("DI", "CLK", "A"):
                        assert driver["connections"].get(inputs) == original["connections"].get(inputs)
                else:
                    assert now == bit
    assert max(ends.values()) <= 4
    for number in range(3):
        (only,) = {bit for port in ("A0", "A1") for bit in cells[f"mult_{number}"]["connections"][port]}
        assert ends[only] == 2


def test_what_drives_a_clock_stays_single() -> None:
    made = design()
    cells = made["modules"]["top"]["cells"]
    for number in range(9):
        cells[f"ff_{number}"]["connections"]["CLK"] = [11]
    assert {kind for _, kind in copy_drivers(made, most_ends=4)} == {"TRELLIS_FF"}


def test_few_block_rams_have_a_driver() -> None:
    made = design()
    cells = made["modules"]["top"]["cells"]
    for number in range(20):
        cells[f"ram_{number}"] = cell("DP16KD", {"ADA0": [11], "ADB0": [11]}, {})
    copies = copy_drivers(made)
    assert Counter(kind for _, kind in copies) == {"TRELLIS_FF": 3, "LUT4": 3}
    drivers = [cells[f"ram_{number}"]["connections"] for number in range(20)]
    assert all(ports["ADA0"] == ports["ADB0"] for ports in drivers)
    assert sorted(Counter(ports["ADA0"][0] for ports in drivers).values()) == [6, 7, 7]


def test_only_what_shares_a_slice_with_its_end_stays_single() -> None:
    made = design()
    cells = made["modules"]["top"]["cells"]
    cells["mux"] = cell("PFUMX", {"ALUT": [20], "BLUT": [21], "C0": [11]}, {"Z": [50]})
    assert {kind for _, kind in copy_drivers(made, most_ends=4)} == {"TRELLIS_FF", "LUT4"}

    made = design()
    made["modules"]["top"]["cells"]["mux"] = cell("PFUMX", {"ALUT": [11], "BLUT": [21]}, {"Z": [50]})
    assert {kind for _, kind in copy_drivers(made, most_ends=4)} == {"TRELLIS_FF"}
