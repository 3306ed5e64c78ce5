"""Folded memories: of an array that is used in blocks they hold some, and not the whole array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import Circuit, Node, Pipe, Place, Read, Term, Write
from axiloom.nests.lower.banks import layouts
from axiloom.nests.lower.iteration.space import enumerate_points, holds


@dataclass(frozen=True)
class Fold:
    """Block b of `array` lies where block b mod `room` does. `outer`: the counter whose value, less the
    number beside it, is the block, by the names of the pipes that use the array. `apart`: each of the `room`
    has banks of its own: one is written while another is worked on."""

    array: str
    count: int
    room: int
    outer: Mapping[str, tuple[str, int]]
    apart: bool = False


def folded(circuit: Circuit, fold: Fold) -> Circuit:
    """`circuit` with one memory folded. Raises CompileError if a block is no whole words in each bank."""
    memory = circuit.memory(fold.array)
    if fold.count <= fold.room and not fold.apart:
        return circuit
    unit = _unit(circuit, fold)
    if unit is None or unit * (fold.count - 1) >= memory.depth:
        raise CompileError(
            f"{fold.array}: its {fold.count} blocks of rows are no whole words in each of its banks"
        )
    smaller = (
        replace(memory, depth=unit, banks=memory.banks * fold.room)
        if fold.apart
        else replace(memory, depth=unit * fold.room)
    )
    memories = tuple(smaller if memory.name == fold.array else memory for memory in circuit.memories)
    banks = memory.banks if fold.apart else 0
    pipes = tuple(
        replace(pipe, nodes=tuple(_fold(node, pipe, fold, unit, banks) for node in pipe.nodes))
        for pipe in circuit.pipes
    )
    return replace(circuit, memories=memories, pipes=pipes)


def tightest(circuit: Circuit, fold: Fold) -> Circuit:
    """`circuit` with the memory of an array of one pipe folded to one block, or two: so that accesses of two
    blocks to one place come in the order of the blocks."""
    for room in (1, 2):
        candidate = folded(circuit, replace(fold, room=room))
        if _in_order(candidate, fold):
            return candidate
    return circuit


def _unit(circuit: Circuit, fold: Fold) -> int | None:
    """Words of a bank that a block takes: how far an address goes with the outermost counter, if that is the
    same everywhere and nothing else goes that far."""
    steps = set()
    for pipe in circuit.pipes:
        nodes = [node for node in pipe.nodes if isinstance(node, Read | Write) and node.memory == fold.array]
        points = enumerate_points(pipe.counters) if nodes else {}
        for node in nodes:
            step, rest = _split(node.address, *fold.outer[pipe.name])
            inside = layouts.values(rest, points, pipe.iterations)[holds(node.when, points, pipe.iterations)]
            steps.add(step if inside.size and inside.min() >= 0 and inside.max() < step else None)
    return steps.pop() if len(steps) == 1 else None


def _fold(node: Node, pipe: Pipe, fold: Fold, unit: int, banks: int) -> Node:
    """`banks` of a block, or 0 for all blocks in the same ones."""
    if not isinstance(node, Read | Write) or node.memory != fold.array:
        return node
    outer, first = fold.outer[pipe.name]
    _, rest = _split(node.address, outer, first)
    if fold.room == 1:
        return replace(node, address=rest)
    turn = Term(Affine.name(outer) - first, banks or unit, 1, fold.room)
    if banks:
        return replace(node, bank=(turn, *node.bank), address=rest)
    return replace(node, address=(turn, *rest))


def _split(place: Place, outer: str, first: int) -> tuple[int, Place]:
    """How far `place` goes with the counter `outer`, and the rest of it: what it is where that is `first`."""
    step, rest = 0, []
    for term in place:
        factor = term.value.coefficient(outer)
        if term.modulus or factor % term.divisor:
            rest.append(term)
            step += 0 if not factor else 1 << 40  # not a step
            continue
        step += term.factor * (factor // term.divisor)
        rest.append(replace(term, value=term.value.substitute({outer: first})))
    return step, tuple(rest)


def _in_order(circuit: Circuit, fold: Fold) -> bool:
    """Whether accesses of two blocks to one place, one of them a write, come in the order of the blocks.

    An iteration touches memories up to `last_slot` cycles after its issue: only so near to each other can
    two be in the wrong order."""
    (pipe,) = (pipe for pipe in circuit.pipes if pipe.name in fold.outer)
    counter, _ = fold.outer[pipe.name]
    points = enumerate_points(pipe.counters)
    size, near = pipe.iterations, pipe.last_slot + 1
    block = points[counter]
    nodes = [node for node in pipe.nodes if isinstance(node, Read | Write) and node.memory == fold.array]
    depth = circuit.memory(fold.array).depth
    touched = []
    for node in nodes:
        place = layouts.values(node.bank, points, size) * depth + layouts.values(node.address, points, size)
        touched.append((place, holds(node.when, points, size), node))
    for change in map(int, np.flatnonzero(np.diff(block))):
        before = np.arange(max(0, change + 1 - near), change + 1)
        after = np.arange(change + 1, min(size, change + 1 + near))
        for one_place, one_holds, access in touched:
            for other_place, other_holds, other in touched:
                if isinstance(access, Read) and isinstance(other, Read):
                    continue
                early, late = before[one_holds[before]], after[other_holds[after]]
                same = one_place[early][:, None] == other_place[late][None, :]
                gap = (late[None, :] - early[:, None]) * pipe.interval + other.slot - access.slot
                # A read sees what was written in cycles before; a write in the same cycle comes after it.
                least = 0 if isinstance(access, Read) else 1
                if (same & (gap < least)).any():
                    return False
    return True
