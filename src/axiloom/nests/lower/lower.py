"""`lower`: a schedule becomes a circuit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from axiloom.base.affine import Affine
from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import (
    Circuit,
    Fifo,
    Memory,
    Operate,
    Pipe,
    Pop,
    Port,
    Push,
    Read,
    Storage,
    Write,
)
from axiloom.nests.lower.banks.layouts import BankLayout
from axiloom.nests.lower.banks.partition import demand, partition
from axiloom.nests.lower.iteration.graph import Latencies
from axiloom.nests.lower.iteration.numbers import number_bits
from axiloom.nests.lower.passing import Passing, without_pushes
from axiloom.nests.lower.passing import fifos as passed
from axiloom.nests.lower.pipe import Built, Draft, Nests, Surroundings, build, draft, register
from axiloom.nests.poly.checks import check_circuit
from axiloom.nests.program import Array, Role
from axiloom.nests.schedule import Layout, Nest, Schedule
from axiloom.nests.schedule.plan import Plan, Readers

FEW_WORDS = 4
"""A bank of so many words is registers, if nobody says otherwise; LUT RAM up to `SHALLOW`."""
SHALLOW = 128


@dataclass(frozen=True)
class Lowered:
    """`layouts`: where the elements of each array lie, by the array's name, which is its memory's name."""

    circuit: Circuit
    layouts: Mapping[str, BankLayout]
    built: tuple[Built, ...] = ()


def lower(schedule: Schedule, plan: Plan | None = None, latencies: Latencies | None = None) -> Lowered:
    """The circuit of a schedule.

    Without a plan nests run one after the other. `latencies` says which operators there are, by default all
    of ``hw/nest/operators``. Raises CompileError for what cannot be built.
    """
    if latencies is None:
        from axiloom.hw.nest.operators import latencies as known

        latencies = known
    program = schedule.program
    check_circuit(program)
    drafts = [
        draft(
            Nests(
                name,
                tuple(nest.number for nest in nests),
                program,
                tuple(statement for nest in nests for statement in nest.statements),
                schedule.unrolled,
                max(nest.interval for nest in nests),
                latencies,
                _worth,
            )
        )
        for name, nests in _pipes(schedule, plan is not None)
    ]
    used = [array for array in program.arrays if any(array.name in draft.arrays for draft in drafts)]
    layouts = {array.name: _layout(array, schedule.layouts.get(array.name), drafts) for array in used}
    for double in plan.doubles if plan is not None else ():
        layouts[double.array] = replace(layouts[double.array], copies=double.copies)
    readers = {reader.array: reader for reader in plan.readers} if plan is not None else {}
    several = {name: reader.count for name, reader in readers.items()}
    memories = {
        array.name: _memory(
            array, layouts[array.name], schedule.layouts.get(array.name), several.get(array.name, 1)
        )
        for array in used
    }
    passing = Passing()
    if plan is not None:
        bits = {array.name: number_bits(array.number) for array in used}
        passing = Passing({stream.array: stream for stream in plan.streams}, layouts, bits, plan.orders)
    ports = {array.name: memories[array.name].ports // several.get(array.name, 1) for array in used}
    around = Surroundings(layouts, memories, ports, {}, passing)
    built = [
        build(draft, replace(around, turns=_turns(draft, plan), first=_first_ports(draft, readers, ports)))
        for draft in drafts
    ]
    if plan is None:
        pipes, fifos = _in_turn(built)
        streams: tuple[tuple[Port, ...], tuple[Port, ...]] = ((), ())
    else:
        fifos, *ports_of = passed(passing, [stage.streamed for stage in built])
        names = {fifo.name for fifo in fifos}
        pipes = tuple(without_pushes(stage.pipe, names) for stage in built)
        streams = (ports_of[0], ports_of[1])
    touched = {x.memory for pipe in pipes for x in pipe.nodes if isinstance(x, (Read, Write))}
    held = [register(n, bits) for stage in built for n, (_, bits) in stage.streamed.held.items()]
    kept = tuple(memory for memory in (*memories.values(), *held) if memory.name in touched)
    circuit = Circuit(program.name, pipes, kept, fifos, *streams)
    return Lowered(circuit, layouts, tuple(built))


def _first_ports(draft: Draft, readers: Mapping[str, Readers], ports: Mapping[str, int]) -> dict[str, int]:
    """Where the ports of this pipe begin, of arrays that other pipes read at the same time."""
    return {
        name: place * ports[name]
        for name, reader in readers.items()
        for number, place in reader.places
        if number in draft.nests.numbers
    }


def _turns(draft: Draft, plan: Plan | None) -> dict[str, Affine]:
    """Which copy of a buffer this pipe uses, over its counters."""
    affines: dict[str, Affine] = {}
    for double in plan.doubles if plan is not None else ():
        turns = dict(double.turn)
        forms = {
            turns[int(member.placed.order[0])].substitute(member.counters)
            for member in draft.space.members
            if int(member.placed.order[0]) in turns
        }
        if len(forms) > 1:
            raise CompileError(
                f"buffer {double.array}: statements of {draft.nests.name} use different copies"
            )
        affines.update((double.array, form) for form in forms)
    return affines


def _worth(what: Operate) -> bool:
    """Operators that take several cycles are larger than a choice of operands."""
    return what.latency > 1


def _pipes(schedule: Schedule, tokens: bool) -> list[tuple[str, list[Nest]]]:
    """Nests that share operators stand in one pipe. With tokens, other pipes may run between them."""
    pipes: list[tuple[str, list[Nest]]] = []
    for nest in schedule.nests:
        mates = next((group for group in schedule.shared if nest.number in group), frozenset())
        pipe = next((nests for _, nests in pipes if nests[-1].number in mates), None)
        if pipe is None:
            pipes.append((f"nest{nest.number}", [nest]))
        elif tokens or pipe is pipes[-1][1]:
            pipe.append(nest)
        else:
            raise CompileError(
                f"nests {sorted(mates)} share operators, and another nest stands between them: nests that "
                "run one after the other need neighbours, or a plan"
            )
    return pipes


def _layout(array: Array, wanted: Layout | None, drafts: list[Draft]) -> BankLayout:
    if wanted is not None and wanted.partition is not None:
        return BankLayout(array.name, array.shape, wanted.partition)
    demands = [demand(array, draft.vertices, draft.guards) for draft in drafts if array.name in draft.arrays]
    return BankLayout(array.name, array.shape, partition(array, demands))


def _memory(array: Array, layout: BankLayout, wanted: Layout | None, readers: int) -> Memory:
    external = array.role is not Role.LOCAL
    storage = wanted.storage if wanted is not None else None
    if storage is None:
        if external or layout.depth > SHALLOW:
            storage = Storage.BLOCK
        else:
            storage = Storage.REGISTERS if layout.depth <= FEW_WORDS else Storage.DISTRIBUTED
    ports = (wanted.ports if wanted is not None else 1) * readers
    return Memory(array.name, number_bits(array.number), layout.banks, layout.depth, storage, ports, external)


def _in_turn(built: list[Built]) -> tuple[tuple[Pipe, ...], tuple[Fifo, ...]]:
    """Each pipe waits for the end of the one before: a token follows its last access."""
    pipes = [stage.pipe for stage in built]
    fifos: list[Fifo] = []
    for position in range(len(pipes) - 1):
        fifo = Fifo(f"{pipes[position].name}_done", 0, 1)
        fifos.append(fifo)
        before, after = built[position], built[position + 1]
        push = Push(fifo.name, None, before.draft.space.end(last=True), before.memory_slot)
        pop = Pop(fifo.name, after.draft.space.end(last=False))
        pipes[position] = replace(pipes[position], nodes=(*pipes[position].nodes, push))
        pipes[position + 1] = replace(pipes[position + 1], nodes=(*pipes[position + 1].nodes, pop))
    return tuple(pipes), tuple(fifos)
