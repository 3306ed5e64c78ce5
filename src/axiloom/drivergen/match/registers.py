"""Accesses to the device's registers, as a trait has them: texts with addresses and values.

Of operands that registers carry the value is 0, and the first word says how: ``elements``, ``pointer``.

An operand by registers is still an operand. ``write(taps, H)`` and ``send(A, a)`` are a send of H and A,
with a note how they travel. So matching, tiling and the reference know nothing of registers; the pass
that places transfers does. Pointers point at the caller's arrays where a tile is whole lines of them. A
tile that is padded, transposed or a part of rows goes through a window, which is right for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.isa.contract.rtl import REGISTERS_AT
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Access, WriteRegister


def registers(spec: AcceleratorSpec) -> dict[str, str]:
    """``mm before`` and ``mm after`` to ``write 0x8010 4; wait 0x8004 2``, addresses from the DMA's.

    ``mm of H`` to ``elements 0x8020 0``, of an operand of mm.
    """
    places = {}
    for name, opcode in spec.opcodes.items():
        for carried in opcode.carried:
            at = REGISTERS_AT + spec.link.rtl.registers[carried.register]
            places[f"{name} of {carried.operand}"] = (
                f"{'pointer' if carried.pointer else 'elements'} {at:#x} 0"
            )
    for name, (before, after) in spec.accesses.items():
        for where, accesses in (("before", before), ("after", after)):
            if accesses:
                places[f"{name} {where}"] = _text(spec, accesses)
    return places


def read(text: str) -> Iterator[tuple[str, int, int]]:
    """``write``, ``wait``, ``elements`` or ``pointer``, address, and value or mask."""
    for access in text.split("; "):
        what, at, value = access.split()
        yield what, int(at, 16), int(value)


def _text(spec: AcceleratorSpec, accesses: Sequence[Access]) -> str:
    sizes = dict(zip(spec.dims, spec.tile.size, strict=True))
    texts = []
    for access in accesses:
        at = REGISTERS_AT + spec.link.rtl.registers[access.register]
        if isinstance(access, WriteRegister):
            value = sizes[access.value] if isinstance(access.value, str) else access.value
            texts.append(f"write {at:#x} {value}")
        else:
            texts.append(f"wait {at:#x} {access.mask}")
    return "; ".join(texts)
