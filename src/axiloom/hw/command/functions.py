"""A text's functions as logic: each call is logic of its own, its names are wires.

Numbers of a text become logic. RTL of an accelerator knows where bytes go and not what they are: decode,
encode, sigmoid and tanh are the functions of the text. The hardware cannot round differently from the model
that is proved and executed.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value

from axiloom.base.errors import SpecError
from axiloom.hw.command.decode import logic, shape_of
from axiloom.isa.instructions.tree import Function


class Functions:
    """In module `m`; wires begin with `name`."""

    def __init__(self, m: Module, name: str) -> None:
        self.m, self.name = m, name
        self._calls = 0

    def call(self, function: Function, arguments: Sequence[Value]) -> Value:
        """In the same cycle. `arguments` have the shapes of its parameters. Raises SpecError for what is no
        logic of one cycle."""
        if function.value is None:
            raise SpecError([f"`{function.name}` is external: it has no logic here"])
        label = f"{self.name}_{function.name}_{self._calls}"
        self._calls += 1
        known: dict[str, Value] = {}
        for (parameter, kind), argument in zip(function.parameters.items(), arguments, strict=True):
            known[parameter] = wire = Signal(shape_of(kind), name=f"{label}_{parameter}")
            self.m.d.comb += wire.eq(argument)
        for let in function.lets:
            wire = Signal(shape_of(let.value.range), name=f"{label}_{let.name}")
            self.m.d.comb += wire.eq(logic(let.value, known, self.call))
            known[let.name] = wire
        result = Signal(shape_of(function.result), name=label)
        self.m.d.comb += result.eq(logic(function.value, known, self.call))
        return result
