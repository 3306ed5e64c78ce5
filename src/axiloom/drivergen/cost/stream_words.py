"""What an op moves over the streams, before anything is placed: are they slower than the array?"""

from __future__ import annotations

from math import prod

from xdsl.dialects.linalg import ops as linalg

from axiloom.drivergen.dialects.accel import DenseAttr, tile_words
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.drivergen.match.matmul import sizes, terms
from axiloom.drivergen.match.trait import Trait
from axiloom.isa.contract.types import Recv, Send


def stream_words(op: linalg.GenericOp, trait: Trait) -> tuple[int, int]:
    """Words to the accelerator and from it, without literals and sizes.

    A tile is sent again only where a loop has changed it (residency). Where a convolution is cut into
    pieces at the borders of its image, these are less by some rows.
    """
    trips = {loop: -(-count // trait.tile[loop]) for loop, count in enumerate(sizes(op))}
    sent = received = 0
    for name, depth in trait.flow.opcodes():
        around = trait.order[: len(trait.order) - trait.flow.depth + depth]
        for action in trait.opcodes[name]:
            if not isinstance(action, Send | Recv):
                continue
            number = trait.operand(action.operand)
            indices = op.indexing_maps.data[number].data.results
            moving = {loop for index in indices for loop in terms(index)}
            words = _tile(op, trait, number)
            if isinstance(action, Recv):  # what a device saves comes at once, behind the loops over it
                received += words * prod(trips[loop] for loop in {*around, *(moving & {*trait.order})})
            else:
                last = max((n for n, loop in enumerate(around) if loop in moving), default=-1)
                sent += words * prod(trips[loop] for loop in around[: last + 1])
    return sent, received


def _tile(op: linalg.GenericOp, trait: Trait, number: int) -> int:
    kind = op.operands[number].type
    operand = trait.operands[number]
    name = operand.operand
    dense = DenseAttr((trait.dense[name], trait.stream_width)) if name in trait.dense else None
    return int(tile_words(trait.tile_of(operand), element_bits(kind), dense))
