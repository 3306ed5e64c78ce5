"""The overlapped form in a circuit: tokens in the place of "one after the other", and folded memories."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import islpy as isl

from axiloom.hw.nest.circuit import Circuit, Condition, Fifo, Node, Pop, Push
from axiloom.nests.lower import Lowered
from axiloom.nests.lower.pipe import Built
from axiloom.nests.poly import sets
from axiloom.nests.ports.folds import Fold, folded, tightest
from axiloom.nests.ports.overlap import COPIES, Overlap, Wait
from axiloom.nests.ports.phase import Phase, extremes
from axiloom.nests.ports.through import LOOP, Ported


def overlapped(lowered: Lowered, overlap: Overlap, ported: Ported, copies: int = COPIES) -> Circuit:
    """The circuit of a schedule behind ports, of which the first nest takes arrays and the last one gives
    them; nests of `overlap` have numbers one lower. Its pipes wait for no more than they must. `copies`:
    blocks of an array that is only given, at most."""
    tokens = _Tokens(lowered)
    built = lowered.built
    take, give = Phase(built[0], 0), Phase(built[-1], built[-1].draft.nests.numbers[0])
    nests = {
        number - 1: Phase(pipe, number) for pipe in built[1:-1] for number in sorted(pipe.draft.nests.numbers)
    }
    arrays = {part.array.name: part.array for packet in ported.packets for part in packet.parts}
    room = {name: overlap.copies(arrays[name], copies) for name in overlap.blocks}
    for array, numbers in overlap.readers.items():
        copy = take.uses(array)
        for number in numbers:
            reader = nests[number]
            name = f"{array}_{reader.name}"
            if array in overlap.groups:
                tokens.groups(name, take, copy, reader, array, overlap.groups[array][1])
            elif array in overlap.blocks:
                used = reader.in_each_block(array)
                tokens.blocks(name, take, copy, reader, used)
                if not arrays[array].role.is_result:
                    tokens.blocks(f"{array}_free_{reader.name}", reader, used, take, copy, room[array])
            else:
                tokens.whole(name, take, copy, reader)
    for earlier, other in combinations(nests, 2):
        wait = overlap.waits[earlier, other]
        first, then = nests[earlier], nests[other]
        if first.built is then.built:
            continue  # within a pipe the order of iterations says it all
        name = f"{first.name}_{then.name}"
        if wait is Wait.BLOCKS:
            tokens.blocks(name, first, first.points, then, then.points)
        elif wait is Wait.WHOLE:
            tokens.whole(name, first, None, then)
    for array in overlap.results:
        writer = next(nest for nest in nests.values() if not nest.uses(array).is_empty())
        used, gone = writer.in_each_block(array), give.uses(array)
        tokens.blocks(f"{array}_give", writer, used, give, gone)
        first, filled = (take, take.uses(array)) if arrays[array].role.is_given else (writer, used)
        tokens.blocks(f"{array}_gone", give, gone, first, filled, room[array])
    end = give.block(last=True) if overlap.results else give.points
    for pipe in built[1:-1]:
        last = Phase(pipe, max(pipe.draft.nests.numbers))
        tokens.whole(f"{pipe.pipe.name}_give", last, None, give, end)
    if not overlap.readers:
        return tokens.circuit()
    tokens.taken_before(take, give, end)
    circuit = tokens.circuit()
    for array in (*overlap.blocks, *overlap.private):
        if array in {memory.name for memory in circuit.memories}:
            users = [phase for phase in (take, *nests.values(), give) if not phase.uses(array).is_empty()]
            outer = {
                user.built.pipe.name: (user.outer, ported.turns.get(array, 0) if user is take else 0)
                for user in users
            }
            count = -(-lowered.layouts[array].shape[0] // {**overlap.blocks, **overlap.private}[array])
            fold = Fold(array, count, room.get(array, 1), outer, array in overlap.results)
            circuit = tightest(circuit, fold) if array in overlap.private else folded(circuit, fold)
    return circuit


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
        self, name: str, first: Phase, points: isl.Set | None, then: Phase, others: isl.Set | None = None
    ) -> None:
        """The first iteration of `then` (of those in `others`) waits for the last of `first`, of those in
        `points`."""
        self._fifos.append(Fifo(name, 0, 1))
        self._push(first, name, (first.points if points is None else points).lexmax())
        self._pop(then, name, (then.points if others is None else others).lexmin())

    def taken_before(self, take: Phase, give: Phase, end: isl.Set) -> None:
        """The `end` of the results is given when all has been taken, by a token of its own: a nest may use no
        input."""
        self.whole("taken", take, None, give, end)

    def groups(self, name: str, take: Phase, copy: isl.Set, reader: Phase, array: str, loop: str) -> None:
        """In the first block of `reader` the first iteration with a value of `loop` waits for the copy of a
        group."""
        ends = extremes(copy, take.down_to(f"{LOOP}1", array), last=True)
        used = reader.uses(array).intersect(reader.block(last=False))
        self._fifos.append(Fifo(name, 0, int(ends.count_val().to_python())))
        self._push(take, name, ends)
        self._pop(reader, name, extremes(used, reader.down_to(loop, array), last=False))

    def blocks(
        self, name: str, first: Phase, points: isl.Set, then: Phase, others: isl.Set, initial: int = 0
    ) -> None:
        """The first iteration of block b in `then` (of those in `others`) waits for the last one of block b -
        `initial` in `first` (of those in `points`)."""
        ends = extremes(points, first.depth, last=True)
        # As many as there are blocks: a full FIFO would hold up `first`. It is a counter.
        count = int(ends.count_val().to_python())
        self._fifos.append(Fifo(name, 0, count + initial, initial))
        self._push(first, name, ends)
        self._pop(then, name, extremes(others, then.depth, last=False))

    def _push(self, phase: Phase, fifo: str, points: isl.Set) -> None:
        for when in _conditions(phase.built, points):
            self._nodes[phase.built.pipe.name].append(Push(fifo, None, when, phase.built.memory_slot))

    def _pop(self, phase: Phase, fifo: str, points: isl.Set) -> None:
        for when in _conditions(phase.built, points):
            self._nodes[phase.built.pipe.name].append(Pop(fifo, when))


def _conditions(pipe: Built, points: isl.Set) -> list[Condition]:
    """`points` as conditions of which one holds at each of them."""
    space = pipe.draft.space
    points = (
        points.reset_tuple_id().gist(space.reached) if points.has_tuple_id() else points.gist(space.reached)
    )
    return sets.conditions(points, space.names)
