"""Opcode words that combine bits: what the receiver has still to do, as a term.

The model goes to the place of the first opcode and keeps which others are asked for (`todo`); the receiver
shifts through one program, the actions of all of them. So its program is a function of `place` and `todo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from axiloom.hw.engine.decoder import Programs
from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal.streams.places import Place, Places
from axiloom.prove.rtl.device import Link

REGISTER = "receiver.program_"
"""As it is called in the Verilog, where ``program`` is a word of the language."""


def left(spec: AcceleratorSpec) -> Callable[[int, Mapping[str, Any]], Iterator[Link]]:
    """Place and model to what the program's register holds; nothing where opcode words combine no bits: then
    a place says it all."""
    programs, places = Programs(spec), Places(spec)
    words, wide = programs.words(), programs.action_width
    at = {place.number: place for place in places.every}

    def behind(todo: Any) -> Any:
        """The actions of all that is asked for, the first bit's first."""
        found = z3.BitVecVal(0, programs.width)
        for number, name in reversed([*enumerate(spec.bits)]):
            asked = z3.Extract(number, number, todo) == 1
            found = z3.If(asked, _before(words[name][1], len(spec.opcodes[name].device), found), found)
        return found

    def _before(program: int, actions: int, others: Any) -> Any:
        shifted = others << actions * wide
        return shifted | z3.BitVecVal(program, programs.width)

    def links(place: int, model: Mapping[str, Any]) -> Iterator[Link]:
        if not spec.bits or place not in at:
            return
        here: Place = at[place]
        own = words[here.opcode.name][1] >> here.index * wide
        todo = behind(model["todo"]) if here.following is None or here.opcode.name in spec.bits else None
        rest = todo if todo is not None else z3.BitVecVal(0, programs.width)
        term = z3.simplify(_before(own, len(here.opcode.device) - here.index, rest))
        for bit in range(programs.width):
            yield Link(REGISTER, bit, z3.Extract(bit, bit, term), z3.BoolVal(True))

    return links
