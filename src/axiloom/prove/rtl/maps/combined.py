"""Opcode words that combine bits: what the receiver has still to do, as a term.

The model begins with the first opcode and keeps which others are asked for (`todo`); the receiver
shifts through one program, the actions of all of them. So its program is a function of `step` and `todo`.

What an opcode word has still to do is no part of control. conv_v3 combines seven bits, so each step that
waits would be up to 64 states. The model keeps the bits, the receiver a program: the program is a term of
the bits, which may be any while a tile is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from axiloom.hw.engine.decoder import Programs
from axiloom.isa.formal.beats import Beats
from axiloom.prove.rtl.maps.device import Link

REGISTER = "receiver.program_"
"""As it is called in the Verilog, where ``program`` is a word of the language."""


def left(beats: Beats) -> Callable[[int, Mapping[str, Any]], Iterator[Link]]:
    """Step and model to what the program's register holds; nothing where opcode words combine no bits: then a
    step says it all."""
    spec = beats.spec
    programs = Programs(spec)
    words = programs.words()

    def before(name: str, index: int, others: Any) -> Any:
        """An opcode's actions from one on, and behind them `others`."""
        actions = len(spec.opcodes[name].device) - index
        own = words[name][1] >> index * programs.action_width
        return others << actions * programs.action_width | z3.BitVecVal(own, programs.width)

    def links(step: int, model: Mapping[str, Any]) -> Iterator[Link]:
        if not spec.bits:
            return
        term = z3.BitVecVal(0, programs.width)
        if (here := beats.waits.get(step)) is not None:
            if here.opcode in spec.bits:
                for number, name in reversed([*enumerate(spec.bits)]):
                    asked = z3.Extract(number, number, model["todo"]) == 1
                    term = z3.If(asked, before(name, 0, term), term)
            term = z3.simplify(before(here.opcode, here.action, term))
        for bit in range(programs.width):
            yield Link(REGISTER, bit, z3.Extract(bit, bit, term), z3.BoolVal(True))

    return links
