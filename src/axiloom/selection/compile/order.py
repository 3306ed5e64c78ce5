"""`orders`: in which order a cover's instructions may be executed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from axiloom.graph.graph import postorder
from axiloom.selection.compile.cover import Cell, Cover, Made
from axiloom.selection.compile.target import Target, is_move, path
from axiloom.selection.compile.views import View


def orders(cover: Cover, target: Target) -> list[list[Cell]]:
    """Cells that are computed, operands first: as the cover has them, and depth first in two ways."""
    computed = [c for c, way in cover.ways.items() if isinstance(way, Made) and not is_move(way.meaning)]
    candidates = [computed]
    for needs in (partial(_needs, cover), partial(_needs_turned, cover)):
        whole = postorder(cover.results, needs)
        order = [cell for cell in whole if cell in set(computed)]
        if order not in candidates:
            candidates.append(order)
    return [_followed(cover, target, order) for order in candidates]


def _followed(cover: Cover, target: Target, order: Sequence[Cell]) -> list[Cell]:
    """What reads a memory that no move fills comes right behind what writes there: later it would be gone."""
    after: dict[Cell, list[Cell]] = defaultdict(list)
    bound: set[Cell] = set()
    for cell in order:
        way = cover.ways[cell]
        assert isinstance(way, Made)
        for need, operand in zip(way.operands, way.meaning.operands, strict=True):
            if need in order and path(cover.meanings, target.host, need[1], operand.type) is None:
                after[need].append(cell)
                bound.add(cell)
                break
    cells: list[Cell] = []
    stack = [cell for cell in reversed(order) if cell not in bound]
    while stack:
        cell = stack.pop()
        cells.append(cell)
        stack += reversed(after[cell])
    return cells if _is_order(cover, cells) else list(order)


def _is_order(cover: Cover, order: Sequence[Cell]) -> bool:
    there: set[Cell] = set()
    wanted = set(order)
    for cell in order:
        if any(
            base in wanted and base not in there
            for need in _needs(cover, cell)
            for base in _computed(cover, need)
        ):
            return False
        there.add(cell)
    return True


def _computed(cover: Cover, cell: Cell) -> list[Cell]:
    """What a cell comes from, moves and views resolved."""
    way = cover.ways[cell]
    if isinstance(way, Made) and is_move(way.meaning):
        return _computed(cover, way.operands[0])
    if isinstance(way, View):
        return [base for need in way.operands for base in _computed(cover, (need, cell[1]))]
    return [cell]


def _needs(cover: Cover, cell: Cell) -> list[Cell]:
    way = cover.ways[cell]
    if isinstance(way, Made):
        return list(way.operands)
    if isinstance(way, View):
        return [(need, cell[1]) for need in way.operands]
    return []


def _needs_turned(cover: Cover, cell: Cell) -> list[Cell]:
    return _needs(cover, cell)[::-1]
