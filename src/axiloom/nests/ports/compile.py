"""From a schedule to a circuit with one stream in and one out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import Circuit
from axiloom.nests.lower import lower
from axiloom.nests.poly import sets
from axiloom.nests.poly.checks import check_circuit
from axiloom.nests.ports.overlap import COPIES, Overlap, overlap, with_reads
from axiloom.nests.ports.packet import Packet
from axiloom.nests.ports.streams import with_ports
from axiloom.nests.ports.through import Ported, through_ports
from axiloom.nests.ports.tokens import overlapped
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing import DeadlockError, cycles

MOST = 1 << 25
"""Iterations of a statement, which are looked at one by one: 2 us and some 150 bytes each."""


@dataclass(frozen=True)
class Compiled:
    """`overlap` is None in the plain form. `deadlock`: why the overlapped form, which was asked for, would
    never end; empty if it ends."""

    circuit: Circuit
    sent: Packet
    received: Packet
    overlap: Overlap | None
    deadlock: str = ""

    @property
    def packets(self) -> tuple[Packet, Packet]:
        return self.sent, self.received


def compile_ports(
    schedule: Schedule, width: int = 64, *, plain: bool = False, copies: int = COPIES
) -> Compiled:
    """`schedule` behind ports of `width` bits. `plain`: all inputs, then the nests in turn, then all results;
    else they overlap as far as they may, and arrays that come in blocks have room for `copies` of them.

    Pipes that overlap may wait for each other forever: a block comes in only when there is room for it, and a
    nest that takes it may wait for words behind it. Whether they do depends on no speed, and the timing finds
    it: then the plain form is made. Raises CompileError for what cannot pass a port, or is too much.
    """
    check_circuit(schedule.program)
    _check_size(schedule)
    if plain:
        return _plain(schedule, width)
    compiled = _overlapped(schedule, width, copies)
    try:
        cycles(compiled.circuit)
    except DeadlockError as error:
        try:
            return replace(_plain(schedule, width), deadlock=str(error))
        except CompileError as why:
            raise CompileError(
                f"{schedule.program.name}: through a port its nests would wait for each other forever "
                f"({error}), and one after the other they cannot run: {why}"
            ) from None
    return compiled


def _check_size(schedule: Schedule) -> None:
    for placed in schedule.statements:
        points = sets.domain(placed.loops, placed.domain)
        lanes = [i for i, name in enumerate(placed.loops) if name in schedule.unrolled]
        for i in reversed(lanes):
            points = points.project_out(isl.dim_type.set, i, 1)
        count = prod(
            points.dim_max_val(i).to_python() - points.dim_min_val(i).to_python() + 1
            for i in range(points.dim(isl.dim_type.set))
        )
        if MOST < count <= 16 * MOST:  # where bounds of loops change, there are fewer
            count = points.count_val().to_python()
        if count > MOST:
            raise CompileError(
                f"{schedule.program.name}: statement {placed.statement.name} has {count:,} iterations: each "
                f"is looked at before a run, so at most {MOST:,}: take smaller sizes, or unroll loops "
                "(--schedule)"
            )


def _plain(schedule: Schedule, width: int) -> Compiled:
    ported = through_ports(schedule, width)
    return _with_ports(lower(ported.schedule).circuit, ported, None)


def _overlapped(schedule: Schedule, width: int, copies: int) -> Compiled:
    overlapping = overlap(schedule)
    groups = {name: rows for name, (rows, _) in overlapping.groups.items()}
    ported = through_ports(
        with_reads(schedule, overlapping),
        width,
        overlapping.blocks,
        overlapping.first,
        groups,
        overlapping.sets,
    )
    return _with_ports(overlapped(lower(ported.schedule), overlapping, ported, copies), ported, overlapping)


def _with_ports(circuit: Circuit, ported: Ported, overlapping: Overlap | None) -> Compiled:
    return Compiled(with_ports(circuit, ported.inputs, ported.outputs), *ported.packets, overlapping)
