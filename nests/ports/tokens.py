"""The overlapped form in a circuit: tokens in the place of "one after the other", and folded memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import islpy as isl

from axiloom.errors import CompileError
from axiloom.hw.nest.circuit import Circuit, Condition, Fifo, Node, Place, Pop, Push, Read, Term, Write
from axiloom.isa.affine import Affine
from axiloom.nests.lower import Lowered
from axiloom.nests.lower.banks import layouts
from axiloom.nests.lower.iteration.space import enumerate_points, holds
from axiloom.nests.lower.pipe import Built
from axiloom.nests.poly import sets
from axiloom.nests.ports.overlap import COPIES, Overlap, Wait
from axiloom.nests.ports.through import TAKE


def overlapped(lowered: Lowered, overlap: Overlap, copies: int = COPIES) -> Circuit:
    """The circuit of a schedule behind ports, of which the first nest takes arrays and the last one gives
    them; nests of `overlap` have numbers one lower. Its pipes wait for no more than they must."""
    tokens = _Tokens(lowered)
    take, *work, give = lowered.built
    if any(len(each.draft.nests.numbers) > 1 for each in lowered.built):
        raise CompileError(f"{lowered.circuit.name}: nests that share operators do not overlap")
    by_number = {each.draft.nests.numbers[0] - 1: each for each in work}
    for array, numbers in overlap.readers.items():
        copy = _copies_of(take, f"{TAKE}{array}")
        for number in numbers:
            reader = by_number[number]
            if array in overlap.blocks:
                tokens.blocks(f"{array}_{reader.pipe.name}", take, copy, reader, None)
                tokens.blocks(f"{array}_free_{reader.pipe.name}", reader, None, take, copy, copies)
            else:
                tokens.whole(f"{array}_{reader.pipe.name}", take, copy, reader)
    for one, other in combinations(by_number, 2):
        wait = overlap.waits[one, other]
        first, then = by_number[one], by_number[other]
        name = f"{first.pipe.name}_{then.pipe.name}"
        if wait is Wait.BLOCKS:
            tokens.blocks(name, first, None, then, None)
        elif wait is Wait.WHOLE:
            tokens.whole(name, first, None, then)
    for each in work:
        tokens.whole(f"{each.pipe.name}_give", each, None, give)
    if not overlap.readers:
        return tokens.circuit()
    tokens.taken_before(take, give)
    return folded(tokens.circuit(), overlap.blocks, lowered, copies)


def _copies_of(take: Built, statement: str) -> isl.Set:
    """The iterations that execute a copy statement."""
    names = take.draft.space.names
    for member in take.draft.space.members:
        if member.placed.statement.name == statement:
            points = sets.domain((*names, *member.unrolled), member.domain)
            points = points.project_out(isl.dim_type.set, len(names), len(member.unrolled))
            return points.intersect(take.draft.space.reached)
    raise CompileError(f"no statement {statement} in {take.pipe.name}")


class _Tokens:
    """Pipes with tokens between them."""

    def __init__(self, lowered: Lowered) -> None:
        self._whole = lowered.circuit
        in_turn = {
            fifo.name for fifo in lowered.circuit.fifos if fifo.bits == 0 and fifo.name.endswith("_done")
        }
        self._fifos = [fifo for fifo in lowered.circuit.fifos if fifo.name not in in_turn]
        self._nodes: dict[str, list[Node]] = {
            pipe.name: [
                node for node in pipe.nodes if not (isinstance(node, Push | Pop) and node.fifo in in_turn)
            ]
            for pipe in lowered.circuit.pipes
        }

    def circuit(self) -> Circuit:
        pipes = tuple(replace(pipe, nodes=tuple(self._nodes[pipe.name])) for pipe in self._whole.pipes)
        return replace(self._whole, pipes=pipes, fifos=tuple(self._fifos))

    def whole(self, name: str, first: Built, points: isl.Set | None, then: Built) -> None:
        """The first iteration of `then` waits for the last of `first`, of those in `points`."""
        self._fifos.append(Fifo(name, 0, 1))
        among = first.draft.space.reached if points is None else points
        self._push(first, name, among.lexmax())
        self._pop(then, name, then.draft.space.reached.lexmin())

    def taken_before(self, take: Built, give: Built) -> None:
        """Results are given when all has been taken, by a token of its own: a nest may use no input."""
        self.whole("taken", take, None, give)

    def blocks(
        self,
        name: str,
        first: Built,
        points: isl.Set | None,
        then: Built,
        others: isl.Set | None,
        initial: int = 0,
    ) -> None:
        """The first iteration of block b in `then` (of those in `others`) waits for the last one of block b -
        `initial` in `first`."""
        # As many as there are blocks: a full FIFO would hold up `first`. It is a counter.
        count = first.draft.space.ranges[first.draft.space.names[0]][1] + 1
        self._fifos.append(Fifo(name, 0, count + initial, initial))
        ends = _each(first.draft.space.reached if points is None else points, last=True)
        begins = _each(then.draft.space.reached if others is None else others, last=False)
        self._push(first, name, ends)
        self._pop(then, name, begins)

    def _push(self, pipe: Built, fifo: str, points: isl.Set) -> None:
        for when in _conditions(pipe, points):
            self._nodes[pipe.pipe.name].append(Push(fifo, None, when, pipe.memory_slot))

    def _pop(self, pipe: Built, fifo: str, points: isl.Set) -> None:
        for when in _conditions(pipe, points):
            self._nodes[pipe.pipe.name].append(Pop(fifo, when))


def _each(points: isl.Set, last: bool) -> isl.Set:
    """For each value of the first dimension the last (or first) point."""
    within = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, 1)
    extreme = within.lexmax() if last else within.lexmin()
    return extreme.wrap().flatten()


def _conditions(pipe: Built, points: isl.Set) -> list[Condition]:
    """`points` as conditions of which one holds at each of them."""
    space = pipe.draft.space
    points = (
        points.reset_tuple_id().gist(space.reached) if points.has_tuple_id() else points.gist(space.reached)
    )
    return sets.conditions(points, space.names)


# --- folded memories ---------------------------------------------------------------------------------


def folded(circuit: Circuit, blocks: Mapping[str, int], lowered: Lowered, copies: int) -> Circuit:
    """Memories of arrays that come in blocks hold `copies` blocks: block b lies where block b mod copies
    does."""
    for array, rows in blocks.items():
        layout = lowered.layouts[array]
        depth = circuit.memory(array).depth
        count = -(-layout.shape[0] // rows)
        if count <= copies:
            continue
        unit = _unit(circuit, array)
        if unit is None or unit * (count - 1) >= depth:
            raise CompileError(f"{array}: {rows} rows are no whole words in each of its banks")
        memories = tuple(
            replace(each, depth=unit * copies) if each.name == array else each for each in circuit.memories
        )
        pipes = tuple(
            replace(
                pipe,
                nodes=tuple(_fold(node, array, pipe.counters[0].name, unit, copies) for node in pipe.nodes),
            )
            for pipe in circuit.pipes
        )
        circuit = replace(circuit, memories=memories, pipes=pipes)
    return circuit


def _unit(circuit: Circuit, array: str) -> int | None:
    """Words of a bank that a block takes: how far an address goes with the outermost counter, if that is the
    same everywhere and nothing else goes that far."""
    found = set()
    for pipe in circuit.pipes:
        nodes = [node for node in pipe.nodes if isinstance(node, Read | Write) and node.memory == array]
        points = enumerate_points(pipe.counters) if nodes else {}
        for node in nodes:
            step, rest = _split(node.address, pipe.counters[0].name)
            inside = layouts.values(rest, points, pipe.iterations)[holds(node.when, points, pipe.iterations)]
            found.add(step if inside.size and inside.min() >= 0 and inside.max() < step else None)
    return found.pop() if len(found) == 1 else None


def _fold(node: Node, array: str, outer: str, unit: int, copies: int) -> Node:
    if not isinstance(node, Read | Write) or node.memory != array:
        return node
    _, rest = _split(node.address, outer)
    return replace(node, address=(Term(Affine.name(outer), unit, 1, copies), *rest))


def _split(place: Place, outer: str) -> tuple[int, Place]:
    """How far `place` goes with the counter `outer`, and the rest of it."""
    step, rest = 0, []
    for term in place:
        factor = term.value.coefficient(outer)
        if term.modulus or factor % term.divisor:
            rest.append(term)
            step += 0 if not factor else 1 << 40  # not a step
            continue
        step += term.factor * (factor // term.divisor)
        rest.append(replace(term, value=term.value - Affine.name(outer) * factor))
    return step, tuple(rest)
