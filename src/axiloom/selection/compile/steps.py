"""`Do`: one instruction of a program with its addresses, before the host's memory is laid out."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.selection.compile.cover import Cell, Cover
from axiloom.selection.compile.views import View
from axiloom.selection.machine.derive import Meaning


@dataclass(frozen=True)
class Do:
    """`addresses` of the operands, `at` of the result; None in the host's memory."""

    meaning: Meaning
    operands: tuple[Cell, ...]
    result: Cell
    addresses: tuple[int | None, ...]
    at: int | None


def base_cells(cover: Cover, cell: Cell) -> list[Cell]:
    """Cells whose bytes a cell is, views resolved."""
    way = cover.ways[cell]
    if not isinstance(way, View):
        return [cell]
    return [base for need in way.operands for base in base_cells(cover, (need, cell[1]))]
