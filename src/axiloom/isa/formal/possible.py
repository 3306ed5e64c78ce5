"""Instructions that can never be legal: faults of a text, found without z3 too, if not all of them."""

from __future__ import annotations

from axiloom.base.errors import SpecError
from axiloom.isa.instructions.text import text_of
from axiloom.isa.instructions.tree import InstructionSet


def check(source: InstructionSet) -> None:
    """Raises SpecError with the instructions that no command can be; without z3, of those found by ranges."""
    try:
        from axiloom.isa.formal import bounds
    except ImportError:
        faults = [
            f"{source.place}:{instruction.line}: {instruction.name} can never be legal: "
            f"`{text_of(instruction.when)}` is always false"
            for instruction in source.instructions.values()
            if instruction.when.range.high == 0
        ]
    else:
        faults = list(bounds.impossible(source))
    if faults:
        raise SpecError(faults)
