"""Copies of flip-flops and LUTs of an ECP5's netlist whose nets have many ends, so that each has a short way.

Yosys merges what is equal, so copies can only be made behind it; nextpnr makes none.

Copies of flip-flops and LUTs are made behind Yosys, because Yosys merges equal cells, and before nextpnr,
which makes no copies. There is a copy for each multiplier, for each 8 block RAMs, and for each 48 of the
other ends. The RTL keeps one register, and vendors' tools make their own copies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from axiloom.boards.ecp5.registers import IN_MULTIPLIER, MULTIPLIER

_T = TypeVar("_T")

MOST_ENDS = 48
"""Of a net that begins at a flip-flop or a LUT."""

_OUTPUTS = {"LUT4": "Z", "TRELLIS_FF": "Q"}
_APART = {MULTIPLIER: 1, "DP16KD": 8}  # cells that lie apart, and how many of them one driver reaches
_CLOCKS = "CLK", "WCK", "CLKA", "CLKB", "CLK0"
_IN_SLICE = "ALUT", "BLUT"  # of a PFUMX, in whose slice its LUTs must be: each drives nothing else


@dataclass(frozen=True)
class _End:
    cell: str
    port: str
    index: int


def copy_drivers(design: dict[str, Any], most_ends: int = MOST_ENDS) -> list[tuple[str, str]]:
    """Changes `design`, as Yosys' ``write_json`` prints a flat one; returns name and type of each copy.

    A flip-flop gets a copy for each multiplier behind it that has no registers, and any driver one for each
    few block RAMs, as those are far apart. Of what is left, a net with more than `most_ends` ends is divided;
    ends are sorted by name: those of an instance stay together. Copies are ends of what drives their inputs,
    which may then have a few more than that. What drives a clock, or must be in one slice with its end, stays
    single.
    """
    top = next(module for module in design["modules"].values() if "top" in module.get("attributes", {}))
    cells: dict[str, Any] = top["cells"]
    outside = {bit for port in top["ports"].values() if port["direction"] == "output" for bit in port["bits"]}
    free = 1 + max(_bits(top))
    copies: list[tuple[str, str]] = []
    # LUTs first: each copy of one is a further end of the flip-flops before it.
    for kind, output in _OUTPUTS.items():
        ends = _ends(cells)
        for name in [name for name, cell in cells.items() if cell["type"] == kind]:
            driver = cells[name]
            (bit,) = driver["connections"][output]
            if any(end.port in (*_IN_SLICE, *_CLOCKS) for end in ends[bit]):
                continue
            groups, rest = _divide(cells, ends[bit], most_ends, multipliers=kind == "TRELLIS_FF")
            if not rest and bit not in outside:
                groups = groups[1:]  # the first stays with the original
            for number, group in enumerate(groups):
                copy = f"{name}_copy_{number}"
                cells[copy] = driver | {"connections": driver["connections"] | {output: [free]}}
                for end in group:
                    connections = cells[end.cell]["connections"]
                    bits = list(connections[end.port])
                    bits[end.index] = free
                    connections[end.port] = bits
                top["netnames"][f"{copy}_{output}"] = {"hide_name": 1, "bits": [free], "attributes": {}}
                free += 1
                copies.append((copy, kind))
    return copies


def _divide(
    cells: dict[str, Any], ends: list[_End], most_ends: int, *, multipliers: bool
) -> tuple[list[list[_End]], list[_End]]:
    """Ends that go to copies, and those that stay."""
    rest = list(ends)
    groups: list[list[_End]] = []
    for kind, together in _APART.items():
        if kind == MULTIPLIER and not multipliers:
            continue
        of_cell: dict[str, list[_End]] = defaultdict(list)
        for end in rest:
            if cells[end.cell]["type"] == kind and IN_MULTIPLIER not in cells[end.cell]["parameters"]:
                of_cell[end.cell].append(end)
        if len(of_cell) > together:
            divided = _parts(sorted(of_cell, key=_natural), together)
            groups += [[end for name in names for end in of_cell[name]] for names in divided]
            rest = [end for end in rest if end.cell not in of_cell]
    if len(rest) > most_ends:
        groups += _parts(sorted(rest, key=lambda end: (_natural(end.cell), end.port)), most_ends)
        rest = []
    return groups, rest


def _parts(whole: list[_T], most: int) -> list[list[_T]]:
    """As few parts as have at most so many members, of about equal size."""
    size = -(-len(whole) // -(-len(whole) // most))
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def _natural(name: str) -> list[tuple[int, str]]:
    """Key that sorts names with numbers in them."""
    return [(int(part or 0), text) for text, part in re.findall(r"(\D+)(\d*)", name)]


def _ends(cells: dict[str, Any]) -> dict[int, list[_End]]:
    ends: dict[int, list[_End]] = defaultdict(list)
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"].get(port) == "input":
                for index, bit in enumerate(bits):
                    if not isinstance(bit, str):
                        ends[bit].append(_End(name, port, index))
    return ends


def _bits(top: dict[str, Any]) -> Iterable[int]:
    for group in (
        *(net["bits"] for net in top["netnames"].values()),
        *(bits for cell in top["cells"].values() for bits in cell["connections"].values()),
        [0],
    ):
        yield from (bit for bit in group if not isinstance(bit, str))
