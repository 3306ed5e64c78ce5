"""`cover`: instructions for a saturated graph: which value is made in which memory, and by what.

A cell is a value in a memory. An instruction makes it if the instruction's meaning is in the class of the
value, and reads its operands from other cells. In the host's memory a cell may also be a parameter, follow
from constants alone, or be a view of other cells (rows of an array, a reshape, arrays behind each other). A
view costs nothing: the layout of the host's memory makes it true or refuses.

`cover` chooses the cheapest cells that make the results. A cell is paid for once, however often it is read,
and a value in two memories twice. Loads, moves and stores are chosen in the same way as products.

Few ways are tried, not solved. A block of attention has a dozen cells, of which a few have two ways. The
choice for one attention took 7 ms by CP-SAT, most of it to state the problem, and takes 2 ms by trying
the ways with a bound. A part of a network that needs what it makes itself was solved as if that were
there for nothing, and then the whole was solved again: 220 of 340 ms for 49 attentions. Now a part's
results are operands within the part.

Of choices that cost the same, the one with the cheaper loads. What has no room is loaded again. A matrix
can be turned when it is stored or when it is loaded, at equal cost; turned when it is stored, each load
that comes again takes 1,026 cycles and not 4,098. CP-SAT's ties took 0.05 % more cycles over 98 random
graphs, ties by the order of ways 0.2 % more over 60 of them.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from axiloom.graph.graph import Node, postorder
from axiloom.selection.compile.offered import Offered
from axiloom.selection.compile.target import Target
from axiloom.selection.compile.views import View, view
from axiloom.selection.egraph.constants import constant_classes
from axiloom.selection.egraph.exact import improve
from axiloom.selection.egraph.extract import greedy
from axiloom.selection.egraph.problem import makeable_of, problem_of_ways
from axiloom.selection.egraph.saturated import ENode, Saturated, SaturationError
from axiloom.selection.machine.derive import Meaning

Cell: TypeAlias = tuple[int, str]
"""A class of the saturated graph, and the memory in which it is."""


@dataclass(frozen=True)
class HostValue:
    """What is in the host's memory before the program begins: a parameter, or made of constants."""

    node: ENode
    constant: bool


@dataclass(frozen=True)
class Made:
    """By an instruction, of `operands`."""

    meaning: Meaning
    operands: tuple[Cell, ...]


Way: TypeAlias = HostValue | Made | View
"""How a cell comes to be."""
_Costed: TypeAlias = tuple[int, tuple[Cell, ...], Way]
LOADS = 16
"""How finely loads of one value are told apart where choices cost the same."""


@dataclass(frozen=True)
class Cover:
    """`ways[cell]`, operands first, of the cells that are used; `results` are cells of the host."""

    saturated: Saturated
    meanings: tuple[Meaning, ...]
    ways: Mapping[Cell, Way]
    results: tuple[Cell, ...]
    cost: int
    bound: int
    """No choice from this saturated graph costs less, if each value stays where it was made."""
    seconds: float


def cover(
    saturated: Saturated, target: Target, offered: Offered | None = None, *, seconds: float = 1.0
) -> Cover:
    """The cheapest choice; greedy first, then CP-SAT for at most `seconds`. `offered`: of `saturated`.

    Raises SaturationError where nothing makes a value, with the value.
    """
    begun = time.perf_counter()
    meanings = target.instructions(saturated.types)
    ways = _Ways(saturated, target, meanings, offered).run()
    roots = tuple((root, target.host) for root in saturated.roots)
    number = {cell: i for i, cell in enumerate(ways)}
    scale = LOADS * len(ways) + 1
    rows: dict[int, list[tuple[int, tuple[int, ...], Way]]] = {
        number[cell]: [
            (scale * cost + tie, tuple(sorted({number[need] for need in needs})), way)
            for cost, needs, way, tie in _with_ties(cell, of, target.host)
            if all(need in number for need in needs)
        ]
        for cell, of in ways.items()
    }
    problem = problem_of_ways(rows, [number.get(root, -1) for root in roots])
    cells = list(ways)
    if problem is None:
        raise SaturationError(_missing(saturated, target, {cells[i] for i in makeable_of(rows)}, offered))
    chosen, cost = greedy(problem)
    bound = 0
    if all(len(way) == 1 for way in problem.ways.values()):
        bound = cost
    elif seconds > 0:
        chosen, cost, bound = improve(problem, chosen, cost, seconds)
    picked = {cells[index]: problem.ways[index][way][2] for index, way in chosen.items()}
    cost, bound = cost // scale, bound // scale
    return Cover(saturated, tuple(meanings), picked, roots, cost, bound, time.perf_counter() - begun)


def _with_ties(
    cell: Cell, of: Sequence[_Costed], host: str
) -> Iterator[tuple[int, tuple[Cell, ...], Way, int]]:
    """Each way with what decides between choices of equal cost: the cheaper load. What has no room is loaded
    again, so it is better turned when it is stored."""
    loads = [cost for cost, needs, _ in of if _is_load(cell, needs, host)]
    for cost, needs, way in of:
        tie = (LOADS - 1) * cost // max(loads) if _is_load(cell, needs, host) and any(loads) else 0
        yield cost, needs, way, tie


def _is_load(cell: Cell, needs: Sequence[Cell], host: str) -> bool:
    return cell[1] != host and bool(needs) and all(memory == host for _, memory in needs)


class _Ways:
    """All ways to make cells. A class's ways in device memories come of meanings alone."""

    def __init__(
        self, saturated: Saturated, target: Target, meanings: Sequence[Meaning], offered: Offered | None
    ) -> None:
        self.saturated, self.target, self.meanings = saturated, target, meanings
        self.offers = offered.offers if offered is not None else ()
        self.cost = {id(meaning): target.cycles(meaning) for meaning in meanings}
        self.constant = constant_classes(saturated)

    def run(self) -> dict[Cell, list[tuple[int, tuple[Cell, ...], Way]]]:
        ways: dict[Cell, list[tuple[int, tuple[Cell, ...], Way]]] = defaultdict(list)
        for eclass, nodes in enumerate(self.saturated.classes):
            type_ = self.saturated.types[eclass]
            here = eclass, self.target.host
            parameter = next((node for node in nodes if node.op == "parameter"), None)
            if parameter is not None:
                ways[here].append((0, (), HostValue(parameter, False)))
            elif eclass in self.constant:
                ways[here].append((0, (), HostValue(self.constant[eclass], True)))
            for node in nodes:
                said = view(node, [self.saturated.types[n] for n in node.operands], type_)
                if said is not None and parameter is None and eclass not in self.constant:
                    ways[here].append((0, tuple((n, self.target.host) for n in node.operands), said))
            for meaning in self.meanings:
                if meaning.result.type != type_:
                    continue
                cell = eclass, meaning.result.memory
                if ways[cell] and isinstance(ways[cell][0][2], HostValue):
                    continue
                for operands in matches(self.saturated, meaning, eclass):
                    cells = tuple(
                        (n, operand.memory) for n, operand in zip(operands, meaning.operands, strict=True)
                    )
                    if cell not in cells:
                        ways[cell].append((self.cost[id(meaning)], cells, Made(meaning, cells)))
        for offer in self.offers:
            cell = offer.made, offer.block.result.memory
            cells = tuple(
                (n, operand.memory) for n, operand in zip(offer.operands, offer.block.operands, strict=True)
            )
            if cell not in cells and not (ways[cell] and isinstance(ways[cell][0][2], HostValue)):
                ways[cell].append((self.target.cycles(offer.block), cells, Made(offer.block, cells)))
        return {cell: of for cell, of in ways.items() if of}


def matches(saturated: Saturated, meaning: Meaning, eclass: int) -> Iterator[tuple[int, ...]]:
    """Classes of the operands with which an instruction makes class `eclass`, each once."""
    seen = set()
    for bound in _match(saturated, meaning.value, eclass, {}):
        operands = tuple(bound[i] for i in range(len(meaning.operands)))
        if operands not in seen:
            seen.add(operands)
            yield operands


def _match(saturated: Saturated, node: Node, eclass: int, bound: dict[int, int]) -> Iterator[dict[int, int]]:
    if saturated.types[eclass] != node.type:
        return
    if node.op == "parameter":
        number = int(str(node.attributes["name"]))
        if bound.setdefault(number, eclass) == eclass:
            yield bound
        return
    attributes = tuple(sorted(node.attributes.items()))
    for way in saturated.classes[eclass]:
        if way.op != node.op or way.attributes != attributes:
            continue
        states = [dict(bound)]
        for child, operand in zip(way.operands, node.operands, strict=True):
            states = [
                matched for state in states for matched in _match(saturated, operand, child, dict(state))
            ]
        yield from states


def _missing(saturated: Saturated, target: Target, makeable: set[Cell], offered: Offered | None) -> str:
    """The first value of the application, operands first, that nothing makes anywhere."""
    there = {eclass for eclass, _ in makeable}
    # What a block makes on its way is not what is missing, unless nothing else is.
    for inside in (offered.inside if offered is not None else frozenset(), frozenset[int]()):
        if said := _first_missing(saturated, target, there | inside, offered):
            return said
    name = target.isa.name
    root = next(eclass for eclass in saturated.roots if (eclass, target.host) not in makeable)
    memories = sorted({memory for eclass, memory in makeable if eclass == root})
    return f"{name} makes {saturated.types[root]} in {', '.join(memories)} and cannot store it"


def _first_missing(saturated: Saturated, target: Target, there: set[int], offered: Offered | None) -> str:
    for eclass in _in_order(saturated):
        if eclass not in there:
            own = [node for node in saturated.classes[eclass] if not node.rule] or list(
                saturated.classes[eclass]
            )
            types = ", ".join(str(saturated.types[n]) for n in own[0].operands)
            where = f"{own[0].place}: " if own[0].place else ""
            makes = f"{own[0].op}({types}) : {saturated.types[eclass]}"
            return (
                f"{where}{target.isa.name} has nothing that makes {makes}{_why(eclass, saturated, offered)}"
            )
    return ""


def _why(eclass: int, saturated: Saturated, offered: Offered | None) -> str:
    """Why nothing that is offered makes it, or a value that needs it."""
    if offered is None:
        return ""
    wanted = {eclass}
    for other in _in_order(saturated):
        own = next((node for node in saturated.classes[other] if not node.rule), None)
        if own is not None and wanted & set(own.operands):
            wanted.add(other)
    return next((f"; {why}" for refused, why in offered.refused.items() if refused in wanted), "")


def _in_order(saturated: Saturated) -> Iterator[int]:
    """Classes of the application itself, operands first."""

    def needs(eclass: int) -> tuple[int, ...]:
        return next((node.operands for node in saturated.classes[eclass] if not node.rule), ())

    return postorder(saturated.roots, needs)
