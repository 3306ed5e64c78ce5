"""From a schedule to a circuit with one stream in and one out."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.hw.nest.circuit import Circuit
from axiloom.nests.lower import lower
from axiloom.nests.ports.overlap import COPIES, Overlap, overlap, with_reads
from axiloom.nests.ports.packet import Packet
from axiloom.nests.ports.streams import with_ports
from axiloom.nests.ports.through import through_ports
from axiloom.nests.ports.tokens import overlapped
from axiloom.nests.schedule import Schedule


@dataclass(frozen=True)
class Compiled:
    """`overlap` is None in the plain form."""

    circuit: Circuit
    sent: Packet
    received: Packet
    overlap: Overlap | None

    @property
    def packets(self) -> tuple[Packet, Packet]:
        return self.sent, self.received


def compile_ports(
    schedule: Schedule, width: int = 64, *, plain: bool = False, copies: int = COPIES
) -> Compiled:
    """`schedule` behind ports of `width` bits. `plain`: all inputs, then the nests in turn, then all results;
    else they overlap as far as they may, and arrays that come in blocks have room for `copies` of them.

    Raises CompileError for what cannot pass a port.
    """
    found = None if plain else overlap(schedule)
    if found is None:
        ported = through_ports(schedule, width)
        circuit = lower(ported.schedule).circuit
    else:
        groups = {name: rows for name, (rows, _) in found.groups.items()}
        ported = through_ports(
            with_reads(schedule, found), width, found.blocks, found.first, groups, found.sets
        )
        circuit = overlapped(lower(ported.schedule), found, ported, copies)
    circuit = with_ports(circuit, ported.inputs, ported.outputs)
    return Compiled(circuit, *ported.packets, found)
