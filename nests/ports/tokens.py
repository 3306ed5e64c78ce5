"""The overlapped form in a circuit: tokens in the place of "one after the other", and folded memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from axiloom.nests.ports.through import LOOP
from axiloom.nests.program import Array, loads


def overlapped(lowered: Lowered, overlap: Overlap, arrays: Sequence[Array], copies: int = COPIES) -> Circuit:
    """The circuit of a schedule behind ports, of which the first nest takes arrays and the last one gives
    them; nests of `overlap` have numbers one lower. Its pipes wait for no more than they must. `arrays`: the
    user's, with their roles; `copies`: blocks of one that is only given, at most."""
    tokens = _Tokens(lowered)
    take, *work, give = lowered.built
    if any(len(each.draft.nests.numbers) > 1 for each in lowered.built):
        raise CompileError(f"{lowered.circuit.name}: nests that share operators do not overlap")
    by_number = {each.draft.nests.numbers[0] - 1: each for each in work}
    roles = {array.name: array.role for array in arrays}
    room = {array.name: overlap.copies(array, copies) for array in arrays if array.name in overlap.blocks}
    for array, numbers in overlap.readers.items():
        copy = _uses(take, array)
        for number in numbers:
            reader = by_number[number]
            name = f"{array}_{reader.pipe.name}"
            used = _in_each_block(reader, array) if array in overlap.blocks else None
            if array in overlap.groups:
                tokens.groups(name, take, copy, reader, _uses(reader, array), overlap.groups[array][1])
            elif array in overlap.blocks:
                tokens.blocks(name, take, copy, reader, used)
                if not roles[array].is_result:
                    free = f"{array}_free_{reader.pipe.name}"
                    tokens.blocks(free, reader, used, take, copy, room[array])
            else:
                tokens.whole(name, take, copy, reader)
    for one, other in combinations(by_number, 2):
        wait = overlap.waits[one, other]
        first, then = by_number[one], by_number[other]
        name = f"{first.pipe.name}_{then.pipe.name}"
        if wait is Wait.BLOCKS:
            tokens.blocks(name, first, None, then, None)
        elif wait is Wait.WHOLE:
            tokens.whole(name, first, None, then)
    for array in overlap.results:
        writer = next(each for each in work if array in each.draft.arrays)
        used, gone = _in_each_block(writer, array), _uses(give, array)
        tokens.blocks(f"{array}_give", writer, used, give, gone)
        first, filled = (take, _uses(take, array)) if roles[array].is_given else (writer, used)
        tokens.blocks(f"{array}_gone", give, gone, first, filled, room[array])
    end = _block(give, last=True) if overlap.results else give.draft.space.reached
    for each in work:
        tokens.whole(f"{each.pipe.name}_give", each, None, give, end)
    if not overlap.readers:
        return tokens.circuit()
    tokens.taken_before(take, give, end)
    return folded(tokens.circuit(), overlap, lowered, room)


def _uses(pipe: Built, array: str) -> isl.Set:
    """The iterations that use an array."""
    space = pipe.draft.space
    found = isl.Set.empty(space.reached.get_space())
    for member in space.members:
        statement = member.placed.statement
        if array in (each.array for each in (statement.target, *loads(statement.value))):
            points = sets.domain((*space.names, *member.unrolled), member.domain)
            found = found.union(points.project_out(isl.dim_type.set, len(space.names), len(member.unrolled)))
    return found.intersect(space.reached).coalesce()


def _in_each_block(pipe: Built, array: str) -> isl.Set:
    """The iterations that use an array; all of them if there are blocks that do not."""
    used, reached = _uses(pipe, array), pipe.draft.space.reached
    blocks = [
        points.project_out(isl.dim_type.set, 1, points.dim(isl.dim_type.set) - 1) for points in (used, reached)
    ]
    return used if blocks[0].is_equal(blocks[1]) else reached


def _block(pipe: Built, last: bool) -> isl.Set:
    """The iterations of the last block, or of the first."""
    reached = pipe.draft.space.reached
    value = reached.dim_max_val(0) if last else reached.dim_min_val(0)
    return reached.fix_val(isl.dim_type.set, 0, value)


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

    def whole(
        self, name: str, first: Built, points: isl.Set | None, then: Built, others: isl.Set | None = None
    ) -> None:
        """The first iteration of `then` (of those in `others`) waits for the last of `first`, of those in
        `points`."""
        self._fifos.append(Fifo(name, 0, 1))
        among = first.draft.space.reached if points is None else points
        self._push(first, name, among.lexmax())
        self._pop(then, name, (then.draft.space.reached if others is None else others).lexmin())

    def taken_before(self, take: Built, give: Built, end: isl.Set) -> None:
        """The `end` of the results is given when all has been taken, by a token of its own: a nest may use no
        input."""
        self.whole("taken", take, None, give, end)

    def groups(
        self, name: str, take: Built, copy: isl.Set, reader: Built, used: isl.Set, loop: str
    ) -> None:
        """In the first block of `reader` the first iteration with a value of `loop` waits for the copy of a
        group."""
        mine, its = _depth(take, copy, f"{LOOP}1"), _depth(reader, used, loop)
        ends = _each(copy, mine, last=True)
        self._fifos.append(Fifo(name, 0, int(ends.count_val().to_python())))
        self._push(take, name, ends)
        self._pop(reader, name, _each(used.intersect(_block(reader, last=False)), its, last=False))

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
        ends = _each(first.draft.space.reached if points is None else points, 1, last=True)
        begins = _each(then.draft.space.reached if others is None else others, 1, last=False)
        self._push(first, name, ends)
        self._pop(then, name, begins)

    def _push(self, pipe: Built, fifo: str, points: isl.Set) -> None:
        for when in _conditions(pipe, points):
            self._nodes[pipe.pipe.name].append(Push(fifo, None, when, pipe.memory_slot))

    def _pop(self, pipe: Built, fifo: str, points: isl.Set) -> None:
        for when in _conditions(pipe, points):
            self._nodes[pipe.pipe.name].append(Pop(fifo, when))


def _depth(pipe: Built, points: isl.Set, loop: str) -> int:
    """How many counters there are down to `loop`, of the statement that has `points`."""
    for member in pipe.draft.space.members:
        counter = member.counters.get(loop)
        if counter is not None and counter.terms:
            return pipe.draft.space.names.index(counter.terms[0][0]) + 1
    raise CompileError(f"{pipe.pipe.name} has no loop {loop}")


def _each(points: isl.Set, outer: int, last: bool) -> isl.Set:
    """For each value of the first `outer` dimensions the last (or first) point."""
    within = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
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


def folded(circuit: Circuit, overlap: Overlap, lowered: Lowered, room: Mapping[str, int]) -> Circuit:
    """Memories of arrays that come in blocks have `room` for some: block b lies where block b mod room does.

    Of what comes only, in the same banks; of results, in banks of its own: one is written while another is
    worked on."""
    for array, rows in overlap.blocks.items():
        memory, copies, apart = circuit.memory(array), room[array], array in overlap.results
        count = -(-lowered.layouts[array].shape[0] // rows)
        if count <= copies and not apart:
            continue
        unit = _unit(circuit, array)
        if unit is None or unit * (count - 1) >= memory.depth:
            raise CompileError(f"{array}: {rows} rows are no whole words in each of its banks")
        smaller = replace(memory, depth=unit * (1 if apart else copies), banks=memory.banks * (copies if apart else 1))
        memories = tuple(smaller if each.name == array else each for each in circuit.memories)
        pipes = tuple(
            replace(
                pipe,
                nodes=tuple(
                    _fold(node, array, pipe.counters[0].name, unit, copies, memory.banks if apart else 0)
                    for node in pipe.nodes
                ),
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


def _fold(node: Node, array: str, outer: str, unit: int, copies: int, banks: int) -> Node:
    """`banks` of a block, or 0 for all blocks in the same ones."""
    if not isinstance(node, Read | Write) or node.memory != array:
        return node
    _, rest = _split(node.address, outer)
    turn = Term(Affine.name(outer), banks or unit, 1, copies)
    if banks:
        return replace(node, bank=(turn, *node.bank), address=rest)
    return replace(node, address=(turn, *rest))


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
